//! A snapshot of all memory.

use super::allocation::{Allocation, Purpose};
use super::global::GlobalMemory;
use super::journal::Bytes;
use super::kernel_heap::State;
use super::transfer;

/// The contents of all allocations that kernels may write, by first address, and what is
/// allocated on those that are heaps.
pub struct Snapshot(Vec<(u64, Vec<u8>, Option<State>)>);

impl Snapshot {
    /// As it is now.
    pub fn of(memory: &GlobalMemory) -> Self {
        let is_writable = |a: &&Allocation| a.purpose != Purpose::Constant;
        let mut all: Vec<&Allocation> = memory.all().filter(is_writable).collect();
        all.sort_by_key(|allocation| allocation.base);
        all.dedup_by_key(|allocation| allocation.base);
        let contents = all.into_iter().filter_map(|allocation| {
            let host = allocation.host()?;
            let mut bytes = vec![0; allocation.reach_bytes() as usize];
            // SAFETY: A live allocation's bytes, which the memory holds.
            unsafe { transfer::read(host.as_ptr(), &mut bytes) };
            let taken = allocation.heap.as_ref().map(|heap| heap.save());
            Some((allocation.base, bytes, taken))
        });
        Self(contents.collect())
    }

    /// Puts everything back; of the host's memory only the bytes that were written meanwhile, by
    /// launches: the host may have written others.
    pub fn restore(&self, memory: &GlobalMemory, written: &[Bytes]) {
        for (base, bytes, taken) in &self.0 {
            let Some(allocation) = memory.find(*base) else {
                continue;
            };
            if let (Some(heap), Some(taken)) = (&allocation.heap, taken) {
                heap.restore(taken);
            }
            let Some(host) = allocation.host() else {
                continue;
            };
            if !allocation.is_the_hosts {
                // SAFETY: The same allocation, of the same memory.
                unsafe { transfer::write(host.as_ptr(), bytes) };
                continue;
            }
            let all = *base..base + bytes.len() as u64;
            let written = written.iter().flat_map(|kept| kept.ranges_in(all.clone()));
            for range in written {
                let [start, end] = [range.start, range.end].map(|at| (at - base) as usize);
                let to = host.as_ptr().wrapping_add(start);
                // SAFETY: as above, a part of it.
                unsafe { transfer::write(to, &bytes[start..end]) };
            }
        }
    }
}

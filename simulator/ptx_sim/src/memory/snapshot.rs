//! A snapshot of all memory.

use super::allocation::{Allocation, Purpose};
use super::global::GlobalMemory;
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

    /// Puts everything back.
    pub fn restore(&self, memory: &GlobalMemory) {
        for (base, bytes, taken) in &self.0 {
            let Some(allocation) = memory.find(*base) else {
                continue;
            };
            if let (Some(heap), Some(taken)) = (&allocation.heap, taken) {
                heap.restore(taken);
            }
            if let Some(host) = allocation.host() {
                // SAFETY: The same allocation, of the same memory.
                unsafe { transfer::write(host.as_ptr(), bytes) };
            }
        }
    }
}

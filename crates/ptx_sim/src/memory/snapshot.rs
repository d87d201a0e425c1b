//! All memory as it was at some moment.

use super::allocation::{Allocation, Purpose};
use super::global::GlobalMemory;
use super::transfer;

/// The contents of all allocations that kernels may write, by first address.
pub struct Snapshot(Vec<(u64, Vec<u8>)>);

impl Snapshot {
    /// As it is now.
    pub fn of(memory: &GlobalMemory) -> Self {
        let is_writable = |a: &&Allocation| a.purpose != Purpose::Constant;
        let mut all: Vec<&Allocation> = memory.all().filter(is_writable).collect();
        all.sort_by_key(|allocation| allocation.base);
        all.dedup_by_key(|allocation| allocation.base);
        let contents = all.into_iter().filter_map(|allocation| {
            let host = allocation.host()?;
            let mut bytes = vec![0; allocation.size_bytes as usize];
            // SAFETY: A live allocation's bytes, which the memory holds.
            unsafe { transfer::read(host.as_ptr(), &mut bytes) };
            Some((allocation.base, bytes))
        });
        Self(contents.collect())
    }

    /// Puts everything back.
    pub fn restore(&self, memory: &GlobalMemory) {
        for (base, bytes) in &self.0 {
            let host = memory.find(*base).and_then(Allocation::host);
            if let Some(host) = host {
                // SAFETY: The same allocation, of the same memory.
                unsafe { transfer::write(host.as_ptr(), bytes) };
            }
        }
    }
}

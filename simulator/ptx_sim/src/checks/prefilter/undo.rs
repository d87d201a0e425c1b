//! Global memory as it was before a launch, as far as the launch writes it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::cells::PAGE_BYTES;
use super::pool::{Bytes, Pool};
use crate::memory::allocation::Allocation;
use crate::memory::global::GlobalMemory;
use crate::memory::transfer;

/// Pages of global memory, each as it was before the launch wrote to it.
pub(crate) struct Undo<'a> {
    pool: &'a Pool,
    /// By address.
    pages: Mutex<HashMap<u64, Kept>>,
}

/// What was on a page.
pub(crate) struct Kept {
    bytes: Bytes,
    n_bytes: usize,
}

impl<'a> Undo<'a> {
    /// Nothing is kept yet.
    pub fn new(pool: &'a Pool) -> Self {
        Self {
            pool,
            pages: Mutex::default(),
        }
    }

    /// Keeps a page of an allocation, which is about to be written for the first time.
    pub(super) fn keep(&self, allocation: &Allocation, page: u64) {
        let start = allocation.base + page * PAGE_BYTES;
        let n_bytes = (allocation.size_bytes - page * PAGE_BYTES).min(PAGE_BYTES) as usize;
        let Some(host) = allocation.host() else {
            return;
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        pages.entry(start).or_insert_with(|| {
            let mut bytes = self.pool.bytes();
            let from = host.as_ptr().wrapping_add((page * PAGE_BYTES) as usize);
            // SAFETY: In range of a live allocation. Every worker comes here before it
            // writes to the page, and the first one finds it unwritten.
            unsafe { transfer::read(from, &mut bytes[..n_bytes]) };
            Kept { bytes, n_bytes }
        });
    }

    /// What was kept, by address; the launch is over.
    pub fn into_kept(self) -> HashMap<u64, Kept> {
        let pages = self.pages.into_inner();
        pages.unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts everything back.
pub(crate) fn restore(memory: &GlobalMemory, kept: &HashMap<u64, Kept>) {
    for (&address, kept) in kept {
        let allocation = memory.find(address);
        let host = allocation.and_then(|a| Some((a, a.host()?)));
        if let Some((allocation, host)) = host {
            let offset = (address - allocation.base) as usize;
            let to = host.as_ptr().wrapping_add(offset);
            // SAFETY: In range of a live allocation, as it was when it was kept.
            unsafe { transfer::write(to, &kept.bytes[..kept.n_bytes]) };
        }
    }
}

/// Gives back what kept it.
pub(crate) fn discard(pool: &Pool, kept: HashMap<u64, Kept>) {
    pool.give_bytes(kept.into_values().map(|kept| kept.bytes));
}

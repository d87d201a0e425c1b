//! Pinned host memory, through which buffers reach the hub and come back.
//!
//! It is used again and never given back: to free it, a driver may wait for all work of the
//! context, some of which waits for other ranks.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::driver::cuMemHostAlloc;
use crate::result::Outcome;

/// `CU_MEMHOSTALLOC_PORTABLE`
const PORTABLE: u32 = 1;
/// Bytes of the smallest piece.
const SMALLEST: usize = 4096;

/// A piece.
#[derive(Clone, Copy)]
pub struct Staging {
    /// The context that it was allocated in.
    context: usize,
    n_bytes: usize,
    pub address: u64,
}

/// Unused pieces, by context and size.
static UNUSED: Mutex<BTreeMap<(usize, usize), Vec<Staging>>> = Mutex::new(BTreeMap::new());

impl Staging {
    /// Takes at least so many bytes, in the current context.
    ///
    /// # Errors
    /// There is no memory.
    pub fn take(context: usize, n_bytes: usize) -> Outcome<Self> {
        let n_bytes = n_bytes.max(SMALLEST);
        let n_bytes = n_bytes.checked_next_power_of_two().unwrap_or(n_bytes);
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        let found = unused.get_mut(&(context, n_bytes)).and_then(Vec::pop);
        drop(unused);
        if let Some(staging) = found {
            return Ok(staging);
        }
        let mut address = 0;
        // SAFETY: the pointer is valid for the call.
        unsafe { cuMemHostAlloc(&mut address, n_bytes, PORTABLE)? };
        Ok(Self {
            context,
            n_bytes,
            address,
        })
    }

    /// Gives it back, once nothing uses it.
    pub fn give(self) {
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (self.context, self.n_bytes);
        unused.entry(key).or_default().push(self);
    }
}

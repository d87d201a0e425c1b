//! The allocations that instructions found last: mostly those that they access next.

use super::allocation::Purpose;
use super::global::GlobalMemory;

/// Allocations that are remembered.
const N_PLACES: usize = 8;

/// What instructions found, each in the place of its number.
pub struct Recent([Place; N_PLACES]);

/// An allocation all of whose bytes are open.
#[derive(Clone, Copy)]
struct Place {
    base: u64,
    open_bytes: u64,
    host: *mut u8,
    is_constant: bool,
}

/// Bytes that were found.
pub struct Found {
    /// Their address on the host.
    pub host: *mut u8,
    /// Whether kernels may only read them.
    pub is_constant: bool,
}

impl Place {
    /// No address is in it.
    const NONE: Self = Self {
        base: 0,
        open_bytes: 0,
        host: std::ptr::null_mut(),
        is_constant: false,
    };

    #[inline(always)]
    fn has(&self, address: u64, n_bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.open_bytes && n_bytes <= self.open_bytes - offset
    }
}

impl Recent {
    /// Nothing yet. It lives no longer than the launch, during which allocations stay.
    pub fn new() -> Self {
        Self([Place::NONE; N_PLACES])
    }

    /// The `n_bytes` at an address, if they lie in one allocation, and nothing more needs to
    /// be checked.
    #[inline(always)]
    pub fn find(
        &mut self,
        instruction: u32,
        memory: &GlobalMemory,
        address: u64,
        n_bytes: u64,
    ) -> Option<Found> {
        let place = &mut self.0[instruction as usize % N_PLACES];
        if !place.has(address, n_bytes) {
            look_up(place, memory, address);
            if !place.has(address, n_bytes) {
                return None;
            }
        }
        Some(Found {
            host: place.host.wrapping_add((address - place.base) as usize),
            is_constant: place.is_constant,
        })
    }
}

/// Remembers the allocation that an address is in or near, if there is one. In place: what was just
/// written by words would be slow to copy by vectors.
#[inline(never)]
fn look_up(place: &mut Place, memory: &GlobalMemory, address: u64) {
    let Some(allocation) = memory.find(address) else {
        return;
    };
    let Some(host) = allocation.host() else {
        return;
    };
    place.base = allocation.base;
    place.open_bytes = allocation.open_bytes();
    place.host = host.as_ptr();
    place.is_constant = allocation.purpose == Purpose::Constant;
}

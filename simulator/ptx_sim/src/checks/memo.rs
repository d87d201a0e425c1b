//! The last access of an instruction, and what it cost.
//!
//! An instruction mostly accesses memory in the same pattern every time, from warp to warp
//! and iteration to iteration, at different places. Recognising the pattern takes less time
//! than counting its sectors or conflicts.

use super::access::{AccessClass, WarpAccess};
use crate::lanes::WARP_SIZE;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use ptx::ir::Space;

/// An access and its cost.
#[derive(Clone, Debug)]
pub(crate) struct Memo<Cost> {
    last: Option<(Key, Cost)>,
    /// The lanes' addresses, less lane 0's, once a key had no stride.
    offsets: Option<Box<[u64; WARP_SIZE]>>,
}

/// What two accesses of one pattern have in common, their addresses aside.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    space: Space,
    class: AccessClass,
    bytes: u32,
    mask: u32,
    stride: Option<u64>,
    /// Where lane 0's address lies between two multiples of the unit.
    phase: u64,
}

impl<Cost: Copy> Memo<Cost> {
    /// No access yet.
    pub const NONE: Self = Self {
        last: None,
        offsets: None,
    };

    /// The cost of an access: the last one's if that had the same pattern, a multiple of
    /// `unit` bytes away; otherwise that of `compute`.
    #[inline(always)]
    pub fn of(
        &mut self,
        access: &WarpAccess<'_>,
        unit: u64,
        compute: impl FnOnce() -> Cost,
    ) -> Cost {
        let key = Key {
            space: access.space,
            class: access.class,
            bytes: access.bytes,
            mask: access.mask,
            stride: access.stride,
            phase: access.addresses[0] % unit,
        };
        if let Some((last, cost)) = self.last
            && last == key
            && (key.stride.is_some()
                || self
                    .offsets
                    .as_ref()
                    .is_some_and(|offsets| has_offsets(access.addresses, offsets)))
        {
            return cost;
        }
        let cost = compute();
        self.last = Some((key, cost));
        if key.stride.is_none() {
            let first = access.addresses[0];
            let offsets = self.offsets.get_or_insert_with(|| Box::new([0; WARP_SIZE]));
            for (offset, address) in offsets.iter_mut().zip(access.addresses) {
                *offset = address.wrapping_sub(first);
            }
        }
        cost
    }
}

/// Whether addresses have these offsets from the first.
#[inline(always)]
fn has_offsets(addresses: &[u64; WARP_SIZE], offsets: &[u64; WARP_SIZE]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { has_offsets_wide(addresses, offsets) };
    }
    has_offsets_plain(addresses, offsets)
}

/// [`has_offsets_plain`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn has_offsets_wide(addresses: &[u64; WARP_SIZE], offsets: &[u64; WARP_SIZE]) -> bool {
    has_offsets_plain(addresses, offsets)
}

#[inline(always)]
fn has_offsets_plain(addresses: &[u64; WARP_SIZE], offsets: &[u64; WARP_SIZE]) -> bool {
    let first = addresses[0];
    let mut difference = 0;
    for (address, offset) in addresses.iter().zip(offsets) {
        difference |= address.wrapping_sub(first) ^ offset;
    }
    difference == 0
}

//! The addresses of a warp's access.

use super::super::predicate::lanes;
use super::super::{PathView, Stop};
use crate::ir::Space;
use crate::lanes::WARP_SIZE;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::memory::address::{space_of, window_base};
use crate::program::AddressOperand;

/// The lanes' addresses, and what can be said of all of them.
pub(crate) struct Addresses {
    /// By lane; meaningless for inactive lanes.
    pub lanes: [u64; WARP_SIZE],
    /// Bytes from each lane's address to the next one's, if that is the same
    /// for all 32 lanes.
    pub stride: Option<u64>,
}

/// The lanes' addresses alone.
pub(crate) fn addresses(view: &PathView<'_>, op: &AddressOperand) -> [u64; WARP_SIZE] {
    lane_addresses(view, op).lanes
}

/// Computes the lanes' addresses.
#[inline]
pub(crate) fn lane_addresses(view: &PathView<'_>, op: &AddressOperand) -> Addresses {
    let mut out = Addresses {
        lanes: [0; WARP_SIZE],
        stride: None,
    };
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors; the decoder made the slot for
        // lanes of the width given.
        unsafe { compute_wide(view, op, &mut out) };
        return out;
    }
    compute(view, op, &mut out);
    out
}

/// [`compute`] with wide vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
unsafe fn compute_wide(view: &PathView<'_>, op: &AddressOperand, out: &mut Addresses) {
    compute(view, op, out);
}

#[inline(always)]
fn compute(view: &PathView<'_>, op: &AddressOperand, out: &mut Addresses) {
    // SAFETY: The decoder made the slot for lanes of this width.
    unsafe {
        if op.wide {
            let base = view.regs.lanes::<u64>(op.slot);
            for (lane, address) in out.lanes.iter_mut().enumerate() {
                *address = base[lane].wrapping_add(op.offset as u64);
            }
        } else {
            let base = view.regs.lanes::<u32>(op.slot);
            for (lane, address) in out.lanes.iter_mut().enumerate() {
                *address = u64::from(base[lane].wrapping_add(op.offset as u32));
            }
        }
    }
    let first = out.lanes[0];
    let stride = out.lanes[1].wrapping_sub(first);
    let mut difference = 0;
    let mut expected = first;
    for address in &out.lanes {
        difference |= address ^ expected;
        expected = expected.wrapping_add(stride);
    }
    out.stride = (difference == 0).then_some(stride);
}

/// Splits a generic access by the spaces that its addresses lie in, and calls
/// `part` for each with addresses in that space. Mostly there is one.
pub(crate) fn by_space(
    addresses: &mut [u64; WARP_SIZE],
    mask: u32,
    mut part: impl FnMut(Space, &mut [u64; WARP_SIZE], u32) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut left = mask;
    while left != 0 {
        let space = space_of(addresses[left.trailing_zeros() as usize]);
        let mut same = 0;
        for lane in lanes(left) {
            same |= u32::from(space_of(addresses[lane]) == space) << lane;
        }
        let base = window_base(space);
        if base != 0 {
            for lane in lanes(same) {
                addresses[lane] -= base;
            }
        }
        part(space, addresses, same)?;
        left &= !same;
    }
    Ok(())
}

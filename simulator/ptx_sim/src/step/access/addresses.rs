//! The addresses of a warp's access.

use super::super::context::PathView;
use super::affine::stride64;
use crate::lanes::{FULL_MASK, WARP_SIZE, lanes};
use crate::memory::address::{space_of, window_base};
use crate::program::AddressOperand;
use ptx::ir::Space;

/// The lanes' addresses, and what can be said of all of them. Aligned, so that no
/// vector of them crosses a cache line, let alone a page.
#[repr(C, align(64))]
pub(in crate::step) struct Addresses {
    /// By lane; meaningless for inactive lanes.
    pub lanes: [u64; WARP_SIZE],
    /// Bytes from each lane's address to the next one's, if that is the same
    /// for all 32 lanes.
    stride: Option<u64>,
}

impl Addresses {
    /// To be [found](Self::find). Not to be moved then: it is large.
    pub const NONE: Self = Self {
        lanes: [0; WARP_SIZE],
        stride: None,
    };

    /// Computes the addresses of the lanes of `mask`.
    #[inline(always)]
    pub fn find(&mut self, view: &PathView<'_>, op: &AddressOperand, mask: u32) {
        // SAFETY: The decoder made the slot for lanes of this width.
        unsafe {
            if op.wide {
                let base = view.regs.lanes::<u64>(op.slot);
                for (lane, address) in self.lanes.iter_mut().enumerate() {
                    *address = base[lane].wrapping_add(op.offset as u64);
                }
            } else {
                let base = view.regs.lanes::<u32>(op.slot);
                for (lane, address) in self.lanes.iter_mut().enumerate() {
                    *address = u64::from(base[lane].wrapping_add(op.offset as u32));
                }
            }
        }
        self.stride = None;
        if mask == FULL_MASK {
            self.stride = stride64(&self.lanes);
        }
    }

    /// The space that an access goes to, and the lanes of `left` that access that one:
    /// all of them, if the instruction names a space; with generic addresses those in the
    /// space of the first, which mostly are all. The addresses of these lanes become
    /// addresses in that space.
    #[inline(always)]
    pub fn resolve(&mut self, named: Space, left: u32) -> (Space, u32) {
        if named != Space::Generic {
            return (named, left);
        }
        let space = space_of(self.lanes[left.trailing_zeros() as usize % WARP_SIZE]);
        let mut same = 0;
        for lane in lanes(left) {
            same |= u32::from(space_of(self.lanes[lane]) == space) << lane;
        }
        let base = window_base(space);
        if base != 0 {
            for lane in lanes(same) {
                self.lanes[lane] -= base;
            }
        }
        (space, same)
    }

    /// These addresses, with an unknown stride.
    pub fn of(lanes: [u64; WARP_SIZE]) -> Self {
        Self {
            lanes,
            stride: None,
        }
    }

    /// The addresses of the lanes of `mask`, with the first of them in place of the others'.
    #[inline(always)]
    pub fn filled(&self, mask: u32) -> [u64; WARP_SIZE] {
        let first = self.lanes[mask.trailing_zeros() as usize % WARP_SIZE];
        let mut filled = self.lanes;
        for (lane, address) in filled.iter_mut().enumerate() {
            *address = if mask >> lane & 1 != 0 {
                *address
            } else {
                first
            };
        }
        filled
    }

    /// The stride, if it applies to the lanes of `mask`: all 32.
    #[inline(always)]
    pub fn stride_for(&self, mask: u32) -> Option<u64> {
        self.stride.filter(|_| mask == FULL_MASK)
    }
}

/// The addresses of the lanes of `mask`.
#[inline(always)]
pub(in crate::step) fn lane_addresses(
    view: &PathView<'_>,
    op: &AddressOperand,
    mask: u32,
) -> Addresses {
    let mut found = Addresses::NONE;
    found.find(view, op, mask);
    found
}

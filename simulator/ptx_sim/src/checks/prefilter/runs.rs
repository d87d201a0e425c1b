//! The cells that an access touches.

use super::super::access::WarpAccess;
use super::super::races::{is_contiguous, lanes};
use super::cells::{Act, Run, Target};
use super::stamp::Who;

/// Where the lanes of an access go.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// All to one place.
    One,
    /// Each begins where the one before it ends.
    Row,
    /// Each somewhere.
    Lanes,
    /// Each somewhere, to as many bytes as it says.
    Parts,
}

impl Shape {
    #[inline(always)]
    pub fn of(access: &WarpAccess<'_>) -> Self {
        if access.lane_bytes.is_some() {
            Self::Parts
        } else if access.stride == Some(0) {
            Self::One
        } else if is_contiguous(access) {
            Self::Row
        } else {
            Self::Lanes
        }
    }

    /// That of some of the lanes.
    #[inline(always)]
    pub fn of_part(self, is_part: bool) -> Self {
        match self {
            Self::One | Self::Row if is_part => Self::Lanes,
            shape => shape,
        }
    }
}

/// Asks an access's cells whether they allow it, until one does not; or, if `REMEMBER`, records
/// the access in them, which gives `true`.
#[inline(never)]
pub(super) fn each<T: Target, const REMEMBER: bool>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
    shape: Shape,
) -> bool {
    let cell_bytes = 1 << target.cell_shift();
    let mut visit = |lane: usize, n_bytes: u32, is_several: bool| {
        let run = Run {
            first: 0,
            n: n_bytes.div_ceil(cell_bytes) as usize,
            stamp: who.stamp(lane as u32, is_several),
            shift: 31,
        };
        let address = access.addresses[lane];
        if REMEMBER {
            target.remember(who, act, run, address);
            return true;
        }
        target.allows(who, act, run, address)
    };
    if let Shape::One = shape {
        let mask = access.mask;
        let first = mask.trailing_zeros() as usize & 31;
        return visit(first, access.bytes, !mask.is_power_of_two());
    }
    lanes(access.mask).all(|lane| {
        let n_bytes = access.lane_bytes.map_or(access.bytes, |n| n[lane]);
        let n_bytes = n_bytes.min(access.bytes);
        n_bytes == 0 || visit(lane, n_bytes, false)
    })
}

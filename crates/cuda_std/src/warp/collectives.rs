//! Reductions and scans of a warp's values, by any operator.
//!
//! | | gives | to | shuffles |
//! |---|---|---|---|
//! | [`reduce`] | the values of all lanes, put together | every lane | 5 |
//! | [`inclusive_scan`] | those of the lanes up to this one | each lane its own | 5 |
//! | [`exclusive_scan`] | those of the lanes before this one | each lane its own | 6 |
//! | [`broadcast`] | one lane's value | every lane | 1 |
//!
//! Twice as many for values of 64 bits. Values are numbers, half-precision ones as well, and pairs
//! of them: `(f32, u32)` for the largest value and its place.
//!
//! The first `n_lanes` lanes take part, usually all 32; in the last warp of a block whose size is
//! not a multiple of 32, they are [`n_lanes`](super::n_lanes).
//!
//! The operator must be associative: `op(op(a, b), c)` is `op(a, op(b, c))`. It need not be
//! commutative: lower lanes are always on the left. Sums of floats are rounded in the same order
//! each time, and all lanes get the same bits.
//!
//! Integers of 32 bits are reduced in one instruction by [`warp_reduce`](super::warp_reduce).

use super::{FULL_MASK, WarpShuffleValue, warp_shuffle_idx, warp_shuffle_up};
#[cfg(target_arch = "nvptx64")]
use super::{lane_id, llvm, warp_shuffle_xor};
use crate::gpu_only;

/// The mask of the first `n_lanes` lanes.
const fn first_lanes(n_lanes: u32) -> u32 {
    FULL_MASK >> (32 - n_lanes)
}

/// `op` over the values of the first `n_lanes` lanes, in each of them.
///
/// ```
/// # use cuda_std::prelude::*;
/// # unsafe fn in_a_kernel(x: f32) {
/// let sum = unsafe { warp::reduce(32, x, |a, b| a + b) };
/// let largest = unsafe { warp::reduce(32, x, f32::max) };
/// # }
/// ```
///
/// # Safety
///
/// `n_lanes` is 1 to 32. The first `n_lanes` lanes call it together, with the same `n_lanes`, and
/// no others.
#[gpu_only]
#[inline(always)]
pub unsafe fn reduce<T: WarpShuffleValue>(n_lanes: u32, value: T, op: impl Fn(T, T) -> T) -> T {
    let (mask, lane, mut value) = (first_lanes(n_lanes), lane_id(), value);
    // Groups of 1, 2, 4, … lanes, whose lanes all have their group's value, meet their neighbours.
    for step in 0..5 {
        let n_group = 1 << step;
        let is_full = core::intrinsics::is_val_statically_known(n_lanes) && n_lanes == 32;
        let neighbour = (lane ^ n_group) & !(n_group - 1);
        // SAFETY: by this function's own contract. Of a neighbour that does not take part, the
        // shuffle's third operand makes this lane.
        let other = unsafe {
            if is_full {
                warp_shuffle_xor(mask, value, n_group, 32).0
            } else {
                value.each_register(|register| {
                    llvm::shfl_idx(mask, register, neighbour, n_lanes - 1)
                })
            }
        };
        if is_full || neighbour < n_lanes {
            value = if lane & n_group == 0 {
                op(value, other)
            } else {
                op(other, value)
            };
        }
    }
    value
}

/// `op` over the values of the lanes up to and including this one.
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
pub unsafe fn inclusive_scan<T: WarpShuffleValue>(
    n_lanes: u32,
    value: T,
    op: impl Fn(T, T) -> T,
) -> T {
    let mut value = value;
    for step in 0..5 {
        // SAFETY: by this function's own contract.
        let (before, exists) =
            unsafe { warp_shuffle_up(first_lanes(n_lanes), value, 1 << step, 32) };
        if exists {
            value = op(before, value);
        }
    }
    value
}

/// `op` over the values of the lanes before this one; `identity` in lane 0.
///
/// # Safety
///
/// As [`reduce`].
#[inline(always)]
pub unsafe fn exclusive_scan<T: WarpShuffleValue>(
    n_lanes: u32,
    value: T,
    identity: T,
    op: impl Fn(T, T) -> T,
) -> T {
    // SAFETY: by this function's own contract.
    let (before, exists) = unsafe {
        let inclusive = inclusive_scan(n_lanes, value, op);
        warp_shuffle_up(first_lanes(n_lanes), inclusive, 1, 32)
    };
    if exists { before } else { identity }
}

/// The value of lane `lane`, in all 32 lanes; the assembler knows that it is the same in all of
/// them.
///
/// # Safety
///
/// All 32 lanes call it together.
#[inline(always)]
pub unsafe fn broadcast<T: WarpShuffleValue>(value: T, lane: u32) -> T {
    // SAFETY: by this function's own contract.
    unsafe { warp_shuffle_idx(FULL_MASK, value, lane, 32).0 }
}

//! The block's threads as a whole: a safe kernel's barriers and sums.

use core::cell::Cell;
use core::ops::Add;

use super::layout::TileLayout;
use super::map::{Geometry, Reason};
use super::tile::{Adding, Filling, Phase};
use crate::device_copy::DeviceCopy;
use crate::thread;
use crate::warp::{self, FULL_MASK, WarpShuffleValue};

/// Lanes of a warp. A block has no more warps than that.
const LANES: u32 = 32;

/// The token for what the threads of a block do together: a kernel's parameter `block: Block`, or
/// `block: Block<THREADS>` for blocks of this size and one dimension, whose sums cost less.
///
/// Only `#[kernel]` makes one. It allows a method of it only as a statement of its own,
/// `let … = block.sync(…);`, where all threads of the block get the same number of times: at the
/// outermost level of the kernel, or of a `for` loop there whose range is the same for all threads,
/// because it consists of literals, constants, numbers among the kernel's parameters,
/// `block_idx_x()` and the like, and arithmetic with them.
pub struct Block<const THREADS: u32 = 0> {
    scratch: *mut [u64; 32],
    /// Whether the next sum takes the second part of the scratch. So there is a barrier between
    /// one that reads a part, and the next but one, which writes there.
    is_second: Cell<bool>,
}

impl<const THREADS: u32> Block<THREADS> {
    /// The token, for barriers alone. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// All threads of the block make it, and call the same methods in the same order, or end.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self {
            scratch: core::ptr::null_mut(),
            is_second: Cell::new(false),
        }
    }

    /// The token, also for sums. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `scratch` there are two such arrays in shared memory, the same for all threads of the
    /// block, that nothing else accesses. The launch has a geometry that `admits` accepts.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn with_scratch(self, scratch: *mut [u64; 32]) -> Self {
        Self { scratch, ..self }
    }

    /// Whether a launch's blocks are such as [`Block::reduce`] takes.
    ///
    /// # Errors
    ///
    /// The requirement that the launch does not meet.
    pub fn admits(launch: Geometry) -> Result<(), Reason> {
        if THREADS != 0 && launch.block != [THREADS, 1, 1] {
            return Err("a block must be as long as the kernel says");
        }
        let [x, y, z] = launch.block;
        if !x.wrapping_mul(y).wrapping_mul(z).is_multiple_of(LANES) {
            return Err("the threads of a block must be whole warps, of 32");
        }
        Ok(())
    }

    /// Waits until all of the block's threads have arrived or ended, and turns the tile over to
    /// its next phase: one that was filled or added to can be read, one that was read can be
    /// filled again. Several tiles go through the barrier as a tuple.
    #[inline(always)]
    pub fn sync<P: Phase>(&self, tiles: P) -> P::Next {
        // SAFETY: all threads get here, by the token's contract. They hold the tiles in the same
        // phase, because each has a type of its own.
        unsafe {
            thread::sync_threads();
            tiles.next()
        }
    }

    /// As [`Block::sync`], but threads then add to the tile, and read it after another barrier.
    #[inline(always)]
    pub fn sync_for_adding<T: DeviceCopy, L: TileLayout, const TILE: u32>(
        &self,
        tile: Filling<T, L, TILE>,
    ) -> Adding<T, L, TILE> {
        // SAFETY: as in `sync`.
        unsafe {
            thread::sync_threads();
            tile.adding()
        }
    }

    /// The sum of all threads' values, for every thread; as [`Block::reduce`].
    #[inline(always)]
    pub fn sum<T: WarpShuffleValue + DeviceCopy + Add<Output = T>>(&self, value: T) -> T {
        self.reduce(value, |a, b| a + b)
    }

    /// `op` over the values of all threads, such as `f32::max`: the same result for every
    /// thread, by one barrier.
    ///
    /// The order of the values depends on the block's size alone, so a sum of floats has the same
    /// bits in every launch. `op` is associative and commutative, but for rounding.
    #[inline(always)]
    pub fn reduce<T: WarpShuffleValue + DeviceCopy>(&self, value: T, op: impl Fn(T, T) -> T) -> T {
        const { assert!(size_of::<T>() <= size_of::<u64>() && align_of::<T>() <= align_of::<u64>()) }
        let (lane, warp, n_warps) = match THREADS {
            0 => {
                let of = thread::block_dim();
                let n_threads = of.x * of.y * of.z;
                (warp::lane_id(), warp::warp_id(), n_threads / LANES)
            }
            _ => {
                let thread = thread::thread_idx_x();
                (thread % LANES, thread / LANES, THREADS / LANES)
            }
        };
        let part = self.is_second.replace(!self.is_second.get());
        // SAFETY: all threads get here, by the token's contract, in whole warps. Each warp has a
        // place of its own. Between these stores and the loads is a barrier, and another one
        // before the next stores to this part.
        unsafe {
            let part = self.scratch.add(part.into()).cast::<T>();
            let place = |warp: u32| part.add(warp as usize);
            let of_warp = reduce_lanes(lane, LANES, value, &op);
            if lane == 0 {
                *place(warp) = of_warp;
            }
            thread::sync_threads();
            // All warps compute the same, in as many lanes as there are warps.
            let of_warp = *place(lane.min(n_warps - 1));
            let of_block = reduce_lanes(lane, n_warps, of_warp, &op);
            warp::warp_shuffle_idx(FULL_MASK, of_block, 0, LANES).0
        }
    }
}

/// `op` over the values of the first `n_lanes` lanes, in lane 0.
///
/// # Safety
///
/// All lanes of the warp call it together.
#[inline(always)]
unsafe fn reduce_lanes<T: WarpShuffleValue>(
    lane: u32,
    n_lanes: u32,
    mut value: T,
    op: &impl Fn(T, T) -> T,
) -> T {
    let mut delta = LANES / 2;
    while delta > 0 {
        if delta < n_lanes {
            // SAFETY: by this function's own contract.
            let (other, _) = unsafe { warp::warp_shuffle_down(FULL_MASK, value, delta, LANES) };
            // Of a power of two, the lanes that count have a lane after them.
            if n_lanes.is_power_of_two() || lane + delta < n_lanes {
                value = op(value, other);
            }
        }
        delta /= 2;
    }
    value
}

/// An integer, for the range of a loop in which threads meet. For `#[kernel]`.
///
/// # Safety
///
/// It is one of the language's own, whose arithmetic is the same in all threads.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the range of a loop with operations of the block is made of integers, and `{Self}` is none"
)]
pub unsafe trait Integer: Copy {}

macro_rules! integers {
    ($($integer:ty)*) => { $(
        // SAFETY: the language has it.
        unsafe impl Integer for $integer {}
    )* };
}
integers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize);

/// The number itself, if it is an integer. For `#[kernel]`.
#[doc(hidden)]
#[inline(always)]
pub const fn uniform<N: Integer>(n: N) -> N {
    n
}

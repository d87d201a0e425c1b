//! The block's threads as a whole: a safe kernel's barriers and sums.

use core::ops::Add;

use super::layout::TileLayout;
use super::tile::{Adding, Filling, Phase};
use crate::block::{self, Halves, Scan};
use crate::device_copy::DeviceCopy;
use crate::thread;
use crate::warp::WarpShuffleValue;

/// The token for what the threads of a block do together: a kernel's parameter `block: Block`.
///
/// Only `#[kernel]` makes one. It allows a method of it only as a statement of its own,
/// `let … = block.sync(…);`, where all threads of the block get the same number of times: at the
/// outermost level of the kernel, or of a `for` loop there whose range is the same for all threads,
/// because it consists of literals, constants, integers among the kernel's parameters,
/// `block_idx_x()` and the like, and arithmetic with them.
pub struct Block {
    scratch: *mut Scratch,
}

/// Memory for what a block computes: [`block::SCRATCH`] elements of up to 8 bytes. For `#[kernel]`.
#[doc(hidden)]
pub type Scratch = [u64; block::SCRATCH];

impl Block {
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
        }
    }

    /// The token, also for methods that compute. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// `scratch` is in shared memory, the same for all threads of the block, and nothing else
    /// accesses it.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn with_scratch(self, scratch: *mut Scratch) -> Self {
        Self { scratch }
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

    /// The sum of all threads' values, for every thread.
    #[inline(always)]
    pub fn sum<T: WarpShuffleValue + DeviceCopy + Add<Output = T>>(&self, value: T) -> T {
        self.reduce(value, |a, b| a + b)
    }

    /// `op` over the values of all threads, such as `f32::max`, for every thread: see
    /// [`block::reduce`].
    #[inline(always)]
    pub fn reduce<T: WarpShuffleValue + DeviceCopy>(&self, value: T, op: impl Fn(T, T) -> T) -> T {
        // SAFETY: all threads get here, by the token's contract.
        unsafe { block::reduce_in(Halves::of_any(self.scratch), value, op) }
    }

    /// `op` over the values of the threads before this one, those up to this one, and all: see
    /// [`block::scan`].
    #[inline(always)]
    pub fn scan<T: WarpShuffleValue + DeviceCopy>(
        &self,
        value: T,
        identity: T,
        op: impl Fn(T, T) -> T,
    ) -> Scan<T> {
        // SAFETY: as in `reduce`.
        unsafe { block::scan_in(Halves::of_any(self.scratch), value, identity, op) }
    }
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

/// The quotient, rounded up. For `#[kernel]`.
#[doc(hidden)]
#[inline(always)]
pub const fn div_ceil(n: u32, of: u32) -> u32 {
    n.div_ceil(of)
}

/// The number itself, if it is an integer. For `#[kernel]`.
#[doc(hidden)]
#[inline(always)]
pub const fn uniform<N: Integer>(n: N) -> N {
    n
}

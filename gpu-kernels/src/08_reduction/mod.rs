//! Sum of N values of `f32`: `sum = x[0] + x[1] + … + x[N − 1]`.
//!
//! One addition per element, and 4 bytes to read for it: a sum is limited by the
//! memory, and the best a kernel can do is to read the input once, at full
//! bandwidth. What makes it a lesson is that all threads work towards one
//! number. They must hand each other partial sums, and each way of doing that
//! has its price.
//!
//! # The tree
//!
//! A block adds in halves. Of 8 values, 4 threads each add the value 4 places
//! on, then 2 threads the value 2 places on, then one:
//!
//! ```text
//!   stride 4    a0+=a4   a1+=a5   a2+=a6   a3+=a7        4 threads
//!   stride 2    a0+=a2   a1+=a3                          2 threads
//!   stride 1    a0+=a1                                   1 thread
//! ```
//!
//! Every step reads what *other* threads wrote in the step before, so there
//! must be a barrier between steps. Without it the sum is sometimes right and
//! sometimes wrong, depending on how the warps run. Adjacent threads read adjacent
//! values: no bank conflicts. (The other order, strides 1, 2, 4 …, gives the
//! same sum with conflicts in every step.)
//!
//! | kernel | idea | what it still pays |
//! |---|---|---|
//! | [`reduce_global`] | the tree, in global memory | every step goes to the cache and back |
//! | [`reduce_shared`] | the tree, in shared memory | 7 barriers for 128 elements |
//! | [`reduce_shared_dynamic`] | the launch chooses the size of shared memory | the same |
//! | [`reduce_atomic`] | blocks add to the result themselves | a queue at one address; the order varies |
//! | [`reduce_shuffle`] | lanes hand values over in registers | one element per thread: the blocks are too short |
//! | [`reduce_fast`] | many elements per thread, 16 bytes per load, one launch | |
//!
//! Outside a lesson, [`cuda_std::block::reduce`] does what [`reduce_shuffle`] does in a block, for any
//! operator and any type of number.
//!
//! # Several blocks, one result
//!
//! No barrier spans the grid (except in a [cooperative launch](cuda_std::grid::sync), whose blocks
//! must all fit at once), so a block cannot wait for the others' sums. There are three ways out:
//!
//! - *Launch again.* Each block writes its sum, and the sums are the next
//!   launch's input, until one is left: 10⁸ → 781,250 → 6,104 → 48 → 1 by blocks
//!   of 128. The end of a launch is the barrier.
//! - *Atomics.* Each block adds its sum to the result ([`reduce_atomic`]).
//! - *The last block finishes.* Each block draws a ticket when its sum is
//!   written, and the one that draws the last ticket adds up all the sums
//!   ([`reduce_fast`]). Or the last of few warps waits for the others' words.
//!
//! # Rounding
//!
//! An addition in `f32` is wrong by up to 2⁻²⁴ of its result, and the result of
//! the whole is wrong by up to `depth · 2⁻²⁴ · Σ|x|` (and a little of second
//! order), where `depth` is the largest number of additions that one element
//! goes through. It is the *order* of the additions that decides:
//!
//! - One after the other: `depth = N − 1`. Of 10⁸ elements of 1.23 the sum is
//!   33554432.0 = 2²⁵, about a quarter of the truth: from there on the next
//!   `f32` is 4 away, 1.23 is less than half of that, and every further
//!   addition rounds back to where it was. The small operand is swallowed.
//! - The tree: `depth = ⌈log₂ N⌉` = 27. Both operands are about equally large,
//!   and the sum is right to a few units in its last place. The parallel way is
//!   the more exact one.
//! - Atomics: 7 steps in the block, then up to one per block: 781,250 at one
//!   address, and the small operand is being swallowed again.
//!
//! [`tree_depth`], [`atomic_depth`] and [`fast_depth`] say how deep each kernel
//! adds, and the tests hold every result to the bound that follows. Only the
//! atomics' order changes from launch to launch: the sums of the other kernels
//! are the same, bit for bit, every time.

#[path = "01_tree.rs"]
mod tree;
#[path = "02_fast.rs"]
mod fast;

pub use fast::{MAX_FAST_BLOCKS, MAX_FEW_WARPS, fast_block, fast_depth, fast_grid, reduce_fast};
pub use tree::{
    BLOCK, BLOCK_THREADS, atomic_depth, grid, reduce_atomic, reduce_global, reduce_shared,
    reduce_shared_dynamic, reduce_shuffle, shared_bytes, tree_depth,
};

/// Largest relative error of one addition in `f32`, 2⁻²⁴: half a unit in the
/// last place.
pub const UNIT_ROUNDOFF: f64 = 1.0 / (1_u32 << 24) as f64;

/// Largest error of a sum of `f32` in which no element goes through more than
/// `depth` additions, given the sum of the elements' absolute values: `γ · Σ|x|`
/// with `γ = depth·u / (1 − depth·u)` (Higham, *Accuracy and Stability of
/// Numerical Algorithms*, section 4.2).
pub const fn error_bound(depth: u32, sum_of_absolutes: f64) -> f64 {
    let relative = depth as f64 * UNIT_ROUNDOFF;
    assert!(relative < 1.0, "no bound holds for a sum this deep");
    relative / (1.0 - relative) * sum_of_absolutes
}

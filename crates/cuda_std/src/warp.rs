//! Operations of a warp's 32 threads: shuffles, votes, matches,
//! reductions, scans.
//!
//! Every function that takes a `mask` waits until all lanes in it have reached the
//! same call, like the `…_sync` functions of CUDA C++. `u32::MAX` is the whole
//! warp.
//!
//! They are LLVM intrinsics, which LLVM knows not to move into or out of
//! branches; inline assembly would be moved.

mod collectives;

pub use collectives::{broadcast, exclusive_scan, inclusive_scan, reduce};

use crate::gpu_only;
use crate::thread;

/// The mask of all lanes.
pub const FULL_MASK: u32 = u32::MAX;

/// LLVM's intrinsics for the warp's instructions.
#[cfg(target_arch = "nvptx64")]
mod llvm {
    macro_rules! declare {
        ($($link_name:literal fn $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?;)*) => {
            unsafe extern "C" { $(
                #[link_name = $link_name]
                pub fn $name($($arg: $type),*) $(-> $out)?;
            )* }
        };
    }
    declare! {
        "llvm.nvvm.read.ptx.sreg.laneid" fn laneid() -> u32;
        "llvm.nvvm.read.ptx.sreg.lanemask.eq" fn lanemask_eq() -> u32;
        "llvm.nvvm.read.ptx.sreg.lanemask.lt" fn lanemask_lt() -> u32;
        "llvm.nvvm.read.ptx.sreg.lanemask.le" fn lanemask_le() -> u32;
        "llvm.nvvm.read.ptx.sreg.lanemask.gt" fn lanemask_gt() -> u32;
        "llvm.nvvm.read.ptx.sreg.lanemask.ge" fn lanemask_ge() -> u32;
        "llvm.nvvm.activemask" fn activemask() -> u32;
        "llvm.nvvm.bar.warp.sync" fn sync(mask: u32);
        "llvm.nvvm.shfl.sync.idx.i32" fn shfl_idx(mask: u32, value: u32, lane: u32, clamp: u32) -> u32;
        "llvm.nvvm.shfl.sync.up.i32" fn shfl_up(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        "llvm.nvvm.shfl.sync.down.i32" fn shfl_down(mask: u32, value: u32, delta: u32, clamp: u32) -> u32;
        "llvm.nvvm.shfl.sync.bfly.i32" fn shfl_bfly(mask: u32, value: u32, lanes: u32, clamp: u32) -> u32;
        "llvm.nvvm.vote.all.sync" fn vote_all(mask: u32, predicate: bool) -> bool;
        "llvm.nvvm.vote.any.sync" fn vote_any(mask: u32, predicate: bool) -> bool;
        "llvm.nvvm.vote.uni.sync" fn vote_uni(mask: u32, predicate: bool) -> bool;
        "llvm.nvvm.vote.ballot.sync" fn ballot(mask: u32, predicate: bool) -> u32;
        "llvm.nvvm.match.any.sync.i32" fn match_any_32(mask: u32, value: u32) -> u32;
        "llvm.nvvm.match.any.sync.i64" fn match_any_64(mask: u32, value: u64) -> u32;
        "llvm.nvvm.redux.sync.add" fn redux_add(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.umin" fn redux_umin(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.umax" fn redux_umax(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.min" fn redux_min(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.max" fn redux_max(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.and" fn redux_and(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.or" fn redux_or(value: u32, mask: u32) -> u32;
        "llvm.nvvm.redux.sync.xor" fn redux_xor(value: u32, mask: u32) -> u32;
    }
}

// ---------------------------------------------------------------------------
// Lanes and masks
// ---------------------------------------------------------------------------

macro_rules! special_registers {
    ($($(#[$doc:meta])* $name:ident = $register:ident;)*) => { $(
        $(#[$doc])*
        #[gpu_only]
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reads a register.
            unsafe { llvm::$register() }
        }
    )* };
}

special_registers! {
    /// This thread's lane in its warp, 0 to 31.
    lane_id = laneid;
    /// The lanes that execute this very instruction together with this one. That
    /// does not say which lanes *should*: for that, [`warp_vote_ballot`].
    activemask = activemask;
    /// The mask of this lane.
    lanemask_eq = lanemask_eq;
    /// The mask of all lanes before this one.
    lanemask_lt = lanemask_lt;
    /// The mask of all lanes up to and including this one.
    lanemask_le = lanemask_le;
    /// The mask of all lanes after this one.
    lanemask_gt = lanemask_gt;
    /// The mask of this lane and all after it.
    lanemask_ge = lanemask_ge;
}

pub use crate::thread::warp_size;

/// This thread's warp in its block: warps are numbered in the order of
/// `thread_idx`, x first.
#[inline(always)]
pub fn warp_id() -> u32 {
    thread::index_in_block() / 32
}

/// The number of this warp's lanes that are threads of the block: 32, or fewer in the last warp of
/// a block whose size is not a multiple of 32.
#[inline(always)]
pub fn n_lanes() -> u32 {
    (thread::n_threads_in_block() - warp_id() * 32).min(32)
}

/// Waits until all lanes in `mask` have arrived, and makes what they wrote before
/// visible to each other.
///
/// # Safety
///
/// This lane is in `mask`, and every lane in `mask` reaches this call with the
/// same `mask`.
#[gpu_only]
#[inline(always)]
pub unsafe fn sync_warp(mask: u32) {
    // SAFETY: by this function's own contract.
    unsafe { llvm::sync(mask) }
}

// ---------------------------------------------------------------------------
// Votes
// ---------------------------------------------------------------------------

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident = $vote:ident -> $t:ty;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// As [`sync_warp`].
        #[gpu_only]
        #[inline(always)]
        pub unsafe fn $name(mask: u32, predicate: bool) -> $t {
            // SAFETY: by this function's own contract.
            unsafe { llvm::$vote(mask, predicate) }
        }
    )* };
}

votes! {
    /// Whether `predicate` holds for all lanes in `mask`.
    warp_vote_all = vote_all -> bool;
    /// Whether `predicate` holds for any lane in `mask`.
    warp_vote_any = vote_any -> bool;
    /// Whether `predicate` is the same for all lanes in `mask`.
    warp_vote_uniform = vote_uni -> bool;
    /// The lanes in `mask` for which `predicate` holds, as a mask.
    warp_vote_ballot = ballot -> u32;
}

// ---------------------------------------------------------------------------
// Shuffles
// ---------------------------------------------------------------------------

/// A value of one or two 32-bit registers, which lanes can exchange, or a pair of values.
///
/// # Safety
///
/// Lanes that call `each_register` together make the same calls of `exchange`.
pub unsafe trait WarpShuffleValue: Copy {
    /// The value with `exchange` applied to each of its 32-bit registers.
    #[doc(hidden)]
    fn each_register(self, exchange: impl Fn(u32) -> u32) -> Self;
}

macro_rules! shuffle_value {
    ($($type:ty: |$value:ident, $exchange:ident| $body:expr;)*) => { $(
        // SAFETY: a call for each register.
        unsafe impl WarpShuffleValue for $type {
            #[inline(always)]
            fn each_register(self, $exchange: impl Fn(u32) -> u32) -> Self {
                let $value = self;
                $body
            }
        }
    )* };
}
shuffle_value! {
    u32: |value, exchange| exchange(value);
    i32: |value, exchange| exchange(value.cast_unsigned()).cast_signed();
    f32: |value, exchange| f32::from_bits(exchange(value.to_bits()));
    u64: |value, exchange| {
        let (low, high) = (exchange(value as u32), exchange((value >> 32) as u32));
        u64::from(high) << 32 | u64::from(low)
    };
    i64: |value, exchange| value.cast_unsigned().each_register(exchange).cast_signed();
    f64: |value, exchange| f64::from_bits(value.to_bits().each_register(exchange));
    u16: |value, exchange| exchange(value.into()) as u16;
    i16: |value, exchange| value.cast_unsigned().each_register(exchange).cast_signed();
    u8: |value, exchange| exchange(value.into()) as u8;
    i8: |value, exchange| value.cast_unsigned().each_register(exchange).cast_signed();
    half::f16: |value, exchange| half::f16::from_bits(value.to_bits().each_register(exchange));
    half::bf16: |value, exchange| half::bf16::from_bits(value.to_bits().each_register(exchange));
}

// SAFETY: both make the same calls.
unsafe impl<A: WarpShuffleValue, B: WarpShuffleValue> WarpShuffleValue for (A, B) {
    #[inline(always)]
    fn each_register(self, exchange: impl Fn(u32) -> u32) -> Self {
        (
            self.0.each_register(&exchange),
            self.1.each_register(&exchange),
        )
    }
}

/// PTX's third shuffle operand: which bits of the lane number stay (bits 8 to
/// 12), and the last lane of a segment (bits 0 to 4; 0 for `up`).
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
const fn clamp(width: u32, last: u32) -> u32 {
    (32 - width) << 8 | last
}

/// `value` of lane `lane` of this lane's segment, `lane` taken modulo `width`.
///
/// Segments are `width` lanes, a power of two up to 32. The second result is
/// whether there is such a lane; here it always is.
///
/// # Safety
///
/// As [`sync_warp`]. The lane read from is in `mask`, or the value is undefined.
#[gpu_only]
#[inline(always)]
pub unsafe fn warp_shuffle_idx<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    lane: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: by this function's own contract.
    let shuffled = value.each_register(|register| unsafe {
        llvm::shfl_idx(mask, register, lane, clamp(width, 31))
    });
    (shuffled, true)
}

/// `value` of the lane that is `delta` before this one in its segment of `width`
/// lanes. If there is none: this lane's own `value`, and `false`.
///
/// # Safety
///
/// As [`warp_shuffle_idx`].
#[gpu_only]
#[inline(always)]
pub unsafe fn warp_shuffle_up<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: by this function's own contract.
    let shuffled = value
        .each_register(|register| unsafe { llvm::shfl_up(mask, register, delta, clamp(width, 0)) });
    (shuffled, lane_id() & (width - 1) >= delta)
}

/// `value` of the lane that is `delta` after this one in its segment of `width`
/// lanes. If there is none: this lane's own `value`, and `false`.
///
/// # Safety
///
/// As [`warp_shuffle_idx`].
#[gpu_only]
#[inline(always)]
pub unsafe fn warp_shuffle_down<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    delta: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: by this function's own contract.
    let shuffled = value.each_register(|register| unsafe {
        llvm::shfl_down(mask, register, delta, clamp(width, 31))
    });
    (shuffled, delta < width - (lane_id() & (width - 1)))
}

/// `value` of the lane whose number is this lane's XOR `lanes`. If that lies in a later
/// segment of `width` lanes: this lane's own `value`, and `false`.
///
/// # Safety
///
/// As [`warp_shuffle_idx`].
#[gpu_only]
#[inline(always)]
pub unsafe fn warp_shuffle_xor<T: WarpShuffleValue>(
    mask: u32,
    value: T,
    lanes: u32,
    width: u32,
) -> (T, bool) {
    // SAFETY: by this function's own contract.
    let shuffled = value.each_register(|register| unsafe {
        llvm::shfl_bfly(mask, register, lanes, clamp(width, 31))
    });
    let lane = lane_id();
    (shuffled, lane ^ lanes <= lane | (width - 1))
}

// ---------------------------------------------------------------------------
// Matches
// ---------------------------------------------------------------------------

/// A value whose bits lanes can compare.
pub trait WarpMatchValue: Copy {
    /// As [`warp_match_any`].
    ///
    /// # Safety
    ///
    /// As [`sync_warp`].
    #[doc(hidden)]
    unsafe fn match_any(self, mask: u32) -> u32;
}

macro_rules! match_value {
    ($($type:ty: $intrinsic:ident(|$value:ident| $bits:expr);)*) => { $(
        impl WarpMatchValue for $type {
            #[gpu_only]
            #[inline(always)]
            unsafe fn match_any(self, mask: u32) -> u32 {
                let $value = self;
                // SAFETY: by this function's own contract.
                unsafe { llvm::$intrinsic(mask, $bits) }
            }
        }
    )* };
}
match_value! {
    u32: match_any_32(|value| value);
    i32: match_any_32(|value| value.cast_unsigned());
    f32: match_any_32(|value| value.to_bits());
    u64: match_any_64(|value| value);
    i64: match_any_64(|value| value.cast_unsigned());
    f64: match_any_64(|value| value.to_bits());
}

/// The lanes in `mask` whose `value` has the same bits as this lane's.
///
/// # Safety
///
/// As [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_match_any<T: WarpMatchValue>(mask: u32, value: T) -> u32 {
    // SAFETY: by this function's own contract.
    unsafe { value.match_any(mask) }
}

/// `Some(mask)` if the bits of `value` are the same for all lanes in `mask`.
///
/// # Safety
///
/// As [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_match_all<T: WarpMatchValue>(mask: u32, value: T) -> Option<u32> {
    // SAFETY: by this function's own contract.
    let same = unsafe { value.match_any(mask) };
    (same == mask).then_some(mask)
}

// ---------------------------------------------------------------------------
// Reductions
// ---------------------------------------------------------------------------

/// The operation of [`warp_reduce`] on the lanes' values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarpReductionOp {
    /// Their sum, wrapping.
    Add,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The bits that are set in all.
    And,
    /// The bits that are set in any.
    Or,
    /// The bits that are set in an odd number of them.
    Xor,
}

/// A value that one instruction reduces over a warp.
pub trait WarpReduceValue: Copy {
    /// As [`warp_reduce`].
    ///
    /// # Safety
    ///
    /// As [`sync_warp`].
    #[doc(hidden)]
    unsafe fn redux(self, mask: u32, op: WarpReductionOp) -> Self;
}

macro_rules! reduce_value {
    ($($type:ty: $min:ident $max:ident |$value:ident| $to:expr, $from:expr;)*) => { $(
        impl WarpReduceValue for $type {
            #[gpu_only]
            #[inline(always)]
            unsafe fn redux(self, mask: u32, op: WarpReductionOp) -> Self {
                let $value = self;
                let $value = $to;
                // SAFETY: by this function's own contract.
                let $value = unsafe {
                    match op {
                        WarpReductionOp::Add => llvm::redux_add($value, mask),
                        WarpReductionOp::Min => llvm::$min($value, mask),
                        WarpReductionOp::Max => llvm::$max($value, mask),
                        WarpReductionOp::And => llvm::redux_and($value, mask),
                        WarpReductionOp::Or => llvm::redux_or($value, mask),
                        WarpReductionOp::Xor => llvm::redux_xor($value, mask),
                    }
                };
                $from
            }
        }
    )* };
}
reduce_value! {
    u32: redux_umin redux_umax |value| value, value;
    i32: redux_min redux_max |value| value.cast_unsigned(), value.cast_signed();
}

/// `op` over `value` of all lanes in `mask`, in one instruction (`redux.sync`,
/// sm_80 and newer). `op` should be a constant, so that no branch is left.
///
/// # Safety
///
/// As [`sync_warp`].
#[inline(always)]
pub unsafe fn warp_reduce<T: WarpReduceValue>(mask: u32, value: T, op: WarpReductionOp) -> T {
    // SAFETY: by this function's own contract.
    unsafe { value.redux(mask, op) }
}

/// Whether this is the lane that the warp elects: one of the 32, always the same. For work that
/// one lane of a warp does; from sm_90 on.
///
/// A branch on it is better than one on a lane's number: the assembler knows that a single
/// lane enters it.
///
/// # Safety
///
/// All 32 lanes call it together.
#[cfg(any(not(target_arch = "nvptx64"), target_feature = "sm_90"))]
#[gpu_only]
#[inline(always)]
pub unsafe fn is_elected() -> bool {
    let elected: u32;
    // SAFETY: by this function's own contract. Not `pure`: all lanes take part.
    unsafe {
        ptx!(
            "{{",
            ".reg .pred p;",
            "elect.sync _|p, 0xFFFFFFFF;",
            "selp.u32 {elected}, 1, 0, p;",
            "}}",
            elected = out(reg32) elected, options(nomem)
        );
    }
    elected != 0
}

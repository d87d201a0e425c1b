//! The parts of `cuda_std` that compute and talk to other threads, one kernel each.

use cuda_std::convert::{GpuHalf, whole_part};
use cuda_std::float::{GpuFloat, GpuFloatApprox};
use cuda_std::half::{bf16, f16};
use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::shared::dynamic_shared_mem;
use cuda_std::vector::{Double2, F16x2, Float2, Float4, UInt4};
use cuda_std::warp::{FULL_MASK, WarpReductionOp};

/// Each thread's indices, in the order of `thread::index()`: 8 words per thread.
#[kernel]
pub unsafe fn indices(out: *mut u32) {
    let place = out.add(thread::index() as usize * 8);
    let (two, three) = (thread::index_2d(), thread::index_3d());
    *place = thread::index();
    *place.add(1) = thread::index_1d();
    *place.add(2) = two.y;
    *place.add(3) = three.z;
    *place.add(4) = thread::thread_idx().x | thread::block_idx().x << 16;
    *place.add(5) = thread::block_dim().y | thread::grid_dim().y << 16;
    *place.add(6) = u32::from(thread::first());
    *place.add(7) = warp::warp_id() << 8 | warp::lane_id();
}

/// The four shuffles of `x` by `delta` in segments of `width`: for each, the
/// value times 2 plus whether its lane exists.
#[kernel]
pub unsafe fn shuffles(x: &[u32], delta: u32, width: u32, out: *mut u32) {
    let lane = warp::lane_id() as usize;
    let value = x[lane];
    let pack = |(value, exists): (u32, bool)| value << 1 | u32::from(exists);
    *out.add(lane) = pack(warp::warp_shuffle_idx(FULL_MASK, value, delta, width));
    *out.add(32 + lane) = pack(warp::warp_shuffle_up(FULL_MASK, value, delta, width));
    *out.add(64 + lane) = pack(warp::warp_shuffle_down(FULL_MASK, value, delta, width));
    *out.add(96 + lane) = pack(warp::warp_shuffle_xor(FULL_MASK, value, delta, width));
}

/// 64-bit and 16-bit values from the lane across (`lane ^ 31`).
#[kernel]
pub unsafe fn shuffle_types(wide: *mut f64, narrow: *mut f16, signed: *mut i64) {
    let lane = warp::lane_id() as usize;
    *wide.add(lane) = warp::warp_shuffle_xor(FULL_MASK, *wide.add(lane), 31, 32).0;
    *narrow.add(lane) = warp::warp_shuffle_xor(FULL_MASK, *narrow.add(lane), 31, 32).0;
    *signed.add(lane) = warp::warp_shuffle_xor(FULL_MASK, *signed.add(lane), 31, 32).0;
}

/// Votes, matches, reductions and masks: 16 words per lane.
#[kernel]
pub unsafe fn votes(x: &[u32], out: *mut u32) {
    let lane = warp::lane_id();
    let value = x[lane as usize];
    let odd = value & 1 == 1;
    let mut place = out.add(lane as usize * 16);
    let mut put = |word: u32| {
        *place = word;
        place = place.add(1);
    };
    put(u32::from(warp::warp_vote_all(FULL_MASK, odd)));
    put(u32::from(warp::warp_vote_any(FULL_MASK, odd)));
    put(u32::from(warp::warp_vote_uniform(FULL_MASK, odd)));
    put(warp::warp_vote_ballot(FULL_MASK, odd));
    put(warp::warp_match_any(FULL_MASK, value));
    put(warp::warp_match_any(FULL_MASK, f64::from(value)));
    put(warp::warp_match_all(FULL_MASK, value).unwrap_or(0));
    put(warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Add));
    put(warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Max));
    put(warp::warp_reduce(FULL_MASK, value.cast_signed(), WarpReductionOp::Min).cast_unsigned());
    put(warp::warp_reduce(FULL_MASK, value, WarpReductionOp::Xor));
    put(warp::lanemask_lt());
    put(warp::lanemask_le());
    put(warp::lanemask_gt());
    put(warp::lanemask_ge());
    put(warp::lanemask_eq());
}

/// The barriers that count: three words per thread.
#[kernel]
pub unsafe fn barriers(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(3 * i) = thread::sync_threads_count(x[i]);
    *out.add(3 * i + 1) = thread::sync_threads_and(x[i]);
    *out.add(3 * i + 2) = thread::sync_threads_or(x[i]);
    thread::block_fence();
    thread::device_fence();
    thread::system_fence();
}

/// Every `f16` and `bf16`, by its bits, as `f32`. 65536 threads.
#[kernel]
pub unsafe fn widen_all(f16s: *mut f32, bf16s: *mut f32) {
    let i = thread::index_1d();
    *f16s.add(i as usize) = f16::from_bits(i as u16).widen();
    *bf16s.add(i as usize) = bf16::from_bits(i as u16).widen();
}

/// `x` as `f16` and `bf16`, alone and as the upper half of a pair.
#[kernel]
pub unsafe fn narrow_all(x: &[f32], out: *mut f16, out_bf: *mut bf16, pairs: *mut F16x2) {
    let i = thread::index_1d() as usize;
    *out.add(i) = f16::narrow(x[i]);
    *out_bf.add(i) = bf16::narrow(x[i]);
    F16x2::narrow(1.0, x[i]).store(pairs.add(i));
}

/// The whole parts of `x`.
#[kernel]
pub unsafe fn whole_parts(x: &[f32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(i) = whole_part(x[i]);
}

/// The correctly rounded functions of `x`: 7 words each.
#[kernel]
pub unsafe fn exact_functions(x: &[f32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = x[i];
    let place = out.add(i * 7);
    *place = x.sqrt();
    *place.add(1) = x.mul_add(x, -1.0);
    *place.add(2) = x.floor();
    *place.add(3) = x.ceil();
    *place.add(4) = x.trunc();
    *place.add(5) = x.round_ties_even();
    *place.add(6) = x.recip_exact();
}

/// The approximate functions of `x`: 8 words each.
#[kernel]
pub unsafe fn approximate_functions(x: &[f32], out: *mut f32) {
    let i = thread::index_1d() as usize;
    let x = x[i];
    let place = out.add(i * 8);
    *place = x.rsqrt_approx();
    *place.add(1) = x.sqrt_approx();
    *place.add(2) = x.recip_approx();
    *place.add(3) = x.sin_approx();
    *place.add(4) = x.cos_approx();
    *place.add(5) = x.exp2_approx();
    *place.add(6) = x.log2_approx();
    *place.add(7) = x.tanh_approx();
}

/// Read-only loads of every width: sums each kind's parts.
#[kernel]
pub unsafe fn read_only(words: *const u32, out: *mut u32) {
    let i = thread::index_1d() as usize;
    let four = ldg(words.cast::<UInt4>().add(i));
    let long = ldg(words.cast::<u64>().add(2 * i));
    let float = ldg(words.cast::<f32>().add(4 * i)).to_bits();
    let floats = ldg(words.cast::<Float4>().add(i));
    let two = ldg(words.cast::<Float2>().add(2 * i + 1));
    let double = ldg(words.cast::<Double2>().add(i)).y.to_bits();
    let place = out.add(i * 6);
    *place = four.x ^ four.y ^ four.z ^ four.w;
    *place.add(1) = long as u32 ^ (long >> 32) as u32;
    *place.add(2) = float;
    *place.add(3) = floats.x.to_bits() ^ floats.w.to_bits();
    *place.add(4) = two.x.to_bits() ^ two.y.to_bits();
    *place.add(5) = double as u32 ^ (double >> 32) as u32;
}

/// Two kernels from one macro, with two arrays each that the macro writes on
/// one line: all four are different memory.
macro_rules! family {
    ($($name:ident: $value:literal;)*) => { $(
        /// Writes both arrays and the dynamic memory, then reads all of them.
        #[kernel(launch_bounds(32, 2))]
        pub unsafe fn $name(out: *mut u32) {
            let (a, b) = (shared_array![u32; 32], shared_array![u32; 32, align = 256]);
            let c = dynamic_shared_mem::<u32>();
            let lane = warp::lane_id();
            *a.add(lane as usize) = $value + lane;
            *b.add(lane as usize) = $value + 100 + lane;
            *c.add(lane as usize) = $value + 200 + lane;
            thread::sync_threads();
            let across = (lane ^ 31) as usize;
            *out.add(lane as usize) = *a.add(across);
            *out.add(32 + lane as usize) = *b.add(across);
            *out.add(64 + lane as usize) = *c.add(across);
        }
    )* };
}
family! {
    family_one: 1000;
    family_two: 2000;
}

/// Reads past the end of its slice from thread `x.len()` on.
#[kernel]
pub unsafe fn panics_out_of_bounds(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(i) = x[i];
}

/// Panics in the threads whose `x` is 0.
#[kernel]
pub unsafe fn panics_by_assertion(x: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    assert!(x[i] != 0, "x must not be 0");
    *out.add(i) = x[i];
}

/// Panics in the threads whose `divisor` is 0.
#[kernel]
pub unsafe fn panics_by_division(divisor: &[u32], out: *mut u32) {
    let i = thread::index_1d() as usize;
    *out.add(i) = 100 / divisor[i];
}

//! Reductions, scans and exchanges of warps and blocks.

use core::ops::Add;
use cuda_std::block::{self, Scan};
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::warp::WarpShuffleValue;

/// A number whose sums are exact here.
pub trait Number: WarpShuffleValue + Add<Output = Self> + Default {}
impl<T: WarpShuffleValue + Add<Output = Self> + Default> Number for T {}

/// Results per thread of `collect`.
pub const N_RESULTS: usize = 8;

/// `op` over warps and over the block: 8 results per thread.
#[inline(always)]
unsafe fn collect<T: WarpShuffleValue>(
    x: &[T],
    results: *mut T,
    identity: T,
    op: impl Fn(T, T) -> T,
) {
    let scratch = shared_array![u128; block::SCRATCH].cast::<T>();
    let thread = thread::index_in_block() as usize;
    let (x, n_lanes) = (x[thread], warp::n_lanes());
    let Scan {
        exclusive,
        inclusive,
        total,
    } = block::scan(scratch, x, identity, &op);
    let all = [
        warp::reduce(n_lanes, x, &op),
        warp::inclusive_scan(n_lanes, x, &op),
        warp::exclusive_scan(n_lanes, x, identity, &op),
        block::reduce(scratch, x, &op),
        exclusive,
        inclusive,
        total,
        block::reduce(scratch, total, &op),
    ];
    let place = results.add(thread * N_RESULTS);
    place.cast::<[T; N_RESULTS]>().write(all);
}

/// Sums.
#[kernel(instances(
    sums_u32 = sums::<u32>,
    sums_i32 = sums::<i32>,
    sums_u64 = sums::<u64>,
    sums_i64 = sums::<i64>,
    sums_f32 = sums::<f32>,
    sums_f64 = sums::<f64>,
    sums_f16 = sums::<f16>,
))]
pub unsafe fn sums<T: Number>(x: &[T], results: *mut T) {
    collect(x, results, T::default(), |a, b| a + b);
}

/// The function that applies `f` and then `g`, both `x ↦ slope x + offset`: an operator that is
/// associative but not commutative.
pub fn then(f: [u32; 2], g: [u32; 2]) -> [u32; 2] {
    [
        f[0].wrapping_mul(g[0]),
        g[0].wrapping_mul(f[1]).wrapping_add(g[1]),
    ]
}

/// Compositions of functions.
#[kernel]
pub unsafe fn compositions(x: &[(u32, u32)], results: *mut (u32, u32)) {
    collect(x, results, (1, 0), |f, g| {
        let [slope, offset] = then([f.0, f.1], [g.0, g.1]);
        (slope, offset)
    });
}

/// The sum of a warp's values, for the cost of it.
#[kernel]
pub unsafe fn warp_sum(x: *const f32, sum: *mut f32) {
    let i = thread::index_1d() as usize;
    *sum.add(i) = warp::reduce(32, *x.add(i), |a, b| a + b);
}

/// The sum of a block's values, for the cost of it.
#[kernel]
pub unsafe fn block_sum(x: *const f32, sum: *mut f32) {
    let i = thread::index_1d() as usize;
    let scratch = shared_array![f32; block::SCRATCH];
    *sum.add(i) = block::reduce(scratch, *x.add(i), |a, b| a + b);
}

/// The sum of the values before a thread's, for the cost of it.
#[kernel]
pub unsafe fn block_scan(x: *const f32, sum: *mut f32) {
    let i = thread::index_1d() as usize;
    let scratch = shared_array![f32; block::SCRATCH];
    *sum.add(i) = block::scan(scratch, *x.add(i), 0.0, |a, b| a + b).exclusive;
}

/// Lane 5's value times lane 31's, in all lanes.
#[kernel]
pub unsafe fn broadcasts(x: *const f64, product: *mut f64) {
    let i = thread::index_1d() as usize;
    *product.add(i) = warp::broadcast(*x.add(i), 5) * warp::broadcast(*x.add(i), 31);
}

/// The threads that [`exchanges`] are made for, at most.
pub const EXCHANGED: u32 = 128;

/// Loads elements as they lie, `N` per thread, doubles them where each thread has adjacent ones, and
/// stores them as they lie.
#[kernel(
    instances(
        exchange_2_u32 = exchanges::<u32, 2>,
        exchange_3_u32 = exchanges::<u32, 3>,
        exchange_4_u32 = exchanges::<u32, 4>,
        exchange_6_u32 = exchanges::<u32, 6>,
        exchange_16_u32 = exchanges::<u32, 16>,
        exchange_2_f64 = exchanges::<f64, 2>,
        exchange_5_f64 = exchanges::<f64, 5>,
        exchange_12_f64 = exchanges::<f64, 12>,
    )
)]
pub unsafe fn exchanges<T: Number, const N: usize>(x: *const T, y: *mut T) {
    let scratch = shared_array![f64; block::exchange_scratch::<f64, 16>(EXCHANGED)].cast::<T>();
    let mut elements = [T::default(); N];
    for (k, element) in elements.iter_mut().enumerate() {
        *element = *x.add(block::striped(k) as usize);
    }
    let mut elements = block::exchange(scratch, elements, block::striped, block::blocked::<N>);
    for k in 1..N {
        elements[k] = elements[k - 1] + elements[k];
    }
    let elements = block::exchange(scratch, elements, block::blocked::<N>, block::striped);
    for (k, element) in elements.into_iter().enumerate() {
        *y.add(block::striped(k) as usize) = element;
    }
}

/// Moves each of the block's elements, two per thread, to the place that `ranks` gives it.
#[kernel]
pub unsafe fn scatters(x: *const u32, ranks: *const u32, y: *mut u32) {
    let scratch = shared_array![u32; block::exchange_scratch::<u32, 2>(EXCHANGED)];
    let thread = 2 * thread::index_in_block() as usize;
    let own = [*x.add(thread), *x.add(thread + 1)];
    let [first, second] = block::exchange(scratch, own, |k| *ranks.add(thread + k), block::striped);
    *y.add(block::striped(0) as usize) = first;
    *y.add(block::striped(1) as usize) = second;
}

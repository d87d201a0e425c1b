//! Generic kernels and their instances.

use core::ops::{Add, Mul};
use cuda_std::TensorMap;
use cuda_std::prelude::*;
use cuda_std::view::{DeviceCopy, Disjoint, Global};

/// A type of number.
pub trait Number: DeviceCopy + Add<Output = Self> + Mul<Output = Self> {
    /// The type in which it is summed.
    type Wide: Number + From<Self>;
}

impl Number for f32 {
    type Wide = f64;
}
impl Number for f64 {
    type Wide = f64;
}
impl Number for u32 {
    type Wide = u64;
}
impl Number for u64 {
    type Wide = u64;
}

/// Sums every `N` neighbours, times a factor, in the wide type.
#[kernel(
    launch_bounds(32 * N as u32),
    instances(
        sum_4_floats = sum_neighbours::<f32, 4>,
        sum_2_words = sum_neighbours::<u32, 2>,
    )
)]
pub unsafe fn sum_neighbours<T: Number, const N: usize>(
    x: &[T],
    mut sums: *mut <T as Number>::Wide,
    factor: <T as Number>::Wide,
) {
    let i = thread::index_1d() as usize;
    let Some(neighbours) = x.get(i..i + N) else {
        return;
    };
    let mut sum = T::Wide::from(neighbours[0]) * factor;
    for &x in &neighbours[1..] {
        sum = sum + T::Wide::from(x) * factor;
    }
    sums = sums.add(i);
    *sums = sum;
}

/// A safe instance.
#[kernel(instances(double_floats = double_safely::<f32>, double_words = double_safely::<u32>))]
pub fn double_safely<T: Number>(x: Global<[T; n]>, mut y: Disjoint<[T; n]>, n: u32) {
    if let (Some(x), Some(y)) = (x.get(thread::index_1d()), y.own()) {
        y.set(x + x);
    }
}

/// The last word of a map that comes after other parameters.
#[kernel(instances(last_word = last_of::<u64>))]
pub unsafe fn last_of<T: Copy>(_before: &[T], map: &TensorMap, out: *mut T) {
    *out = *(map.address() as *const T).add(15);
}

/// The same as an instance, written out.
#[kernel(launch_bounds(128))]
pub unsafe fn sum_4_floats_by_hand(x: &[f32], sums: *mut f64, factor: f64) {
    sum_neighbours::<f32, 4>(x, sums, factor);
}

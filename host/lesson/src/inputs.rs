//! Inputs that make mistakes visible: fixed, and different in every element.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;

/// Bits of the smallest value: a normal number, so that nothing rounds or flushes
/// it on the way.
const FIRST_BITS: u32 = 0x2000_0000;
/// Bits in which values of [`distinct`] differ.
const N_DISTINCT_BITS: u32 = 30;

const _: () = assert!(FIRST_BITS + ((1 << N_DISTINCT_BITS) - 1) < f32::INFINITY.to_bits());

/// A bijection of 30-bit numbers, in no recognizable order.
const fn scattered(index: u32) -> u32 {
    const MASK: u32 = (1 << N_DISTINCT_BITS) - 1;
    // Odd factors and right shifts: each step can be undone.
    let index = index.wrapping_mul(0x9E37_79B1) & MASK;
    let index = index ^ (index >> 15);
    let index = index.wrapping_mul(0x85EB_CA77) & MASK;
    index ^ (index >> 13)
}

/// Value `index` of [`distinct`].
pub fn distinct_at(index: usize) -> f32 {
    f32::from_bits(FIRST_BITS + scattered(index as u32))
}

/// `len` different finite values, for kernels that move data and do not compute.
/// They differ for any `len` up to 2³⁰, whereas whole numbers in `f32` end at 2²⁴; and
/// they are in no order, because ordered bits are cheaper to move than random ones.
pub fn distinct(len: usize) -> Vec<f32> {
    in_parallel(len, |_, first, values| {
        for (index, value) in (first..).zip(values) {
            *value = distinct_at(index);
        }
    })
}

/// `len` times the same value: filled here, in an optimized crate.
pub fn constant(value: f32, len: usize) -> Vec<f32> {
    vec![value; len]
}

/// `len` numbers in [−1, 1), the same for the same `seed`. For kernels
/// that compute, and for those whose time may depend on the data.
pub fn uniform(seed: u64, len: usize) -> Vec<f32> {
    in_parallel(len, |part, _, values| {
        let mut random = random_of_part(seed, part);
        values.fill_with(|| random.random_range(-1.0..1.0));
    })
}

/// `len` numbers of a normal distribution around 0 with standard deviation 1, each converted by
/// `of` from an `f32`. Random bits, as in networks, cost a multiplier more power than
/// regular ones, and power limits speed.
pub fn normal<T: Copy + Default + Send + Sync>(
    seed: u64,
    len: usize,
    of: impl Fn(f32) -> T + Sync,
) -> Vec<T> {
    in_parallel(len, |part, _, values| {
        let drawn = normal_part(seed, part, values.len());
        for (value, drawn) in values.iter_mut().zip(drawn) {
            *value = of(drawn);
        }
    })
}

/// `len` numbers, each made by `of` from 32 random bits.
pub fn random<T: Copy + Default + Send + Sync>(
    seed: u64,
    len: usize,
    of: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    in_parallel(len, |part, _, values| {
        let drawn = random_part(seed, part, values.len());
        for (value, bits) in values.iter_mut().zip(drawn) {
            *value = of(bits);
        }
    })
}

/// A part of [`normal`], before conversion. Like [`random_part`], it is not generic, so that
/// it is compiled in this optimized crate.
fn normal_part(seed: u64, part: usize, len: usize) -> Vec<f32> {
    let mut random = random_of_part(seed, part);
    let mut values = vec![0.0; len];
    // Two at a time (Box and Muller, 1958).
    for pair in values.chunks_mut(2) {
        let [u, v]: [f32; 2] = [random.random(), random.random()];
        let distance = (-2.0 * (1.0 - u).ln()).sqrt();
        let (sin, cos) = (v * std::f32::consts::TAU).sin_cos();
        for (value, share) in pair.iter_mut().zip([cos, sin]) {
            *value = distance * share;
        }
    }
    values
}

/// The bits of a part of [`random`].
fn random_part(seed: u64, part: usize, len: usize) -> Vec<u32> {
    let mut random = random_of_part(seed, part);
    (0..len).map(|_| random.random()).collect()
}

/// Numbers of one stream, one after another.
pub struct Stream(StdRng);

impl Stream {
    /// The stream that `seed` fixes.
    pub fn new(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// `len` multiples of 1/16 in [−1, 1).
    pub fn sixteenths(&mut self, len: usize) -> Vec<f32> {
        (0..len)
            .map(|_| f32::from(self.0.random_range(-16_i8..16)) / 16.0)
            .collect()
    }

    /// `len` whole numbers from −`largest` to `largest`.
    pub fn whole_numbers(&mut self, largest: i32, len: usize) -> Vec<f64> {
        (0..len)
            .map(|_| f64::from(self.0.random_range(-largest..=largest)))
            .collect()
    }
}

/// `len` random bytes.
pub fn bytes(seed: u64, len: usize) -> Vec<u8> {
    in_parallel(len, |part, _, values: &mut [u8]| {
        random_of_part(seed, part).fill(values);
    })
}

/// Values that one thread makes.
const PART: usize = 1 << 16;

/// Vectors are made in parts, so that gigabytes take only seconds. The first part uses the
/// seed itself.
fn random_of_part(seed: u64, part: usize) -> StdRng {
    StdRng::seed_from_u64(seed ^ ((part as u64) << 32))
}

/// A vector whose parts `make` writes, given the part's number and the index of its
/// first value.
fn in_parallel<T: Copy + Default + Send + Sync>(
    len: usize,
    make: impl Fn(usize, usize, &mut [T]) + Sync,
) -> Vec<T> {
    let mut values = vec![T::default(); len];
    values
        .par_chunks_mut(PART)
        .enumerate()
        .for_each(|(part, values)| make(part, part * PART, values));
    values
}

#[cfg(test)]
mod tests {
    use super::{bytes, distinct, distinct_at, normal, random, uniform};

    #[test]
    fn uniform_is_fixed_by_its_seed_and_fills_its_range() {
        let values = uniform(1, 10_000);
        assert_eq!(values, uniform(1, 10_000));
        assert_ne!(values, uniform(2, 10_000));
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        let sum: f64 = values.iter().map(|&value| f64::from(value)).sum();
        assert!((sum / 10_000.0).abs() < 0.05, "mean {}", sum / 10_000.0);
    }

    #[test]
    fn a_normal_distribution_has_its_moments_and_no_infinity() {
        const N: usize = 200_001;
        let values = normal(1, N, |x| x);
        assert_eq!(values, normal(1, N, |x| x));
        assert!(values.iter().all(|x| x.is_finite()));
        let mean = |power: i32| {
            let powers = values.iter().map(|&x| f64::from(x).powi(power));
            powers.sum::<f64>() / N as f64
        };
        assert!(mean(1).abs() < 0.01, "mean {}", mean(1));
        assert!((mean(2) - 1.0).abs() < 0.02, "variance {}", mean(2));
        assert!((mean(4) - 3.0).abs() < 0.15, "fourth moment {}", mean(4));
    }

    #[test]
    fn random_bits_are_fixed_by_their_seed() {
        let bits = random(3, 1000, |bits| bits);
        assert_eq!(bits, random(3, 1000, |bits| bits));
        assert_ne!(bits, random(4, 1000, |bits| bits));
    }

    #[test]
    fn values_are_normal_and_different() {
        const N: usize = 300_000;
        let mut values = distinct(N);
        assert!(values.iter().all(|value| value.is_normal()));
        assert_eq!(values[70_000], distinct_at(70_000));
        values.sort_by(f32::total_cmp);
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
        // Distinct even far apart in the array: no bits of an index are ignored.
        let mut values: Vec<_> = (0..N).map(|n| distinct_at(n << 11)).collect();
        values.sort_by(f32::total_cmp);
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn parts_differ() {
        let values = uniform(1, 2 * super::PART);
        let (first, second) = values.split_at(super::PART);
        assert_ne!(first, second);
        assert_eq!(first, uniform(1, super::PART));
        let random = bytes(1, 10_000);
        let n_zero = random.iter().filter(|&&byte| byte == 0).count();
        assert!((10..100).contains(&n_zero), "{n_zero}");
    }
}

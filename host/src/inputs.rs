//! Inputs that make mistakes visible: fixed, and different in every element.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Bits of the first value: a normal number, so that nothing rounds or flushes
/// it on the way.
const FIRST_BITS: u32 = 0x2000_0000;

/// Value `index` of [`distinct`].
pub fn distinct_at(index: usize) -> f32 {
    f32::from_bits(FIRST_BITS + index as u32)
}

/// `len` different finite values, for kernels that move data and do not compute.
/// Exact for any `len` up to 2²⁹, where whole numbers in `f32` end at 2²⁴.
pub fn distinct(len: usize) -> Vec<f32> {
    (0..len).map(distinct_at).collect()
}

/// `len` numbers in [−1, 1), the same whenever `seed` is the same. For kernels
/// that compute, and for those whose time may depend on the data: constant bits
/// cost a memory less than random ones.
pub fn uniform(seed: u64, len: usize) -> Vec<f32> {
    let mut random = StdRng::seed_from_u64(seed);
    (0..len).map(|_| random.random_range(-1.0..1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::{distinct, distinct_at, uniform};

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
    fn values_are_finite_normal_and_rising() {
        let values = distinct(1000);
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(values.iter().all(|value| value.is_normal()));
        assert!(distinct_at(1 << 26).is_normal());
    }
}

//! Inputs that make mistakes visible: fixed, and different in every element.

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

#[cfg(test)]
mod tests {
    use super::{distinct, distinct_at};

    #[test]
    fn values_are_finite_normal_and_rising() {
        let values = distinct(1000);
        assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(values.iter().all(|value| value.is_normal()));
        assert!(distinct_at(1 << 26).is_normal());
    }
}

//! The test whether all of a warp's addresses have the same distance from the lane before.

use crate::lanes::WARP_SIZE;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;

/// Distances from here on are not looked for.
const TOO_FAR: u64 = 1 << 31;

/// The distance from each lane's value to the next one's, if that is the same for all, and
/// not negative.
#[inline(always)]
pub(super) fn stride64(values: &[u64; WARP_SIZE]) -> Option<u64> {
    let stride = values[1].wrapping_sub(values[0]);
    if stride >= TOO_FAR {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { wide::is_affine64(values, stride) }.then_some(stride);
    }
    let mut lanes = values.iter().zip(&values[1..]);
    lanes
        .all(|(one, next)| next.wrapping_sub(*one) == stride)
        .then_some(stride)
}

/// [`stride64`] of 32-bit values.
#[inline(always)]
pub(super) fn stride32(values: &[u32; WARP_SIZE]) -> Option<u32> {
    let stride = values[1].wrapping_sub(values[0]);
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { wide::is_affine32(values, stride) }.then_some(stride);
    }
    let mut lanes = values.iter().zip(&values[1..]);
    lanes
        .all(|(one, next)| next.wrapping_sub(*one) == stride)
        .then_some(stride)
}

/// With vectors of the size and alignment in which registers were written: a load that
/// straddled two stores would have to wait until both are in the cache.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::WARP_SIZE;
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn is_affine64(values: &[u64; WARP_SIZE], stride: u64) -> bool {
        let by = _mm256_set1_epi64x(stride as i64);
        let steps = _mm256_mul_epu32(by, _mm256_setr_epi64x(0, 1, 2, 3));
        let mut expected = _mm256_add_epi64(_mm256_set1_epi64x(values[0] as i64), steps);
        let four = _mm256_slli_epi64::<2>(by);
        let mut difference = _mm256_setzero_si256();
        for lanes in values.as_chunks::<4>().0 {
            // SAFETY: Four values are 32 bytes.
            let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            difference = _mm256_or_si256(difference, _mm256_xor_si256(lanes, expected));
            expected = _mm256_add_epi64(expected, four);
        }
        _mm256_testz_si256(difference, difference) != 0
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) fn is_affine32(values: &[u32; WARP_SIZE], stride: u32) -> bool {
        let by = _mm256_set1_epi32(stride as i32);
        let steps = _mm256_mullo_epi32(by, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        let mut expected = _mm256_add_epi32(_mm256_set1_epi32(values[0] as i32), steps);
        let eight = _mm256_slli_epi32::<3>(by);
        let mut difference = _mm256_setzero_si256();
        for lanes in values.as_chunks::<8>().0 {
            // SAFETY: Eight values are 32 bytes.
            let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            difference = _mm256_or_si256(difference, _mm256_xor_si256(lanes, expected));
            expected = _mm256_add_epi32(expected, eight);
        }
        _mm256_testz_si256(difference, difference) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{TOO_FAR, stride32, stride64};
    use std::array;

    #[test]
    fn a_stride_is_that_of_all_lanes() {
        for stride in [0_u64, 4, 16, 4096, TOO_FAR - 4] {
            let values: [u64; 32] = array::from_fn(|lane| {
                0x7123_4567_89AB_u64.wrapping_add(stride.wrapping_mul(lane as u64))
            });
            let narrow = values.map(|value| value as u32);
            assert_eq!(stride64(&values), Some(stride));
            assert_eq!(stride32(&narrow), Some(stride as u32));
            for lane in 0..32 {
                for bit in [0, 7, 31] {
                    let (mut values, mut narrow) = (values, narrow);
                    values[lane] ^= 1 << (bit + 9);
                    narrow[lane] ^= 1 << bit;
                    assert_eq!(stride64(&values), None);
                    assert_eq!(stride32(&narrow), None);
                }
            }
        }
        let backwards = array::from_fn(|lane| 1000 - 4 * lane as u64);
        assert_eq!(stride64(&backwards), None);
    }
}

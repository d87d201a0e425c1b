//! Elements of single lanes, put together to vectors.
//!
//! Instructions read registers by vectors of 32 bytes. A vector that was written by parts comes
//! back only once all its parts have reached the cache, which takes longer than to put it
//! together first.

use crate::lanes::WARP_SIZE;
use crate::registers::FramePtr;
use std::arch::x86_64::*;

/// The lanes of a vector that a mask has, as words of ones.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_of(mask: u32) -> __m256i {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    let all = _mm256_set1_epi32(mask as i32);
    _mm256_cmpeq_epi32(_mm256_and_si256(all, bits), bits)
}

/// The same of four lanes, as numbers of 64 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn four_of(mask: u32) -> __m256i {
    _mm256_cvtepi32_epi64(_mm256_castsi256_si128(eight_of(mask)))
}

/// Writes the lanes of `mask` to a vector of a register.
///
/// # Safety
/// `to` is a vector of a register; `active` makes the lanes of a mask that has them.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn put(to: *mut __m256i, vector: __m256i, active: Option<__m256i>) {
    // SAFETY: The caller's promise.
    unsafe {
        let vector = match active {
            Some(active) => _mm256_blendv_epi8(_mm256_loadu_si256(to), vector, active),
            None => vector,
        };
        _mm256_storeu_si256(to, vector);
    }
}

/// Sets the lanes of `mask` of a register of words; `value` is asked for all lanes.
///
/// # Safety
/// The decoder made `slot` for 32-bit lanes; this machine has the vectors.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn put_words(
    regs: FramePtr,
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> u32,
) {
    // SAFETY: The caller's promise.
    let to = unsafe { regs.bytes(slot, 4 * WARP_SIZE) }.cast::<__m256i>();
    for eight in 0..4 {
        let word = |i: usize| value(8 * eight + i) as i32;
        let vector = _mm256_setr_epi32(
            word(0),
            word(1),
            word(2),
            word(3),
            word(4),
            word(5),
            word(6),
            word(7),
        );
        let active = (mask != u32::MAX).then(|| eight_of(mask >> (8 * eight)));
        // SAFETY: A register of words has four vectors.
        unsafe { put(to.add(eight), vector, active) };
    }
}

/// Sets a register of 16-bit lanes.
///
/// # Safety
/// The decoder made `slot` for 16-bit lanes; this machine has the vectors.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn put_halves(regs: FramePtr, slot: u32, value: impl Fn(usize) -> u16) {
    // SAFETY: The caller's promise.
    let to = unsafe { regs.bytes(slot, 2 * WARP_SIZE) }.cast::<__m256i>();
    for sixteen in 0..2 {
        let four = |i: usize| {
            let half = |lane: usize| u64::from(value(16 * sixteen + 4 * i + lane));
            (half(0) | half(1) << 16 | half(2) << 32 | half(3) << 48) as i64
        };
        let vector = _mm256_setr_epi64x(four(0), four(1), four(2), four(3));
        // SAFETY: A register of 16-bit lanes has two vectors.
        unsafe { put(to.add(sixteen), vector, None) };
    }
}

/// As [`put_words`], of 64-bit lanes.
///
/// # Safety
/// The decoder made `slot` for 64-bit lanes; this machine has the vectors.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn put_doubles(
    regs: FramePtr,
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> u64,
) {
    // SAFETY: The caller's promise.
    let to = unsafe { regs.bytes(slot, 8 * WARP_SIZE) }.cast::<__m256i>();
    for four in 0..8 {
        let word = |i: usize| value(4 * four + i) as i64;
        let vector = _mm256_setr_epi64x(word(0), word(1), word(2), word(3));
        let active = (mask != u32::MAX).then(|| four_of(mask >> (4 * four)));
        // SAFETY: A register of 64-bit lanes has eight vectors.
        unsafe { put(to.add(four), vector, active) };
    }
}

/// Loads four words for each lane into four registers.
///
/// # Safety
/// `memory` gives 16 readable bytes for every lane, also for those that `mask` does not have,
/// which no other host thread writes; the decoder made the slots for 32-bit lanes; this machine
/// has the vectors.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn load_fours(
    regs: FramePtr,
    slots: [u32; 4],
    mask: u32,
    memory: impl Fn(usize) -> *const u8,
) {
    for eight in 0..4 {
        // Four words of a lane and of the lane that is four further.
        let two = |lane: usize| {
            // SAFETY: The caller's promise.
            unsafe {
                _mm256_loadu2_m128i(
                    memory(8 * eight + lane + 4).cast(),
                    memory(8 * eight + lane).cast(),
                )
            }
        };
        let registers = transposed([two(0), two(1), two(2), two(3)]);
        let active = (mask != u32::MAX).then(|| eight_of(mask >> (8 * eight)));
        for (slot, vector) in slots.into_iter().zip(registers) {
            // SAFETY: A register of words has four vectors.
            unsafe {
                let to = regs.bytes(slot, 4 * WARP_SIZE).cast::<__m256i>();
                put(to.add(eight), vector, active);
            }
        }
    }
}

/// Stores four registers' words for each lane of `mask`.
///
/// # Safety
/// As [`load_fours`], but `memory` need only be writable for the lanes of `mask`.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn store_fours(
    regs: FramePtr,
    slots: [u32; 4],
    mask: u32,
    memory: impl Fn(usize) -> *mut u8,
) {
    for eight in 0..4 {
        // SAFETY: A register of words has four vectors.
        let vectors = slots.map(|slot| unsafe {
            let from = regs.bytes(slot, 4 * WARP_SIZE).cast::<__m256i>();
            _mm256_loadu_si256(from.add(eight))
        });
        for (place, two) in transposed(vectors).into_iter().enumerate() {
            let lane = 8 * eight + place;
            // SAFETY: The caller's promise.
            unsafe { take_halves(two, [lane, lane + 4], mask, &memory) };
        }
    }
}

/// Stores the halves of a vector for two lanes, as far as `mask` has them.
///
/// # Safety
/// As [`store_fours`].
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn take_halves(
    two: __m256i,
    lanes: [usize; 2],
    mask: u32,
    memory: &impl Fn(usize) -> *mut u8,
) {
    let halves = [
        _mm256_castsi256_si128(two),
        _mm256_extracti128_si256::<1>(two),
    ];
    for (lane, half) in lanes.into_iter().zip(halves) {
        if mask >> lane & 1 != 0 {
            // SAFETY: The caller's promise.
            unsafe { _mm_storeu_si128(memory(lane).cast(), half) };
        }
    }
}

/// Words by lane become words by place, and the other way round: in each half of the vectors,
/// rows become columns.
#[target_feature(enable = "avx2")]
#[inline]
fn transposed([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Loads two words for each lane into two registers.
///
/// # Safety
/// As [`load_fours`], for 8 bytes.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn load_pairs(
    regs: FramePtr,
    slots: [u32; 2],
    mask: u32,
    memory: impl Fn(usize) -> *const u8,
) {
    for eight in 0..4 {
        let pair = |lane: usize| {
            // SAFETY: The caller's promise.
            unsafe { memory(8 * eight + lane).cast::<i64>().read_unaligned() }
        };
        let low = _mm256_setr_epi64x(pair(0), pair(1), pair(4), pair(5));
        let high = _mm256_setr_epi64x(pair(2), pair(3), pair(6), pair(7));
        let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        let registers = [
            _mm256_castps_si256(_mm256_shuffle_ps::<0x88>(low, high)),
            _mm256_castps_si256(_mm256_shuffle_ps::<0xDD>(low, high)),
        ];
        let active = (mask != u32::MAX).then(|| eight_of(mask >> (8 * eight)));
        for (slot, vector) in slots.into_iter().zip(registers) {
            // SAFETY: A register of words has four vectors.
            unsafe {
                let to = regs.bytes(slot, 4 * WARP_SIZE).cast::<__m256i>();
                put(to.add(eight), vector, active);
            }
        }
    }
}

/// Loads two 64-bit numbers for each lane into two registers.
///
/// # Safety
/// As [`load_fours`], but the decoder made the slots for 64-bit lanes.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn load_wide_pairs(
    regs: FramePtr,
    slots: [u32; 2],
    mask: u32,
    memory: impl Fn(usize) -> *const u8,
) {
    for four in 0..8 {
        // Those of a lane and of the lane that is two further.
        let two = |lane: usize| {
            // SAFETY: The caller's promise.
            unsafe {
                _mm256_loadu2_m128i(
                    memory(4 * four + lane + 2).cast(),
                    memory(4 * four + lane).cast(),
                )
            }
        };
        let (even, odd) = (two(0), two(1));
        let active = (mask != u32::MAX).then(|| four_of(mask >> (4 * four)));
        // SAFETY: The caller's promise; a register of 64-bit lanes has eight vectors.
        unsafe {
            let [a, b] =
                slots.map(|slot| regs.bytes(slot, 8 * WARP_SIZE).cast::<__m256i>().add(four));
            put(a, _mm256_unpacklo_epi64(even, odd), active);
            put(b, _mm256_unpackhi_epi64(even, odd), active);
        }
    }
}

/// Stores two registers' 64-bit numbers for each lane of `mask`.
///
/// # Safety
/// As [`store_fours`], but the decoder made the slots for 64-bit lanes.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) unsafe fn store_wide_pairs(
    regs: FramePtr,
    slots: [u32; 2],
    mask: u32,
    memory: impl Fn(usize) -> *mut u8,
) {
    for four in 0..8 {
        // SAFETY: The caller's promise; a register of 64-bit lanes has eight vectors.
        let [a, b] = slots.map(|slot| unsafe {
            let from = regs.bytes(slot, 8 * WARP_SIZE).cast::<__m256i>();
            _mm256_loadu_si256(from.add(four))
        });
        let lane = 4 * four;
        // SAFETY: The caller's promise.
        unsafe {
            take_halves(_mm256_unpacklo_epi64(a, b), [lane, lane + 2], mask, &memory);
            take_halves(
                _mm256_unpackhi_epi64(a, b),
                [lane + 1, lane + 3],
                mask,
                &memory,
            );
        }
    }
}

/// By lane, the word that another lane has.
#[target_feature(enable = "avx2")]
#[inline]
pub(in crate::step) fn permuted(
    words: &[u32; WARP_SIZE],
    sources: &[u32; WARP_SIZE],
) -> [u32; WARP_SIZE] {
    // SAFETY: Eight words are 32 bytes.
    let load = |words: &[u32; 8]| unsafe { _mm256_loadu_si256(words.as_ptr().cast()) };
    let (words, sources) = (words.as_chunks::<8>().0, sources.as_chunks::<8>().0);
    let words: [__m256; 4] = std::array::from_fn(|eight| _mm256_castsi256_ps(load(&words[eight])));
    let mut result = [0; WARP_SIZE];
    for (to, from) in result.as_chunks_mut::<8>().0.iter_mut().zip(sources) {
        let from = load(from);
        let [a, b, c, d] = words.map(|words| _mm256_permutevar8x32_ps(words, from));
        // Bits 3 and 4 say which eight.
        let odd = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(from));
        let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(from));
        let (low, high) = (_mm256_blendv_ps(a, b, odd), _mm256_blendv_ps(c, d, odd));
        // SAFETY: Eight words are 32 bytes.
        unsafe { _mm256_storeu_ps(to.as_mut_ptr().cast(), _mm256_blendv_ps(low, high, upper)) };
    }
    result
}

#[cfg(test)]
mod tests {
    use super::permuted;
    use crate::lanes::has_wide_vectors;
    use std::array;

    #[test]
    fn each_lane_gets_its_sources_word() {
        if !has_wide_vectors() {
            return;
        }
        let words: [u32; 32] = array::from_fn(|lane| 0x9E37_79B1_u32.wrapping_mul(lane as u32 + 1));
        for factor in [0, 1, 3, 7, 31] {
            let sources: [u32; 32] = array::from_fn(|lane| (lane as u32 * factor + 5) % 32);
            // SAFETY: This machine has the vectors.
            let got = unsafe { permuted(&words, &sources) };
            assert_eq!(got, sources.map(|source| words[source as usize]));
        }
    }
}

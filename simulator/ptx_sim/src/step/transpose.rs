//! 8×8 matrices of 16-bit elements with their rows for columns: `ldmatrix.trans`,
//! `stmatrix.trans`, and operands of `wgmma` that lie the other way in shared memory.

use crate::numeric::tile::Register;

/// The matrix whose row `i` is in words `4 i` to `4 i + 3`.
#[inline(always)]
pub(super) fn transposed(matrix: &Register) -> Register {
    #[cfg(target_arch = "x86_64")]
    {
        by_vectors(matrix)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        by_elements(matrix)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_vectors(matrix: &Register) -> Register {
    use std::arch::x86_64::*;
    // SAFETY: SSE2 is part of x86-64; each row's four words are 16 bytes.
    unsafe {
        let row = |i: usize| _mm_loadu_si128(matrix[4 * i..4 * i + 4].as_ptr().cast());
        let pairs = |i: usize| {
            let (first, second) = (row(i), row(i + 1));
            let low = _mm_unpacklo_epi16(first, second);
            [low, _mm_unpackhi_epi16(first, second)]
        };
        let quads = |i: usize| {
            let ([a, b], [c, d]) = (pairs(i), pairs(i + 2));
            let (a, ac) = (_mm_unpacklo_epi32(a, c), _mm_unpackhi_epi32(a, c));
            [a, ac, _mm_unpacklo_epi32(b, d), _mm_unpackhi_epi32(b, d)]
        };
        let mut result = [0; 32];
        let columns = result.as_chunks_mut::<8>().0.iter_mut();
        for ((to, upper), lower) in columns.zip(quads(0)).zip(quads(4)) {
            let (first, second) = to.split_at_mut(4);
            _mm_storeu_si128(first.as_mut_ptr().cast(), _mm_unpacklo_epi64(upper, lower));
            _mm_storeu_si128(second.as_mut_ptr().cast(), _mm_unpackhi_epi64(upper, lower));
        }
        result
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn by_elements(matrix: &Register) -> Register {
    let element = |row: usize, column: usize| matrix[4 * row + column / 2] >> (column % 2 * 16);
    std::array::from_fn(|word| {
        let (line, first) = (word / 4, word % 4 * 2);
        element(first, line) & 0xFFFF | element(first + 1, line) << 16
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let matrix: Register = std::array::from_fn(|i| (2 * i + ((2 * i + 1) << 16)) as u32);
        assert_eq!(transposed(&matrix), by_elements(&matrix));
        assert_eq!(transposed(&transposed(&matrix)), matrix);
        assert_eq!(transposed(&matrix)[..2], [8 << 16, 16 | 24 << 16]);
    }
}

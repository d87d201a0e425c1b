//! Arithmetic on the bytes or halves of a word (`vabsdiff2`, `vabsdiff4`).

/// The absolute differences of the words' 2 or 4 parts, cut to a part's width.
pub fn absolute_differences(a: u32, b: u32, parts: u32, signed: bool) -> u32 {
    let bits = 32 / parts;
    let keep = u32::MAX >> (32 - bits);
    (0..parts).fold(0, |result, part| {
        result | (difference(a, b, part, bits, signed) & keep) << (part * bits)
    })
}

/// The sum of the absolute differences of the words' parts.
pub fn sum_of_absolute_differences(a: u32, b: u32, parts: u32, signed: bool) -> u32 {
    let bits = 32 / parts;
    (0..parts)
        .map(|part| difference(a, b, part, bits, signed))
        .sum()
}

fn difference(a: u32, b: u32, part: u32, bits: u32, signed: bool) -> u32 {
    let take = |word: u32| {
        let high = word << (32 - bits * (part + 1));
        if signed {
            i64::from(high as i32 >> (32 - bits))
        } else {
            i64::from(high >> (32 - bits))
        }
    };
    take(a).abs_diff(take(b)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_touch() {
        assert_eq!(
            absolute_differences(0xFF00_80FF, 0x0001_7F00, 4, false),
            0xFF01_01FF
        );
        assert_eq!(
            absolute_differences(0xFF00_80FF, 0x0001_7F00, 4, true),
            0x0101_FF01
        );
        assert_eq!(
            absolute_differences(0x8000_0001, 0x7FFF_0003, 2, true),
            0xFFFF_0002
        );
        assert_eq!(
            sum_of_absolute_differences(0xFF00_0005, 0x0001_0003, 4, false),
            258
        );
    }
}

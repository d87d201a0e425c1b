//! Bit manipulation against loops over single bits.

use proptest::prelude::*;

use super::super::bits::{
    Permute, bfe_s32, bfe_s64, bfe_u32, bfe_u64, bfi_b32, bfi_b64, bfind_s32, bfind_s64, bfind_u32,
    bfind_u64, bmsk, fns, lop3, prmt, shf_left, shf_right, szext,
};
use super::patterns;

fn bit(word: u64, place: u32) -> u64 {
    word >> place & 1
}

/// `bfe` bit by bit; `a` is zero-extended.
fn bfe_by_bits(a: u64, n_bits: u32, start: u32, length: u32, signed: bool) -> u64 {
    let (start, length) = if n_bits == 32 {
        (start & 255, length & 255)
    } else {
        (start, length)
    };
    let sign = if !signed || length == 0 {
        0
    } else {
        bit(a, (start + length - 1).min(n_bits - 1))
    };
    (0..n_bits)
        .map(|i| if i < length && start + i < n_bits { bit(a, start + i) } else { sign } << i)
        .sum()
}

fn bfi_by_bits(field: u64, into: u64, n_bits: u32, start: u32, length: u32) -> u64 {
    let (start, length) = (start & 255, length & 255);
    (0..n_bits)
        .map(|i| if i >= start && i - start < length { bit(field, i - start) } else { bit(into, i) } << i)
        .sum()
}

proptest! {
    #[test]
    fn fields(a in patterns(), b in patterns(), start in 0_u32..300, length in 0_u32..300) {
        prop_assert_eq!(bfe_u64(a, start, length), bfe_by_bits(a, 64, start, length, false));
        prop_assert_eq!(bfe_s64(a as i64, start, length) as u64, bfe_by_bits(a, 64, start, length, true));
        prop_assert_eq!(bfi_b64(a, b, start, length), bfi_by_bits(a, b, 64, start, length));
        let (c, d) = (a & 0xffff_ffff, b & 0xffff_ffff);
        prop_assert_eq!(u64::from(bfe_u32(c as u32, start, length)), bfe_by_bits(c, 32, start, length, false));
        prop_assert_eq!(u64::from(bfe_s32(c as i32, start, length) as u32), bfe_by_bits(c, 32, start, length, true));
        prop_assert_eq!(u64::from(bfi_b32(c as u32, d as u32, start, length)), bfi_by_bits(c, d, 32, start, length));
    }

    #[test]
    fn highest_bit(a in patterns()) {
        let place = |word: u64, n: u32| (0..n).rev().find(|&i| bit(word, i) == 1);
        let check = |found: u32, shift: u32, place: Option<u32>, n: u32| {
            found == place.unwrap_or(u32::MAX) && shift == place.map_or(u32::MAX, |p| n - 1 - p)
        };
        prop_assert!(check(bfind_u64(a, false), bfind_u64(a, true), place(a, 64), 64));
        let signed = if (a as i64) < 0 { !a } else { a };
        prop_assert!(check(bfind_s64(a as i64, false), bfind_s64(a as i64, true), place(signed, 64), 64));
        let b = a as u32;
        prop_assert!(check(bfind_u32(b, false), bfind_u32(b, true), place(b.into(), 32), 32));
        let signed = if (b as i32) < 0 { !b } else { b };
        prop_assert!(check(bfind_s32(b as i32, false), bfind_s32(b as i32, true), place(signed.into(), 32), 32));
    }

    #[test]
    fn nth_set_bit(mask: u32, base in 0_u32..32, offset in -40_i32..40) {
        let mut found = u32::MAX;
        if offset == 0 {
            if mask >> base & 1 == 1 { found = base; }
        } else {
            let (mut place, mut left) = (base as i32, offset.abs() - 1);
            while (0..32).contains(&place) {
                if mask >> place & 1 == 1 {
                    if left == 0 { found = place as u32; break; }
                    left -= 1;
                }
                place += offset.signum();
            }
        }
        prop_assert_eq!(fns(mask, base, offset), found);
    }

    #[test]
    fn masks_and_extensions(a: u32, n in 0_u32..70, start in 0_u32..70) {
        let ones = |start: u32, n: u32| (0..32).filter(|&i| i >= start && i - start < n).fold(0_u32, |m, i| m | 1 << i);
        prop_assert_eq!(bmsk(start, n, false), ones(start, n));
        prop_assert_eq!(bmsk(start, n, true), ones(start % 32, n % 32));
        for (wrap, n) in [(false, n.min(32)), (true, n % 32)] {
            let low = a & ones(0, n);
            let negative = n > 0 && a >> (n - 1) & 1 == 1;
            prop_assert_eq!(szext(a, n, false, wrap), low);
            prop_assert_eq!(szext(a, n, true, wrap), if negative { low | !ones(0, n) } else { low });
        }
    }

    #[test]
    fn funnel_shifts(low: u32, high: u32, count in 0_u32..100) {
        for (wrap, n) in [(false, count.min(32)), (true, count % 32)] {
            let both = u128::from(high) << 32 | u128::from(low);
            prop_assert_eq!(shf_left(low, high, count, wrap), (both << n >> 32) as u32);
            prop_assert_eq!(shf_right(low, high, count, wrap), (both >> n) as u32);
        }
    }

    #[test]
    fn three_input_logic(a: u32, b: u32, c: u32, table: u8) {
        let expected = (0..32).fold(0, |word, i| {
            let row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1;
            word | u32::from(table >> row & 1) << i
        });
        prop_assert_eq!(lop3(a, b, c, table), expected);
    }

    #[test]
    fn permutation_by_index(a: u32, b: u32, selector: u32) {
        let bytes: Vec<u8> = a.to_le_bytes().into_iter().chain(b.to_le_bytes()).collect();
        let expected: Vec<u8> = (0..4).map(|i| {
            let nibble = (selector >> (4 * i) & 15) as usize;
            let byte = bytes[nibble & 7];
            if nibble < 8 { byte } else if byte >= 128 { 255 } else { 0 }
        }).collect();
        prop_assert_eq!(prmt(a, b, selector, Permute::Index).to_le_bytes().to_vec(), expected);
    }
}

/// PTX's table of the special modes: for selectors 0 to 3 the bytes taken,
/// highest first.
#[test]
fn permutation_modes() {
    let table = [
        (Permute::Forward4, ["3210", "4321", "5432", "6543"]),
        (Permute::Backward4, ["5670", "6701", "7012", "0123"]),
        (Permute::Replicate8, ["0000", "1111", "2222", "3333"]),
        (Permute::EdgeLeft, ["3210", "3211", "3222", "3333"]),
        (Permute::EdgeRight, ["0000", "1110", "2210", "3210"]),
        (Permute::Replicate16, ["1010", "3232", "1010", "3232"]),
    ];
    for (mode, rows) in table {
        for (selector, row) in rows.iter().enumerate() {
            let found = prmt(0x0302_0100, 0x0706_0504, selector as u32 | 0xfff0, mode);
            let digits: String = found.to_be_bytes().iter().map(|b| b.to_string()).collect();
            assert_eq!(&digits, row, "{mode:?} {selector}");
        }
    }
}

//! Integer arithmetic against 128-bit arithmetic.

use proptest::prelude::*;

use super::super::integer::{
    Integer, add_carry_u32, add_carry_u64, dp2a, dp4a, each_half, mul24_hi_s32, mul24_hi_u32,
    mul24_lo_s32, mul24_lo_u32, sub_carry_u32, sub_carry_u64,
};
use super::patterns;

/// The properties of [`Integer`] for one type, against `i128`.
macro_rules! width {
    ($name:ident, $t:ty) => {
        proptest! {
            #[test]
            fn $name(a in patterns(), b in patterns(), c in patterns(), count in 0_u32..300) {
                let (a, b, c) = (a as $t, b as $t, c as $t);
                // Modulo 2^128, which is all that the results keep.
                let (x, y) = (a as i128, b as i128);
                prop_assert_eq!(a.mul_wide(b) as u128, x.wrapping_mul(y) as u128 & (u128::MAX >> (128 - 2 * <$t>::BITS) | if <$t>::MIN == 0 { 0 } else { u128::MAX }));
                prop_assert_eq!(a.mul_hi(b), (a.mul_wide(b) as i128 >> <$t>::BITS) as $t);
                let by_hand = if x < y { y - x } else { x - y };
                prop_assert_eq!(a.sad(b, c), c.wrapping_add(by_hand as $t));
                if y != 0 {
                    prop_assert_eq!(a.quotient(b), (x / y) as $t);
                    prop_assert_eq!(a.remainder(b), (x % y) as $t);
                } else {
                    prop_assert_eq!(a.quotient(b), !0);
                    prop_assert_eq!(a.remainder(b), !0);
                }
                prop_assert_eq!(a.shift_left(count), (x << count.min(127)) as $t * <$t>::from(count < <$t>::BITS));
                prop_assert_eq!(a.shift_right(count), (x >> count.min(127)) as $t);
            }
        }
    };
}

width!(u16_against_i128, u16);
width!(s16_against_i128, i16);
width!(u32_against_i128, u32);
width!(s32_against_i128, i32);
width!(u64_against_i128, u64);
width!(s64_against_i128, i64);

#[test]
fn the_most_negative_number() {
    assert_eq!(i32::MIN.quotient(-1), i32::MIN);
    assert_eq!(i32::MIN.remainder(-1), 0);
    assert_eq!(i32::MIN.sad(i32::MAX, 0), -1);
    assert_eq!(i64::MIN.mul_hi(i64::MIN), 1 << 62);
    assert_eq!(i32::MIN.shift_right(32), -1);
}

proptest! {
    #[test]
    fn carries(a in patterns(), b in patterns(), carry: bool) {
        let (x, y, k) = (i128::from(a), i128::from(b), i128::from(carry));
        let (sum, out) = add_carry_u64(a, b, carry);
        prop_assert_eq!(i128::from(sum) + (i128::from(out) << 64), x + y + k);
        // A carry in is nothing borrowed, and so is a carry out.
        let (difference, out) = sub_carry_u64(a, b, carry);
        prop_assert_eq!(i128::from(difference) - (i128::from(!out) << 64), x - y - (1 - k));
        let (a, b) = (a as u32, b as u32);
        let (x, y, k) = (i64::from(a), i64::from(b), i64::from(carry));
        let (sum, out) = add_carry_u32(a, b, carry);
        prop_assert_eq!(i64::from(sum) + (i64::from(out) << 32), x + y + k);
        // A carry in is nothing borrowed, and so is a carry out.
        let (difference, out) = sub_carry_u32(a, b, carry);
        prop_assert_eq!(i64::from(difference) - (i64::from(!out) << 32), x - y - (1 - k));
    }

    #[test]
    fn products_of_24_bits(a in any::<u32>(), b in any::<u32>()) {
        let product = u64::from(a % (1 << 24)) * u64::from(b % (1 << 24));
        prop_assert_eq!(mul24_lo_u32(a, b), product as u32);
        prop_assert_eq!(mul24_hi_u32(a, b), (product >> 16) as u32);
        let signed = |x: u32| {
            let low = i64::from(x % (1 << 24));
            if low >= 1 << 23 { low - (1 << 24) } else { low }
        };
        let product = signed(a) * signed(b);
        prop_assert_eq!(mul24_lo_s32(a as i32, b as i32), product as i32);
        prop_assert_eq!(mul24_hi_s32(a as i32, b as i32), (product >> 16) as i32);
    }

    #[test]
    fn dot_products(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) {
        let number = |byte: u8, signed: bool| if signed { i64::from(byte as i8) } else { i64::from(byte) };
        let (x, y) = (a.to_le_bytes(), b.to_le_bytes());
        let four: i64 = (0..4).map(|i| number(x[i], a_signed) * number(y[i], b_signed)).sum();
        prop_assert_eq!(dp4a(a, a_signed, b, b_signed, c), c.wrapping_add(four as u32));
        for (high, first) in [(false, 0), (true, 2)] {
            let half = |i: usize| {
                let half = u16::from_le_bytes([x[2 * i], x[2 * i + 1]]);
                if a_signed { i64::from(half as i16) } else { i64::from(half) }
            };
            let two: i64 = (0..2).map(|i| half(i) * number(y[first + i], b_signed)).sum();
            prop_assert_eq!(dp2a(a, a_signed, b, b_signed, c, high), c.wrapping_add(two as u32));
        }
    }
}

#[test]
fn halves_do_not_disturb_each_other() {
    assert_eq!(
        each_half(0xffff_ffff, 0x0001_0002, u16::wrapping_add),
        0x0000_0001
    );
}

//! Integer arithmetic.
//!
//! Plain `add`, `sub`, `mul.lo`, `neg`, `abs`, `min` and `max` are Rust's
//! `wrapping_*` and `Ord`, and `add.sat.s32` is `saturating_add`. Division by
//! zero has no result in PTX; [`Integer::quotient`] says what the result is here.

/// The integer types that PTX arithmetic works on: 16, 32 and 64 bits.
pub trait Integer: Copy + Ord {
    /// Twice as wide, same sign.
    type Wide;

    /// `mul.hi`: the upper half of the product.
    fn mul_hi(self, other: Self) -> Self;

    /// `mul.wide` (16 and 32 bits in PTX): the whole product.
    fn mul_wide(self, other: Self) -> Self::Wide;

    /// `div`. By zero all ones, as NVIDIA hardware gives (PTX leaves it
    /// open); `MIN / -1` is `MIN`.
    fn quotient(self, divisor: Self) -> Self;

    /// `rem`, with the dividend's sign. By zero all ones, as NVIDIA hardware
    /// gives (PTX leaves it open); `MIN % -1` is 0.
    fn remainder(self, divisor: Self) -> Self;

    /// `sad`: `addend + |self - other|`.
    fn sad(self, other: Self, addend: Self) -> Self;

    /// `shl`: a count of the width or more gives 0.
    fn shift_left(self, count: u32) -> Self;

    /// `shr`: a count of the width or more leaves the sign everywhere
    /// (signed) or 0.
    fn shift_right(self, count: u32) -> Self;
}

macro_rules! integer {
    ($($narrow:ty => $wide:ty),*) => {$(
        impl Integer for $narrow {
            type Wide = $wide;

            #[inline]
            fn mul_hi(self, other: Self) -> Self {
                (self.mul_wide(other) >> Self::BITS) as Self
            }

            #[inline]
            fn mul_wide(self, other: Self) -> $wide {
                <$wide>::from(self) * <$wide>::from(other)
            }

            #[inline]
            fn quotient(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_div(divisor) }
            }

            #[inline]
            fn remainder(self, divisor: Self) -> Self {
                if divisor == 0 { !0 } else { self.wrapping_rem(divisor) }
            }

            #[inline]
            fn sad(self, other: Self, addend: Self) -> Self {
                addend.wrapping_add(self.abs_diff(other) as Self)
            }

            #[inline]
            fn shift_left(self, count: u32) -> Self {
                if count < Self::BITS { self << count } else { 0 }
            }

            #[inline]
            fn shift_right(self, count: u32) -> Self {
                let last = Self::BITS - 1;
                if count <= last { self >> count } else { (self >> last) >> 1 }
            }
        }
    )*};
}

integer!(u16 => u32, i16 => i32, u32 => u64, i32 => i64, u64 => u128, i64 => i128);

/// `add.cc`, `addc`: the sum and the carry out.
#[inline]
pub fn add_carry_u32(a: u32, b: u32, carry_in: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry_in);
    (sum as u32, sum >> 32 != 0)
}

/// [`add_carry_u32`] for 64 bits.
#[inline]
pub fn add_carry_u64(a: u64, b: u64, carry_in: bool) -> (u64, bool) {
    let (sum, carry_a) = a.overflowing_add(b);
    let (sum, carry_b) = sum.overflowing_add(u64::from(carry_in));
    (sum, carry_a || carry_b)
}

/// `sub.cc`, `subc`: the difference and the carry out. On the hardware a subtraction is
/// `a + !b + carry_in`, so that a carry means that nothing was borrowed; PTX's text says
/// otherwise: there `CC.CF` holds the borrow. `sub.cc` has a carry in.
#[inline]
pub fn sub_carry_u32(a: u32, b: u32, carry_in: bool) -> (u32, bool) {
    add_carry_u32(a, !b, carry_in)
}

/// [`sub_carry_u32`] for 64 bits.
#[inline]
pub fn sub_carry_u64(a: u64, b: u64, carry_in: bool) -> (u64, bool) {
    add_carry_u64(a, !b, carry_in)
}

/// The 48-bit product of the lower 24 bits, unsigned.
#[inline]
fn product24_u32(a: u32, b: u32) -> u64 {
    u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff)
}

/// The 48-bit product of the lower 24 bits, signed.
#[inline]
fn product24_s32(a: i32, b: i32) -> i64 {
    i64::from(a << 8 >> 8) * i64::from(b << 8 >> 8)
}

/// `mul24.lo.u32`: bits 0 to 31 of the 48-bit product.
#[inline]
pub fn mul24_lo_u32(a: u32, b: u32) -> u32 {
    product24_u32(a, b) as u32
}

/// `mul24.hi.u32`: bits 16 to 47 of the 48-bit product.
#[inline]
pub fn mul24_hi_u32(a: u32, b: u32) -> u32 {
    (product24_u32(a, b) >> 16) as u32
}

/// `mul24.lo.s32`: bits 0 to 31 of the 48-bit product.
#[inline]
pub fn mul24_lo_s32(a: i32, b: i32) -> i32 {
    product24_s32(a, b) as i32
}

/// `mul24.hi.s32`: bits 16 to 47 of the 48-bit product.
#[inline]
pub fn mul24_hi_s32(a: i32, b: i32) -> i32 {
    (product24_s32(a, b) >> 16) as i32
}

/// Byte `index` of a word, as a number.
#[inline]
fn byte(word: u32, index: u32, is_signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if is_signed {
        i32::from(byte as i8)
    } else {
        i32::from(byte)
    }
}

/// 16-bit half `index` of a word, as a number.
#[inline]
fn half(word: u32, index: u32, is_signed: bool) -> i32 {
    let half = (word >> (16 * index)) as u16;
    if is_signed {
        i32::from(half as i16)
    } else {
        i32::from(half)
    }
}

/// `dp4a`: `c` plus the dot product of four bytes with four bytes. `c` is
/// 32 bits of either sign; the sum wraps.
#[inline]
pub fn dp4a(a: u32, a_signed: bool, b: u32, b_signed: bool, c: u32) -> u32 {
    (0..4).fold(c, |sum, i| {
        sum.wrapping_add((byte(a, i, a_signed) * byte(b, i, b_signed)) as u32)
    })
}

/// `dp2a.lo` and `dp2a.hi`: `c` plus the dot product of the two halves of `a`
/// with the lower or upper two bytes of `b`.
#[inline]
pub fn dp2a(a: u32, a_signed: bool, b: u32, b_signed: bool, c: u32, use_high_bytes: bool) -> u32 {
    let first = if use_high_bytes { 2 } else { 0 };
    (0..2).fold(c, |sum, i| {
        sum.wrapping_add(half(a, i, a_signed).wrapping_mul(byte(b, first + i, b_signed)) as u32)
    })
}

/// A packed operation on the two halves of a word: `add.u16x2`, `max.s16x2` and similar.
#[inline]
pub fn each_half(a: u32, b: u32, operation: impl Fn(u16, u16) -> u16) -> u32 {
    let low = operation(a as u16, b as u16);
    let high = operation((a >> 16) as u16, (b >> 16) as u16);
    u32::from(low) | u32::from(high) << 16
}

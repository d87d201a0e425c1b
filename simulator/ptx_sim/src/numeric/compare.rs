//! Order: `min` and `max`; and the properties that `testp` tests.

use super::float::{Float, abs};

/// What `min` and `max` make of a NaN, and of signs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extremum {
    /// `.NaN`: a NaN operand makes the result a NaN; without it, the other
    /// operand is the result.
    pub propagates_nan: bool,
    /// `.xorsign.abs`: compares magnitudes; the sign is that of the product.
    pub xor_sign: bool,
}

/// `min`; -0 is less than +0.
#[inline]
pub fn min<F: Float>(a: F, b: F, rule: Extremum) -> F {
    extremum(a, b, rule, |a, b| a < b)
}

/// `max`; -0 is less than +0.
#[inline]
pub fn max<F: Float>(a: F, b: F, rule: Extremum) -> F {
    extremum(a, b, rule, |a, b| a > b)
}

/// The operand whose place in the order of numbers `wins`.
#[inline]
fn extremum<F: Float>(a: F, b: F, rule: Extremum, wins: impl Fn(i64, i64) -> bool) -> F {
    let nan = F::nan_result(&[b, a]);
    let (x, y) = if rule.xor_sign {
        (abs(a), abs(b))
    } else {
        (a, b)
    };
    let chosen = match (x.is_not_a_number(), y.is_not_a_number()) {
        (true, true) => return nan,
        (true, false) | (false, true) if rule.propagates_nan => return nan,
        (true, false) => y,
        (false, true) => x,
        (false, false) => {
            if wins(rank(x), rank(y)) {
                x
            } else {
                y
            }
        }
    };
    if !rule.xor_sign {
        return chosen;
    }
    let sign = (a.bits() ^ b.bits()) & F::FORMAT.sign_mask();
    F::of_bits(chosen.bits() | sign)
}

/// The place of a number among all numbers of its format, -0 before +0.
#[inline]
fn rank<F: Float>(a: F) -> i64 {
    let magnitude = a.magnitude() as i64;
    if a.has_sign() {
        -1 - magnitude
    } else {
        magnitude
    }
}

/// What `testp` asks.
#[allow(missing_docs)] // Named as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

impl Property {
    /// `testp`. Zeros count as normal.
    #[inline]
    pub fn holds<F: Float>(self, a: F) -> bool {
        let (magnitude, format) = (a.magnitude(), F::FORMAT);
        match self {
            Self::Finite => magnitude < format.infinity(),
            Self::Infinite => magnitude == format.infinity(),
            Self::Number => magnitude <= format.infinity(),
            Self::NotANumber => magnitude > format.infinity(),
            Self::Normal => {
                magnitude == 0
                    || magnitude >= format.smallest_normal() && magnitude < format.infinity()
            }
            Self::Subnormal => magnitude > 0 && magnitude < format.smallest_normal(),
        }
    }
}

//! Order: `min`, `max`, comparisons, and the properties that `testp` tests.

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

/// A comparison of floating-point numbers, `setp` and `set`.
#[allow(missing_docs)] // Named as in PTX; `…u` is true where either is a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatComparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    /// Neither is a NaN.
    Num,
    /// Either is a NaN.
    Nan,
}

impl FloatComparison {
    /// Reads a comparison's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "lt" => Self::Lt,
            "le" => Self::Le,
            "gt" => Self::Gt,
            "ge" => Self::Ge,
            "equ" => Self::Equ,
            "neu" => Self::Neu,
            "ltu" => Self::Ltu,
            "leu" => Self::Leu,
            "gtu" => Self::Gtu,
            "geu" => Self::Geu,
            "num" => Self::Num,
            "nan" => Self::Nan,
            _ => return None,
        })
    }

    /// Compares.
    #[inline]
    pub fn holds<F: Float>(self, a: F, b: F) -> bool {
        let is_unordered = a.is_not_a_number() || b.is_not_a_number();
        // The two zeros are equal.
        let place = |x: F| if x.magnitude() == 0 { 0 } else { rank(x) };
        let (x, y) = (place(a), place(b));
        match self {
            Self::Eq => !is_unordered && x == y,
            Self::Ne => !is_unordered && x != y,
            Self::Lt => !is_unordered && x < y,
            Self::Le => !is_unordered && x <= y,
            Self::Gt => !is_unordered && x > y,
            Self::Ge => !is_unordered && x >= y,
            Self::Equ => is_unordered || x == y,
            Self::Neu => is_unordered || x != y,
            Self::Ltu => is_unordered || x < y,
            Self::Leu => is_unordered || x <= y,
            Self::Gtu => is_unordered || x > y,
            Self::Geu => is_unordered || x >= y,
            Self::Num => !is_unordered,
            Self::Nan => is_unordered,
        }
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
    /// Reads a property's name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "finite" => Self::Finite,
            "infinite" => Self::Infinite,
            "number" => Self::Number,
            "notanumber" => Self::NotANumber,
            "normal" => Self::Normal,
            "subnormal" => Self::Subnormal,
            _ => return None,
        })
    }

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

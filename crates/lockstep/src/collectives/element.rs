//! Types of values that collective calls combine, and operators.

use cuda_std::half::{bf16, f16};
use cuda_std::launch::DeviceCopy;
use std::ffi::c_int;
use std::fmt;

/// A value that collective calls can add and compare: integers of 8, 32 and 64 bits, `f16`,
/// `bf16`, `f32` and `f64`. Simulators round the sum of each two `f16` or `bf16`.
pub trait Element: DeviceCopy + private::Number {}

/// How the values of all ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// Their sum; that of integers wraps around.
    Sum,
    /// Their product.
    Product,
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl Operator {
    /// `ncclRedOp_t`.
    pub(super) fn number(self) -> c_int {
        match self {
            Self::Sum => 0,
            Self::Product => 1,
            Self::Max => 2,
            Self::Min => 3,
        }
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Max => "max",
            Self::Min => "min",
        })
    }
}

pub(super) mod private {
    use super::Operator;
    use std::ffi::c_int;

    /// What the trait needs, and users do not.
    pub trait Number: Sized {
        /// `ncclDataType_t`.
        const TYPE: c_int;
        /// Its name in Rust.
        const NAME: &'static str;
        /// Two values, one of them as bytes, made one, as bytes.
        fn combine(operator: Operator, to: &mut [u8], with: &[u8]);
    }
}

macro_rules! elements {
    ($($type:ty, $number:literal, $add:expr, $multiply:expr;)*) => {$(
        impl Element for $type {}

        impl private::Number for $type {
            const TYPE: c_int = $number;
            const NAME: &'static str = stringify!($type);

            fn combine(operator: Operator, to: &mut [u8], with: &[u8]) {
                const SIZE: usize = size_of::<$type>();
                let pairs = to.as_chunks_mut::<SIZE>().0.iter_mut().zip(with.as_chunks::<SIZE>().0);
                for (to, with) in pairs {
                    let (a, b) = (<$type>::from_ne_bytes(*to), <$type>::from_ne_bytes(*with));
                    let both = match operator {
                        Operator::Sum => $add(a, b),
                        Operator::Product => $multiply(a, b),
                        Operator::Max => if b > a { b } else { a },
                        Operator::Min => if b < a { b } else { a },
                    };
                    *to = both.to_ne_bytes();
                }
            }
        }
    )*};
}

elements! {
    i8, 0, i8::wrapping_add, i8::wrapping_mul;
    u8, 1, u8::wrapping_add, u8::wrapping_mul;
    i32, 2, i32::wrapping_add, i32::wrapping_mul;
    u32, 3, u32::wrapping_add, u32::wrapping_mul;
    i64, 4, i64::wrapping_add, i64::wrapping_mul;
    u64, 5, u64::wrapping_add, u64::wrapping_mul;
    f16, 6, |a: f16, b: f16| f16::from_f32(a.to_f32() + b.to_f32()),
        |a: f16, b: f16| f16::from_f32(a.to_f32() * b.to_f32());
    bf16, 9, |a: bf16, b: bf16| bf16::from_f32(a.to_f32() + b.to_f32()),
        |a: bf16, b: bf16| bf16::from_f32(a.to_f32() * b.to_f32());
    f32, 7, |a, b| a + b, |a, b| a * b;
    f64, 8, |a, b| a + b, |a, b| a * b;
}

//! Arithmetic on the bytes of buffers: each step is rounded to the elements' type, as on a GPU, in
//! the order of the ranks.

use half::{bf16, f16};

use crate::float8::{E4M3, E5M2, Float8};
use crate::types::{DataType, Operator};

/// An element.
trait Element: Copy {
    const BYTES: usize;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
    fn sum(self, other: Self) -> Self;
    fn product(self, other: Self) -> Self;
    fn greatest(self, other: Self) -> Self;
    fn least(self, other: Self) -> Self;
    /// A sum divided by the number of ranks, if this is done at the end.
    fn divided(self, n_ranks: usize) -> Self;
    /// What each rank multiplies its elements by for an average, if this is done at the beginning.
    fn share(n_ranks: usize) -> Option<Self>;
}

macro_rules! load_and_store {
    ($ty:ty) => {
        const BYTES: usize = size_of::<$ty>();
        fn load(bytes: &[u8]) -> Self {
            Self::from_le_bytes(bytes.try_into().expect("as many bytes as an element has"))
        }
        fn store(self, bytes: &mut [u8]) {
            bytes.copy_from_slice(&self.to_le_bytes());
        }
    };
}

macro_rules! integer {
    ($($ty:ty)*) => { $(
        impl Element for $ty {
            load_and_store!($ty);
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }
            fn least(self, other: Self) -> Self {
                self.min(other)
            }
            fn divided(self, n_ranks: usize) -> Self {
                // In a wider type: a small one may not hold the number of ranks.
                (i128::from(self) / n_ranks as i128) as $ty
            }
            fn share(_: usize) -> Option<Self> {
                None
            }
        }
    )* };
}

integer!(i8 u8 i32 u32 i64 u64);

macro_rules! float {
    ($($ty:ty, $from:expr;)*) => { $(
        impl Element for $ty {
            load_and_store!($ty);
            fn sum(self, other: Self) -> Self {
                self + other
            }
            fn product(self, other: Self) -> Self {
                self * other
            }
            fn greatest(self, other: Self) -> Self {
                self.max(other)
            }
            fn least(self, other: Self) -> Self {
                self.min(other)
            }
            fn divided(self, _: usize) -> Self {
                self
            }
            fn share(n_ranks: usize) -> Option<Self> {
                Some($from(1.0 / n_ranks as f64))
            }
        }
    )* };
}

float! {
    f32, |x: f64| x as f32;
    f64, |x: f64| x;
    f16, |x: f64| f16::from_f32(x as f32);
    bf16, |x: f64| bf16::from_f32(x as f32);
}

impl<const E: u32> Float8<E> {
    fn by(self, other: Self, compute: fn(f16, f16) -> f16) -> Self {
        Self::from_f32(compute(self.to_f16(), other.to_f16()).to_f32())
    }
}

impl<const E: u32> Element for Float8<E> {
    const BYTES: usize = 1;
    fn load(bytes: &[u8]) -> Self {
        Self(bytes[0])
    }
    fn store(self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }
    fn sum(self, other: Self) -> Self {
        self.by(other, |a, b| a + b)
    }
    fn product(self, other: Self) -> Self {
        self.by(other, |a, b| a * b)
    }
    fn greatest(self, other: Self) -> Self {
        self.by(other, f16::max)
    }
    fn least(self, other: Self) -> Self {
        self.by(other, f16::min)
    }
    fn divided(self, _: usize) -> Self {
        self
    }
    fn share(n_ranks: usize) -> Option<Self> {
        Some(Self::from_f32((1.0 / n_ranks as f64) as f32))
    }
}

/// Calls a generic function for a type that is known at run time.
macro_rules! for_type {
    ($kind:expr, $function:ident($($arg:expr),*)) => {
        match $kind {
            DataType::Int8 => $function::<i8>($($arg),*),
            DataType::Uint8 => $function::<u8>($($arg),*),
            DataType::Int32 => $function::<i32>($($arg),*),
            DataType::Uint32 => $function::<u32>($($arg),*),
            DataType::Int64 => $function::<i64>($($arg),*),
            DataType::Uint64 => $function::<u64>($($arg),*),
            DataType::Float16 => $function::<f16>($($arg),*),
            DataType::Float32 => $function::<f32>($($arg),*),
            DataType::Float64 => $function::<f64>($($arg),*),
            DataType::Bfloat16 => $function::<bf16>($($arg),*),
            DataType::Float8e4m3 => $function::<E4M3>($($arg),*),
            DataType::Float8e5m2 => $function::<E5M2>($($arg),*),
        }
    };
}

/// Combines the ranks' buffers, in the order of the ranks.
pub fn combine(kind: DataType, operator: Operator, buffers: &[&[u8]]) -> Vec<u8> {
    for_type!(kind, combine_elements(operator, buffers))
}

fn combine_elements<T: Element>(operator: Operator, buffers: &[&[u8]]) -> Vec<u8> {
    let mut result = buffers.first().map(|first| first.to_vec());
    let mut result = result.take().unwrap_or_default();
    let rest = buffers.iter().skip(1);
    match operator {
        Operator::Prod => rest.for_each(|other| each::<T>(&mut result, other, T::product)),
        Operator::Max => rest.for_each(|other| each::<T>(&mut result, other, T::greatest)),
        Operator::Min => rest.for_each(|other| each::<T>(&mut result, other, T::least)),
        Operator::Sum | Operator::Avg | Operator::PreMulSum => {
            rest.for_each(|other| each::<T>(&mut result, other, T::sum));
        }
    }
    if operator == Operator::Avg {
        for element in result.chunks_exact_mut(T::BYTES) {
            T::load(element).divided(buffers.len()).store(element);
        }
    }
    result
}

fn each<T: Element>(result: &mut [u8], other: &[u8], compute: impl Fn(T, T) -> T) {
    let elements = result.chunks_exact_mut(T::BYTES);
    for (a, b) in elements.zip(other.chunks_exact(T::BYTES)) {
        compute(T::load(a), T::load(b)).store(a);
    }
}

/// Multiplies a rank's elements by its own number, whose bytes are given.
pub fn scale(kind: DataType, by: &[u8], bytes: &mut [u8]) {
    for_type!(kind, scale_elements(by, bytes));
}

fn scale_elements<T: Element>(by: &[u8], bytes: &mut [u8]) {
    let by = T::load(&by[..T::BYTES]);
    for element in bytes.chunks_exact_mut(T::BYTES) {
        T::load(element).product(by).store(element);
    }
}

/// What a rank multiplies its elements by for an average, if it does: integers are divided at the
/// end.
pub fn share(kind: DataType, n_ranks: usize) -> Option<[u8; 8]> {
    for_type!(kind, share_of(n_ranks))
}

fn share_of<T: Element>(n_ranks: usize) -> Option<[u8; 8]> {
    let mut bytes = [0; 8];
    T::share(n_ranks)?.store(&mut bytes[..T::BYTES]);
    Some(bytes)
}

//! Arrays of numbers: their types, and how they are filled.

use half::f16;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Deserializer};

/// A type of numbers, by its name in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Number {
    /// 32-bit float.
    F32,
    /// 16-bit float.
    F16,
    /// 64-bit float.
    F64,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 64 bits.
    U64,
    /// Unsigned, 8 bits.
    U8,
}

impl Number {
    /// Size in bytes.
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::F64 | Self::U64 => 8,
            Self::F32 | Self::U32 | Self::I32 => 4,
            Self::F16 => 2,
            Self::U8 => 1,
        }
    }

    /// The value of each byte of an output before a launch. Floats are then NaN, which is close to
    /// nothing; whole numbers are unlikely to be a result.
    pub const fn poison(self) -> u8 {
        match self {
            Self::F32 | Self::F16 | Self::F64 => 0xFF,
            Self::U32 | Self::I32 | Self::U64 | Self::U8 => 0xA5,
        }
    }

    /// The bytes of a value, rounded or wrapped to this type.
    pub fn bytes_of(self, value: f64) -> Vec<u8> {
        match self {
            Self::F32 => (value as f32).to_le_bytes().to_vec(),
            Self::F16 => f16::from_f64(value).to_le_bytes().to_vec(),
            Self::F64 => value.to_le_bytes().to_vec(),
            Self::U32 => (value as u32).to_le_bytes().to_vec(),
            Self::I32 => (value as i32).to_le_bytes().to_vec(),
            Self::U64 => (value as u64).to_le_bytes().to_vec(),
            Self::U8 => vec![value as u8],
        }
    }

    /// The value of an element's bytes, and how it is written.
    pub fn read(self, bytes: &[u8]) -> (f64, String) {
        macro_rules! number {
            ($type:ty) => {{
                let value = <$type>::from_le_bytes(bytes.try_into().expect("an element's bytes"));
                (value as f64, value.to_string())
            }};
        }
        match self {
            Self::F32 => number!(f32),
            Self::F64 => number!(f64),
            Self::U32 => number!(u32),
            Self::I32 => number!(i32),
            Self::U64 => number!(u64),
            Self::U8 => number!(u8),
            Self::F16 => {
                let value = f16::from_le_bytes(bytes.try_into().expect("an element's bytes"));
                (value.to_f64(), value.to_string())
            }
        }
    }
}

/// How an array is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// All the same.
    Constant(f64),
    /// Random, from the first to below the second.
    Uniform(f64, f64),
    /// Random whole numbers, from the first to below the second.
    Integers(i64, i64),
    /// Each element is its index.
    Index,
    /// All indices, in random order.
    Permutation,
}

const FILLS: &str = "`constant(0)`, `uniform(-1, 1)`, `integers(0, 100)`, `index`, `permutation`";

impl Fill {
    /// Reads a fill.
    ///
    /// # Errors
    ///
    /// The text is not a fill.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a way to fill an array; the ways are {FILLS}");
        let (name, arguments) = match text.split_once('(') {
            None => (text.trim(), Vec::new()),
            Some((name, rest)) => {
                let inner = rest.trim_end().strip_suffix(')').ok_or_else(bad)?;
                let numbers = inner.split(',').map(|word| word.trim().parse::<f64>());
                (
                    name.trim(),
                    numbers.collect::<Result<_, _>>().map_err(|_| bad())?,
                )
            }
        };
        match (name, arguments.as_slice()) {
            ("constant", &[value]) => Ok(Self::Constant(value)),
            ("uniform", &[from, to]) if from < to => Ok(Self::Uniform(from, to)),
            ("integers", &[from, to]) if from < to => Ok(Self::Integers(from as i64, to as i64)),
            ("index", []) => Ok(Self::Index),
            ("permutation", []) => Ok(Self::Permutation),
            _ => Err(bad()),
        }
    }

    /// The bytes of `length` elements; the same for the same seed.
    pub fn bytes(self, number: Number, length: usize, seed: u64) -> Vec<u8> {
        let mut random = StdRng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..length).collect();
        if self == Self::Permutation {
            order.shuffle(&mut random);
        }
        let mut value = |index: usize| match self {
            Self::Constant(value) => value,
            Self::Uniform(from, to) => random.random_range(from..to),
            Self::Integers(from, to) => random.random_range(from..to) as f64,
            Self::Index | Self::Permutation => order[index] as f64,
        };
        (0..length)
            .flat_map(|index| number.bytes_of(value(index)))
            .collect()
    }
}

impl<'de> Deserialize<'de> for Fill {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fill, Number};

    fn values(fill: &str, number: Number, length: usize, seed: u64) -> Vec<f64> {
        let bytes = Fill::parse(fill).expect(fill).bytes(number, length, seed);
        let elements = bytes.chunks(number.size_bytes());
        elements.map(|element| number.read(element).0).collect()
    }

    #[test]
    fn fills_are_what_they_say() {
        assert_eq!(values("constant(7)", Number::U8, 3, 0), [7.0; 3]);
        assert_eq!(values("index", Number::F16, 3, 0), [0.0, 1.0, 2.0]);
        let mut all = values("permutation", Number::U32, 100, 1);
        assert_ne!(all, values("index", Number::U32, 100, 1));
        all.sort_by(f64::total_cmp);
        assert_eq!(all, values("index", Number::U32, 100, 1));
        let random = values("uniform(-1, 1)", Number::F32, 100, 1);
        assert!(random.iter().all(|value| (-1.0..=1.0).contains(value)));
        assert_eq!(random, values("uniform(-1, 1)", Number::F32, 100, 1));
        assert_ne!(random, values("uniform(-1, 1)", Number::F32, 100, 2));
        let whole = values("integers(-2, 2)", Number::I32, 100, 1);
        assert!(whole.iter().any(|value| *value == -2.0) && whole.iter().all(|v| *v < 2.0));
    }

    #[test]
    fn what_is_no_fill_is_told_what_is() {
        for text in [
            "",
            "random",
            "uniform(1)",
            "uniform(1, 1)",
            "index(3)",
            "constant(x)",
            "uniform(0, 1",
        ] {
            let error = Fill::parse(text).expect_err(text);
            assert!(error.contains("`permutation`"), "{error}");
        }
    }
}

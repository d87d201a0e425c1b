//! Types of elements, and operators.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::result::{Outcome, ensure};

/// `ncclDataType_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named as in NCCL")]
pub enum DataType {
    Int8,
    Uint8,
    Int32,
    Uint32,
    Int64,
    Uint64,
    Float16,
    Float32,
    Float64,
    Bfloat16,
    Float8e4m3,
    Float8e5m2,
}

impl DataType {
    /// All, by number.
    pub const ALL: [Self; 12] = [
        Self::Int8,
        Self::Uint8,
        Self::Int32,
        Self::Uint32,
        Self::Int64,
        Self::Uint64,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Bfloat16,
        Self::Float8e4m3,
        Self::Float8e5m2,
    ];

    /// The type with this number.
    ///
    /// # Errors
    /// There is none.
    pub fn of(number: i32) -> Outcome<Self> {
        let found = usize::try_from(number).ok();
        let found = found.and_then(|number| Self::ALL.get(number).copied());
        ensure(found.is_some(), format_args!("there is no type {number}"))?;
        Ok(found.unwrap_or(Self::Int8))
    }

    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::Uint8 | Self::Float8e4m3 | Self::Float8e5m2 => 1,
            Self::Float16 | Self::Bfloat16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 8,
        }
    }

    /// Whether it is one of integers.
    pub fn is_integer(self) -> bool {
        (self as usize) < Self::Float16 as usize
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// `ncclRedOp_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operator {
    /// The sum.
    Sum,
    /// The product.
    Prod,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The sum divided by the number of ranks.
    Avg,
    /// The sum of what each rank has multiplied by a number of its own.
    PreMulSum,
}

impl Operator {
    /// Those that every communicator has, by number.
    pub const BUILT_IN: [Self; 5] = [Self::Sum, Self::Prod, Self::Max, Self::Min, Self::Avg];
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

//! `mma` of other shapes and types than 16-bit floats in tiles of 16×8.

use super::slot::Slot;
use crate::numeric::fp8::Small;
use crate::numeric::mma::Accumulator;
use crate::numeric::tensor::{BitProduct, Integers};

/// `mma.sync`. A has `m` rows, B 8 columns, except in [`TensorKind::Quad`].
pub(crate) struct Tensor {
    pub kind: TensorKind,
    /// 8 or 16.
    pub m: usize,
    pub d: Vec<Slot>,
    pub a: Vec<Slot>,
    pub b: Vec<Slot>,
    pub c: Vec<Slot>,
}

/// What is multiplied, and how it is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TensorKind {
    /// `tf32`, summed in `f32`.
    Tf32,
    /// 8-bit floats.
    Small {
        a: Small,
        b: Small,
        accumulator: Accumulator,
    },
    Integers(Integers),
    Bits(BitProduct),
    /// `f64`, in registers of 64 bits.
    Double,
    /// `m8n8k4` of `f16`: four products, of eight lanes each.
    Quad {
        a_by_column: bool,
        b_by_row: bool,
        c: Accumulator,
        d: Accumulator,
    },
}

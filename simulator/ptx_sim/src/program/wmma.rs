//! `wmma.load`, `wmma.store` and `wmma.mma`.

use super::slot::{AddressOperand, Slot};
use crate::numeric::Rounding;
use crate::numeric::mma::{Accumulator, Factor};
use crate::numeric::tensor::{BitProduct, Integers};
use ptx::ir::Space;

/// Rows of A and D, columns of B and D, columns of A and rows of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WmmaShape {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Which matrix a fragment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WmmaMatrix {
    A,
    B,
    /// C or D.
    Sum,
}

impl WmmaShape {
    /// Elements of a matrix, and how many follow each other in the order that
    /// fragments have.
    pub fn size(self, matrix: WmmaMatrix) -> (usize, usize) {
        match matrix {
            WmmaMatrix::A => (self.m * self.k, self.k),
            WmmaMatrix::B => (self.n * self.k, self.k),
            WmmaMatrix::Sum => (self.m * self.n, self.n),
        }
    }
}

/// A fragment: its registers, and the bytes of one element.
pub(crate) struct Fragment {
    pub matrix: WmmaMatrix,
    pub registers: Vec<Slot>,
    pub element_bytes: usize,
}

impl Fragment {
    /// Elements in a register: of 32 bits, or of 64 for an `f64`.
    pub fn packed(&self) -> usize {
        (4 / self.element_bytes).max(1)
    }

    /// Elements that a lane holds.
    pub fn n_elements(&self) -> usize {
        self.registers.len() * self.packed()
    }

    /// One of the elements in a register.
    pub fn part(&self, bits: u32, part: usize) -> u32 {
        let shifted = bits >> (8 * self.element_bytes * part);
        match self.element_bytes {
            1 => shifted & 0xFF,
            2 => shifted & 0xFFFF,
            _ => shifted,
        }
    }
}

/// `wmma.load` or `wmma.store`.
pub(crate) struct WmmaMove {
    pub shape: WmmaShape,
    pub fragment: Fragment,
    pub space: Space,
    pub address: AddressOperand,
    /// Elements from one row (or column) in memory to the next; as many as one
    /// has if not given.
    pub stride: Option<Slot>,
    /// Elements of the stride in one of the fragment, as a power of two: factors of
    /// fewer than 8 bits are moved in words.
    pub stride_shift: u32,
    /// Whether memory has the matrix in the order that fragments have.
    pub along: bool,
}

/// `wmma.mma`
pub(crate) struct WmmaMultiply {
    pub shape: WmmaShape,
    pub kind: WmmaKind,
    pub a: Fragment,
    pub b: Fragment,
    pub c: Fragment,
    pub d: Fragment,
}

/// What is multiplied and how it is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WmmaKind {
    Float {
        factor: Factor,
        c: Accumulator,
        d: Accumulator,
    },
    Bytes {
        a_signed: bool,
        b_signed: bool,
        saturates: bool,
    },
    /// Factors of 4 bits, in words.
    Nibbles(Integers),
    /// Factors of one bit, in words.
    Bits(BitProduct),
    Double(Rounding),
}

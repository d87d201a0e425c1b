//! Instructions on tiles: `ldmatrix`, `stmatrix`, `mma`, and the list of all others.

use super::asynchronous::AsyncCopy;
use super::slot::{AddressOperand, Slot};
use super::tensor::Tensor;
use super::wmma::{WmmaMove, WmmaMultiply};
use crate::lanes::FULL_MASK;
use crate::numeric::mma::{Accumulator, Factor};

/// An instruction on tiles.
pub(crate) enum MatrixOp {
    /// `ldmatrix`
    Load(TileMove),
    /// `stmatrix`
    Store(TileMove),
    /// `mma.sync`
    Multiply(Multiply),
    /// `mma.sync` of other shapes and types
    Tensor(Tensor),
    /// `wmma.load`
    WmmaLoad(WmmaMove),
    /// `wmma.store`
    WmmaStore(WmmaMove),
    /// `wmma.mma`
    WmmaMultiply(WmmaMultiply),
    /// `cp.async`
    Copy(AsyncCopy),
    /// `cp.async.commit_group`
    Commit,
    /// `cp.async.wait_group`: how many of the youngest groups need not have arrived.
    WaitGroup(u32),
    /// `cp.async.wait_all`
    WaitAll,
}

/// `ldmatrix` or `stmatrix`.
pub(crate) struct TileMove {
    /// Where the lanes' row addresses are, in the shared space.
    pub address: AddressOperand,
    /// One register per matrix: 1, 2 or 4.
    pub registers: Vec<Slot>,
    /// `.trans`
    pub transposed: bool,
}

/// Bytes of a matrix's row.
pub(crate) const ROW_BYTES: u32 = 16;

impl TileMove {
    /// The lanes whose addresses count.
    pub fn address_mask(&self) -> u32 {
        FULL_MASK >> (32 - 8 * self.registers.len() as u32)
    }
}

/// K of a shape; M is 16 and N is 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `.m16n8k8`
    K8,
    /// `.m16n8k16`
    K16,
}

impl Shape {
    /// Columns of A, rows of B.
    pub const fn k(self) -> usize {
        match self {
            Self::K8 => 8,
            Self::K16 => 16,
        }
    }
}

/// `mma.sync`
pub(crate) struct Multiply {
    pub factor: Factor,
    pub accumulator: Accumulator,
    pub d: Vec<Slot>,
    pub a: Vec<Slot>,
    pub b: Vec<Slot>,
    pub c: Vec<Slot>,
}

//! Instructions of four warps together: `wgmma`, `setmaxnreg`; and the effects of others on
//! the registers that `wgmma` works on.

use super::slot::{Guard, Slot};
use crate::numeric::wgmma::Kind;

/// An instruction of a warpgroup, or on registers that one may be working on.
pub(crate) enum WarpgroupOp {
    /// `wgmma.mma_async`
    Multiply(Wgmma),
    /// `wgmma.fence`
    Fence,
    /// `wgmma.commit_group`
    Commit,
    /// `wgmma.wait_group`: how many of the youngest groups need not be done.
    Wait(u32),
    /// `setmaxnreg`
    SetRegisters(SetRegisters),
    /// `mov` of a register that may hold a sum: a copy of whole registers gives a sum
    /// another name, like compilers' copies that no GPU executes.
    Carry { d: Slot, a: Slot },
    /// The instruction that follows reads and writes these registers.
    Touch { reads: Vec<Slot>, writes: Vec<Slot> },
}

/// `wgmma.mma_async`: 64 rows by `n` columns.
pub(crate) struct Wgmma {
    pub kind: Kind,
    pub n: u32,
    /// The sums.
    pub d: Vec<Slot>,
    pub a: LeftOperand,
    /// The descriptor of B, 64 bits.
    pub b: Slot,
    /// Whether the sums begin with their values (`scale-d`); else with zero.
    pub keeps: Guard,
    /// Whether A and B are negated.
    pub negated: [bool; 2],
    /// Whether they lie in memory with the rows of A, or the columns of B, as the faster
    /// index.
    pub transposed: [bool; 2],
}

/// Where A is.
pub(crate) enum LeftOperand {
    /// In shared memory, by its descriptor.
    Memory(Slot),
    /// In four registers.
    Registers(Vec<Slot>),
}

impl LeftOperand {
    /// Its registers, if it is in some.
    pub fn registers(&self) -> &[Slot] {
        match self {
            Self::Memory(_) => &[],
            Self::Registers(slots) => slots,
        }
    }
}

/// `setmaxnreg`
#[derive(Clone, Copy)]
pub(crate) struct SetRegisters {
    /// Registers that a thread has afterwards.
    pub n: u32,
    /// `.inc`, not `.dec`.
    pub increases: bool,
}

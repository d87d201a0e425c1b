//! Control flow in a program: branches, calls, barriers.

use super::slot::{BlockId, Guard, Slot};
use ptx::ir::FuncId;

/// Where the lanes of a block go.
pub(crate) enum Terminator {
    /// All to one block.
    Jump(BlockId),
    /// By a predicate.
    Branch {
        /// Lanes for which it holds go to `taken`.
        guard: Guard,
        taken: BlockId,
        other: BlockId,
        /// Where both meet again.
        join: Option<BlockId>,
    },
    /// By an index.
    Switch {
        index: Slot,
        targets: Vec<BlockId>,
        join: Option<BlockId>,
    },
    /// Back to the caller; in an entry, the threads end.
    Return,
    /// The threads end.
    Exit,
    /// The kernel gives up.
    Trap,
    /// A call.
    Call(Box<Call>),
    /// A block barrier.
    Barrier(Box<Barrier>),
    /// The barrier of the cluster.
    ClusterBarrier(Box<ClusterBarrier>),
}

/// A call.
pub(crate) struct Call {
    pub target: CallTarget,
    pub arguments: Vec<Argument>,
    pub returns: Vec<Argument>,
    /// Where execution goes on; `None` where the callee does not return.
    pub next: Option<BlockId>,
}

/// What is called.
pub(crate) enum CallTarget {
    Function(FuncId),
    /// A function's address in a 64-bit register.
    Pointer(Slot),
    /// A function that the simulator provides.
    External(String),
}

/// An argument or return value.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// Bytes of the caller's local memory.
    Memory { offset: u32, bytes: u32 },
    /// A register of the caller.
    Register { slot: Slot, bytes: u32 },
    /// A number, of 64 bits, passed through a pointer: as wide as the parameter is.
    Number { slot: Slot },
}

/// What a barrier does besides waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    And,
    Or,
    PopCount,
}

/// `bar` or `barrier`.
pub(crate) struct Barrier {
    pub kind: BarrierKind,
    /// All lanes of the warp must be there (`bar`, `barrier….aligned`).
    pub aligned: bool,
    /// Barrier number, in a 32-bit register.
    pub id: Slot,
    /// Threads to wait for; all of the block where absent.
    pub threads: Option<Slot>,
    /// Source predicate of a reduction.
    pub source: Option<Guard>,
    /// Its destination: a predicate, or a register for `popc`.
    pub d: Option<Slot>,
    pub next: BlockId,
}

/// `barrier.cluster`
pub(crate) struct ClusterBarrier {
    /// `.arrive`; else it waits.
    pub arrives: bool,
    /// Whether an arrival lets others know what was done before.
    pub releases: bool,
    /// All lanes of the warp must be there (`.aligned`).
    pub aligned: bool,
    pub next: BlockId,
}

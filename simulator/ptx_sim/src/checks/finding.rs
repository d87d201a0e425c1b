//! The findings of the checks.
//!
//! Findings name instructions and threads by number; `launch::findings` looks up
//! their places when one is reported.

use super::access::WarpAccess;
use crate::diagnostics::AccessKind;
use ptx::ir::Space;

/// One thread at one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// The instruction's number in the launch.
    pub instruction: u32,
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
    /// What it did to memory, if anything.
    pub kind: AccessKind,
}

/// Where an access was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The space: global, shared or local.
    pub space: Space,
    /// The address in it.
    pub address: u64,
    /// Bytes of the access.
    pub bytes: u32,
    /// For shared memory, the number of the block that owns it.
    pub owner: u64,
}

impl Spot {
    /// Of one lane.
    pub fn of(access: &WarpAccess<'_>, lane: usize) -> Self {
        Self {
            space: access.space,
            address: access.addresses[lane],
            bytes: access.bytes,
            owner: access.owner,
        }
    }
}

/// A defect.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    /// Two unordered accesses, at least one of which writes.
    Race { at: Spot, this: Side, other: Side },
    /// A load that assumes constant memory, of what the kernel wrote.
    NotConstant { at: Spot, this: Side, other: Side },
    /// An integer division by zero.
    DivisionByZero { this: Side },
    /// A read of unwritten memory.
    Unwritten { at: Spot, this: Side },
    /// An access to bytes that an asynchronous copy may still write or, where
    /// this one writes, may still read.
    InFlight {
        at: Spot,
        this: Side,
        copy: Side,
        /// Whether it may be reading, rather than writing.
        is_reading: bool,
    },
    /// An access to memory that others may still work on.
    Pending { at: Spot, this: Side, met: Met },
    /// A block ends while a bulk copy may still write, or read, its shared memory.
    OutlivesBlock { this: Side, is_reading: bool },
    /// An access to another block's shared memory that nothing orders before the end of
    /// that block.
    MayHaveEnded { at: Spot, this: Side },
    /// A read or write through the async proxy of what a thread stored, with no proxy fence
    /// between.
    MissingProxyFence { at: Spot, this: Side, store: Side },
    /// A bulk copy counted by a barrier that its thread has initialised and not published.
    UnpublishedBarrier { this: Side, init: Side },
    /// An access to what an operation of the async proxy may still write or, where this one
    /// writes, may still read.
    AsyncInFlight {
        at: Spot,
        this: Side,
        operation: Side,
        operation_writes: bool,
    },
    /// A register that a product in flight works on is read or written.
    RegisterInFlight {
        this: Side,
        writes: bool,
        product: Side,
    },
    /// A product works on a register that was written after the last fence, or there was
    /// no fence at all.
    MissingProductFence { this: Side, write: Option<Side> },
    /// A product adds to sums in flight of another shape.
    OtherShape { this: Side, product: Side },
    /// Registers are given to warps of a kernel that does not say how many it has.
    UnknownRegisters { this: Side },
    /// A shuffle from a lane that does not take part, whose value is used.
    AbsentSource {
        this: Side,
        source: u32,
        present: u32,
        user: Side,
    },
    /// Lanes that name each other give different masks.
    DifferentMasks {
        this: Side,
        members: u32,
        other_lane: u32,
        other_members: u32,
    },
    /// Threads of a block meet at one barrier through different instructions.
    DifferentBarriers {
        barrier: u32,
        this: Side,
        other: Side,
    },
    /// Threads come to one barrier with different counts.
    DifferentCounts {
        barrier: u32,
        this: Side,
        threads: Option<u32>,
        other: Side,
        other_threads: Option<u32>,
    },
}

/// Work that others do on the same memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    /// Which of the launch's pending work.
    pub work: u32,
    /// Whether that writes there.
    pub writes: bool,
}

impl Finding {
    /// The same in another block's shared memory.
    pub fn in_memory_of(mut self, owner: u64) -> Self {
        if let Self::MissingProxyFence { at, .. }
        | Self::AsyncInFlight { at, .. }
        | Self::InFlight { at, .. } = &mut self
        {
            at.owner = owner;
        }
        self
    }

    /// The thread that it is reported for.
    pub fn this(&self) -> &Side {
        match self {
            Self::Race { this, .. }
            | Self::NotConstant { this, .. }
            | Self::DivisionByZero { this }
            | Self::Unwritten { this, .. }
            | Self::InFlight { this, .. }
            | Self::Pending { this, .. }
            | Self::OutlivesBlock { this, .. }
            | Self::MayHaveEnded { this, .. }
            | Self::MissingProxyFence { this, .. }
            | Self::UnpublishedBarrier { this, .. }
            | Self::AsyncInFlight { this, .. }
            | Self::RegisterInFlight { this, .. }
            | Self::MissingProductFence { this, .. }
            | Self::OtherShape { this, .. }
            | Self::UnknownRegisters { this }
            | Self::AbsentSource { this, .. }
            | Self::DifferentMasks { this, .. }
            | Self::DifferentBarriers { this, .. }
            | Self::DifferentCounts { this, .. } => this,
        }
    }
}

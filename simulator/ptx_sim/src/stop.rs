//! The reason why an instruction was not executed.

use crate::diagnostics::FaultKind;
use crate::program::Unsupported;

/// An instruction was not executed: not yet, or the launch ends. It is two words, so that
/// it fits in registers.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It waits for other lanes of the warp.
    NeedsLanes { members: u32 },
    /// It waits for other warps of its warpgroup, or for registers that others have.
    WaitsForWarps,
    /// The kernel's fault, by this lane.
    Fault { lane: u32, kind: Box<FaultKind> },
    /// A debugger has halted the launch before it.
    Halted,
    /// The host has no memory for it.
    OutOfMemory,
    /// An unknown instruction.
    Unsupported(Box<Unsupported>),
    /// A bug of the simulator.
    Internal(Box<Bug>),
}

/// A bug of the simulator.
#[derive(Debug)]
pub(crate) struct Bug {
    /// What happened.
    pub message: String,
}

const _: () = assert!(size_of::<Stop>() <= 16);

impl Stop {
    /// A fault by the lowest lane of a mask.
    #[cold]
    pub fn fault(mask: u32, kind: FaultKind) -> Self {
        Self::Fault {
            lane: mask.trailing_zeros().min(31),
            kind: Box::new(kind),
        }
    }

    /// An instruction without a meaning here.
    #[cold]
    pub fn unsupported(opcode: &str, reason: impl Into<String>) -> Self {
        Self::Unsupported(Box::new(Unsupported {
            opcode: opcode.to_owned(),
            reason: reason.into(),
            is_known: true,
            column: 0,
            excerpt: String::new(),
        }))
    }

    /// A bug of the simulator.
    #[cold]
    pub fn internal(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::Internal(Box::new(Bug { message }))
    }
}

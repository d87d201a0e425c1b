//! The values that slots have before the first instruction.

use ptx::ir::{FuncId, Special, VarId};

/// A value that a slot has before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Init {
    /// The same bits in every lane; predicates hold all lanes in 4 bytes.
    Constant { bits: u64, bytes: u32 },
    /// A predicate that is the same in every lane.
    Predicate(bool),
    /// A special register; one that is a predicate has no bytes.
    Special { register: Special, bytes: u32 },
    /// The address of a variable.
    Variable {
        id: VarId,
        offset: i64,
        generic: bool,
        bytes: u32,
    },
    /// The address of a local variable or call parameter.
    Local {
        offset: i64,
        generic: bool,
        bytes: u32,
    },
    /// The generic address of an entry's parameter.
    ParamAddress { offset: i64, bytes: u32 },
    /// The value of an entry's parameter: `size` bytes at `offset`, extended
    /// to `bytes`.
    Param {
        offset: u32,
        size: u32,
        signed: bool,
        bytes: u32,
    },
    /// The address of a function.
    Function { id: FuncId, bytes: u32 },
}

impl Init {
    /// Bytes that one lane takes (a predicate's four hold all lanes).
    pub fn bytes(self) -> u32 {
        match self {
            Self::Predicate(_) => 0,
            Self::Constant { bytes, .. }
            | Self::Special { bytes, .. }
            | Self::Variable { bytes, .. }
            | Self::Local { bytes, .. }
            | Self::ParamAddress { bytes, .. }
            | Self::Param { bytes, .. }
            | Self::Function { bytes, .. } => bytes,
        }
    }
}

//! A variable at an instruction: its type, its frame and its place.

use super::types::Type;
use ptx::ir::Space;
use std::fmt;
use std::sync::Arc;

/// A variable in scope.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Whether it is a parameter of its function.
    pub is_parameter: bool,
    /// Its type.
    pub ty: Arc<Type>,
    /// The function that it belongs to.
    pub frame: Arc<Frame>,
    /// Where its value is.
    pub location: Location,
}

/// The function of the source that a variable belongs to: the kernel, or one that was inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its name in the source.
    pub function: String,
    /// How many calls are around it within this function of the PTX.
    pub depth: u32,
    /// The call that it was inlined at: `.file` index, line and column (0 if unknown).
    pub called_at: Option<(u32, u32, u32)>,
}

/// Where a variable's value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In one piece, or in several; what no piece covers is lost.
    Pieces(Vec<Piece>),
    /// Nowhere.
    Lost(Reason),
}

/// Consecutive bytes of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset in the variable, in bytes.
    pub offset: u64,
    /// In bytes.
    pub size: u64,
    /// Where they are.
    pub place: Place,
}

/// Where bytes of a variable are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The low bytes of a register.
    Register(String),
    /// They are these.
    Constant(Vec<u8>),
    /// Memory that PTX has a name for.
    Memory {
        /// Its space: local, shared, global, constant, or the function's parameters.
        space: Space,
        /// The name.
        name: String,
        /// Offset from there, in bytes.
        offset: u64,
    },
    /// Nowhere.
    Lost(Reason),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The optimiser kept none at this instruction.
    NotKept,
    /// The register has not been written yet on some path to this instruction.
    NotYet(String),
    /// The register may have been written for something else since.
    Overwritten(String),
    /// The location is of a kind that is not understood.
    NotUnderstood(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKept => f.write_str("the optimiser kept no value here"),
            Self::NotYet(register) => write!(f, "{register} is not computed yet"),
            Self::Overwritten(register) => write!(f, "{register} may hold another value by now"),
            Self::NotUnderstood(what) => write!(f, "its location is not understood: {what}"),
        }
    }
}

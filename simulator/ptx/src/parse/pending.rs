//! Questions that can only be settled at the end of the file.

use std::collections::{HashMap, HashSet};

use crate::ir::{CallSiteId, FuncId, SourceLoc, VarId};
use crate::lexer::{Position, Token};

/// What can only be settled at the end of the file.
#[derive(Debug, Default)]
pub(super) struct Pending<'a> {
    /// Operands that name something not yet declared, with their function and
    /// whether their instruction is a call.
    pub operands: Vec<PendingOperand<'a>>,
    /// Addresses in initialisers.
    pub relocations: Vec<PendingRelocation<'a>>,
    /// First use of each function, to blame where it has no body.
    pub first_uses: HashMap<FuncId, Position>,
    /// Functions that may stay without a body.
    pub extern_functions: HashSet<FuncId>,
    /// Where the constants declared so far end.
    pub const_bytes: u64,
    /// Numbers of the calls that places were inlined at.
    pub call_sites: HashMap<SourceLoc, CallSiteId>,
}

/// See [`Pending::operands`].
#[derive(Debug)]
pub(super) struct PendingOperand<'a> {
    pub name: Token<'a>,
    pub function: FuncId,
    pub instruction: usize,
    pub operand: usize,
    pub is_call: bool,
}

/// See [`Pending::relocations`].
#[derive(Debug)]
pub(super) struct PendingRelocation<'a> {
    pub name: Token<'a>,
    pub variable: VarId,
    pub offset: u64,
    pub addend: i64,
    pub generic: bool,
    pub n_bytes: u8,
    pub shift: u8,
}

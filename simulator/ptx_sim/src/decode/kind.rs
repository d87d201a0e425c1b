//! The names of operands' kinds.

use ptx::ir::Operand;

/// What an operand is, for messages.
pub(crate) fn kind_of(operand: &Operand) -> &'static str {
    match operand {
        Operand::Reg(_) => "a register",
        Operand::NotReg(_) => "a negated predicate",
        Operand::Pair(..) => "a pair of destinations",
        Operand::Sink => "`_`",
        Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => "a constant",
        Operand::Special(_) => "a special register",
        Operand::Vector(_) => "a vector",
        Operand::Address(_) => "an address in brackets",
        Operand::IndexedAddress(..) => "an address with coordinates",
        Operand::Symbol { .. } => "a variable's name",
        Operand::Element { .. } => "an element of an array",
        Operand::Label(_) => "a label",
        Operand::BranchTargets(_) => "a list of branch targets",
        Operand::Function(_) => "a function's name",
        Operand::External(_) => "an unknown name",
        Operand::List(_) => "a list",
        Operand::Component(..) => "a part of a register",
    }
}

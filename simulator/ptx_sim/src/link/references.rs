//! An instruction's references to names of its module.

use ptx::ir::{Address, AddressBase, FuncId, Operand, Symbol, VarId};

/// A function or variable that is named.
pub(super) enum Reference<'a> {
    Function(&'a mut FuncId),
    Variable(&'a mut VarId),
}

/// Calls `f` with each function and variable that an operand names.
pub(super) fn visit(operand: &mut Operand, f: &mut impl FnMut(Reference<'_>)) {
    match operand {
        Operand::Function(id) => f(Reference::Function(id)),
        Operand::Symbol { base, .. } | Operand::Element { base, .. } => symbol(base, f),
        Operand::Address(place) => address(place, f),
        Operand::IndexedAddress(place, parts) => {
            address(place, f);
            parts.iter_mut().for_each(|part| visit(part, f));
        }
        Operand::Pair(a, b) => {
            visit(a, f);
            visit(b, f);
        }
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter_mut().for_each(|part| visit(part, f));
        }
        Operand::Reg(_)
        | Operand::NotReg(_)
        | Operand::Sink
        | Operand::Int(_)
        | Operand::F32(_)
        | Operand::F64(_)
        | Operand::Special(_)
        | Operand::Label(_)
        | Operand::BranchTargets(_)
        | Operand::External(_)
        | Operand::Component(..) => {}
    }
}

fn address(address: &mut Address, f: &mut impl FnMut(Reference<'_>)) {
    if let AddressBase::Symbol(base) = &mut address.base {
        symbol(base, f);
    }
}

fn symbol(symbol: &mut Symbol, f: &mut impl FnMut(Reference<'_>)) {
    if let Symbol::Variable(id) = symbol {
        f(Reference::Variable(id));
    }
}

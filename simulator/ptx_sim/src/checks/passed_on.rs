//! Loads whose value is only passed on: reading unwritten memory is not a defect there.

use crate::numbering::Numbering;
use ptx::ir::{AddressBase, Module, Operand, RegId};

/// Whether the loaded value is only stored again, as a parameter or in local memory, or by
/// a generic address. Compilers copy structures this way, including their unwritten
/// padding.
pub(crate) fn only_passed_on(module: &Module, numbering: &Numbering, instruction: u32) -> bool {
    let Some((function, ptx)) = numbering.instruction(instruction) else {
        return false;
    };
    let Some(body) = &module.functions[function].body else {
        return false;
    };
    let Some(loaded) = body[ptx as usize].operands.first() else {
        return false;
    };
    let loaded = registers(loaded);
    let is_loaded = |register: &RegId| loaded.contains(register);
    let mut is_passed_on = false;
    let is_used_otherwise = body.iter().any(|other| {
        let guards = other.guard.is_some_and(|guard| is_loaded(&guard.register));
        let mut operands = other.operands.iter();
        let first = operands.next();
        let sources = operands.any(|operand| registers(operand).iter().any(is_loaded));
        let stores = other.opcode.starts_with("st.");
        let leaves = ["st.global", "st.shared", "st.volatile"]
            .iter()
            .any(|start| other.opcode.starts_with(start));
        let passes = sources && stores && !leaves;
        is_passed_on |= passes;
        // Elsewhere the first operand is what is computed.
        let is_target =
            |operand: &Operand| !stores && matches!(operand, Operand::Reg(_) | Operand::Vector(_));
        let addresses = first
            .filter(|operand| !is_target(operand))
            .is_some_and(|operand| registers(operand).iter().any(is_loaded));
        guards || addresses || sources && !passes
    });
    is_passed_on && !is_used_otherwise
}

/// The registers that an operand names.
fn registers(operand: &Operand) -> Vec<RegId> {
    match operand {
        Operand::Reg(register) | Operand::NotReg(register) => vec![*register],
        Operand::Pair(a, b) => [registers(a), registers(b)].concat(),
        Operand::Vector(parts) => parts.iter().flat_map(registers).collect(),
        Operand::Address(address) => match address.base {
            AddressBase::Reg(register) => vec![register],
            AddressBase::Symbol(_) | AddressBase::Absolute => Vec::new(),
        },
        _ => Vec::new(),
    }
}

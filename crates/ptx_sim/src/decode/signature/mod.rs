//! Whether an instruction is what PTX allows: its modifiers, the number of its
//! operands, and their types.
//!
//! Only instructions that are refused by ptxas too are refused here, and with a
//! message that says which operand, what it is and what is taken in its place.

mod conversion;
mod form;
mod operands;
mod table;

use super::refusal::Refusal;
use crate::ir::{Function, Instruction};
use form::{Parts, any_of};

/// What is wrong with an instruction of a function.
pub(super) fn check(function: &Function, instruction: &Instruction) -> Result<(), Refusal> {
    let mut parts = instruction.opcode.split('.');
    let mnemonic = parts.next().unwrap_or("");
    let parts: Vec<&str> = parts.collect();
    if mnemonic == "cvt" {
        return conversion::check(function, instruction, &parts);
    }
    let opcode = Parts::new(&parts);
    let Some(form) = form::find(mnemonic, &parts, &opcode)? else {
        return Ok(());
    };
    let chosen = |part: &&str| form.needs.is_some_and(|(_, names)| names.contains(part));
    if let Some((what, names)) = form.needs
        && !parts.iter().any(chosen)
    {
        let written = &instruction.opcode;
        return Err(Refusal::invalid(format!(
            "`{written}` needs {what}: {}",
            any_of(names.iter().map(|name| format!(".{name}")))
        )));
    }
    operands::check(function, instruction, form, &opcode)
}

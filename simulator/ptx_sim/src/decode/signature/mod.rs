//! The check of an instruction against PTX: its modifiers, the number of its operands, and their
//! types.
//!
//! Only instructions that ptxas refuses too are refused here, with a message that says
//! which operand is wrong, what it is and what is accepted.

mod calls;
mod conversion;
mod form;
mod operands;

use super::refusal::Refusal;
use form::{Parts, any_of};
use ptx::ir::{Function, Instruction, Module};
use ptx::part::Part;

/// What is wrong with an instruction of a function.
pub(super) fn check(
    module: &Module,
    function: &Function,
    instruction: &Instruction,
) -> Result<(), Refusal> {
    let mut parts = instruction.opcode.split('.');
    let mnemonic = parts.next().unwrap_or("");
    let parts: Vec<&str> = parts.collect();
    match mnemonic {
        "cvt" => return conversion::check(function, instruction, &parts),
        "call" => return calls::check(module, function, instruction),
        "vote" | "shfl" if !parts.contains(&"sync") => return needs_sync(module, instruction),
        _ => {}
    }
    let opcode = Parts::new(&parts);
    let Some(form) = form::find(mnemonic, &parts, &opcode)? else {
        return Ok(());
    };
    if let Some((what, names)) = &form.needs
        && !parts.iter().any(|part| names.contains(part))
    {
        let written = &instruction.opcode;
        return Err(Refusal::invalid(format!(
            "`{written}` needs {what}: {}",
            any_of(names.iter().map(|name| format!(".{name}")))
        )));
    }
    operands::check(function, instruction, form, &opcode)
}

/// From sm_70 on, lanes of a warp must name the others that take part.
fn needs_sync(module: &Module, instruction: &Instruction) -> Result<(), Refusal> {
    let digits = module.target.trim_start_matches("sm_");
    let digits = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_volta = digits.parse::<u32>().is_ok_and(|number| number >= 70);
    if !is_volta || module.version < (6, 4) {
        return Ok(());
    }
    let mnemonic = instruction.opcode.split('.').next().unwrap_or("");
    Err(Refusal::invalid(format!(
        "on `.target {}`, `{mnemonic}` needs `.sync`, and a mask of the lanes that take part as its \
         last operand: `{mnemonic}.sync{} …, 0xffffffff`",
        module.target,
        &instruction.opcode[mnemonic.len()..]
    ))
    .at_part(Part::Mnemonic))
}

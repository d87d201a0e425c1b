//! The check of calls: arguments and results must have the function's number and sizes.

use crate::decode::frame::lane_bytes;
use crate::decode::refusal::Refusal;
use ptx::ir::{Function, Instruction, Module, Operand, Param, Symbol};
use ptx::part::Part;

/// What is wrong with a call by name.
pub(super) fn check(
    module: &Module,
    caller: &Function,
    instruction: &Instruction,
) -> Result<(), Refusal> {
    let operands = &instruction.operands;
    let Some(at) = operands
        .iter()
        .position(|operand| !matches!(operand, Operand::List(_)))
    else {
        return Ok(());
    };
    let Operand::Function(id) = operands[at] else {
        return Ok(());
    };
    let Some(callee) = module.functions.get(id.0 as usize) else {
        return Ok(());
    };
    if callee.is_entry {
        let reason = format!("`{}` is a kernel, which cannot be called", callee.name);
        return Err(Refusal::unsupported(reason).at_part(Part::Operand(vec![at])));
    }
    let list = |index: Option<usize>| match index.and_then(|index| operands.get(index)) {
        Some(Operand::List(elements)) => &elements[..],
        _ => &[],
    };
    let call = Call { caller, callee };
    let results = (at.checked_sub(1), "result", &callee.returns[..]);
    let arguments = (Some(at + 1), "argument", &callee.params[..]);
    for (index, what, declared) in [results, arguments] {
        let given = list(index);
        if given.len() != declared.len() {
            let refusal = Refusal::invalid(format!(
                "`{}` (line {}) has {}, but {} {} given",
                callee.name,
                callee.line,
                count(declared.len(), what),
                given.len(),
                if given.len() == 1 { "is" } else { "are" }
            ));
            return Err(match index.and_then(|index| operands.get(index)) {
                Some(list @ Operand::List(_)) => refusal.at(list),
                _ => refusal.at_part(Part::Operand(vec![at])),
            });
        }
        for (i, (operand, param)) in given.iter().zip(declared).enumerate() {
            call.check_size(operand, param, &format!("{what} {}", i + 1))?;
        }
    }
    Ok(())
}

/// A call and both of its sides.
struct Call<'a> {
    caller: &'a Function,
    callee: &'a Function,
}

impl Call<'_> {
    fn check_size(&self, operand: &Operand, param: &Param, what: &str) -> Result<(), Refusal> {
        let Some((name, size_bytes)) = self.size_of(operand) else {
            return Ok(());
        };
        if size_bytes == param.size_bytes {
            return Ok(());
        }
        Err(Refusal::invalid(format!(
            "{what} of `{}` (line {}) is `{}`, of {}, but `{name}` has {}",
            self.callee.name,
            self.callee.line,
            param.name,
            bytes(param.size_bytes),
            bytes(size_bytes)
        ))
        .at(operand))
    }

    /// Name and bytes of what is passed, if it has a size of its own.
    fn size_of(&self, operand: &Operand) -> Option<(&str, u32)> {
        match operand {
            Operand::Reg(id) => {
                let register = self.caller.registers.get(id.0 as usize)?;
                Some((&register.name, lane_bytes(register.ty)))
            }
            Operand::Symbol {
                base: Symbol::Local(id),
                offset: 0,
                ..
            } => {
                let local = self.caller.locals.get(id.0 as usize)?;
                Some((&local.name, local.size_bytes))
            }
            Operand::Symbol {
                base: Symbol::Param(index),
                offset: 0,
                ..
            } => {
                let param = self.caller.params.get(*index as usize)?;
                Some((&param.name, param.size_bytes))
            }
            _ => None,
        }
    }
}

fn bytes(n: u32) -> String {
    count(n as usize, "byte")
}

fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

//! What a kernel's instructions must be, whatever they cost.

use super::verdict::Failure;
use crate::format::Manifest;
use crate::workshop::Built;
use ptx_sim::ir::Instruction;

/// The first contract that the kernel does not keep.
pub(super) fn missed(manifest: &Manifest, built: &Built) -> Option<Failure> {
    let entry = built.ir.functions.iter().find(|f| f.name == built.entry)?;
    let body: Vec<&Instruction> = entry.body.iter().flatten().collect();
    let is_one_of = |instruction: &&&Instruction, starts: &[String]| {
        starts.iter().any(|start| begins_with(&instruction.opcode, start))
    };
    for contract in &manifest.contract {
        let is_used = body.iter().any(|i| is_one_of(&i, &contract.uses));
        let mut message = None;
        if !contract.uses.is_empty() && !is_used {
            message = Some(format!(
                "the kernel has no `{}` among its {} instructions",
                contract.uses.join("` or `"),
                body.len()
            ));
        }
        let mut offending = body.iter().filter(|i| is_one_of(i, &contract.never));
        if let Some(first) = offending.next() {
            message = Some(format!(
                "the kernel has `{}` {} times, and is to do without it",
                first.opcode,
                1 + offending.count()
            ));
        }
        if let Some(message) = message {
            let mut failure = Failure::new("contract", message);
            failure.why = Some(contract.why.trim().to_owned());
            return Some(failure);
        }
    }
    None
}

/// Whether an opcode begins with these words: `ld.global` does with `ld`, not with `l`.
fn begins_with(opcode: &str, start: &str) -> bool {
    let rest = opcode.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':']))
}

//! Contracts about a kernel's instructions, whatever they cost.

use super::verdict::Failure;
use crate::format::Manifest;
use crate::workshop::Built;
use ptx_sim::ir::{Instruction, Operand};

/// The first contract that the kernel does not meet.
pub(super) fn missed(manifest: &Manifest, built: &Built) -> Option<Failure> {
    let entry = built.ir.functions.iter().find(|f| f.name == built.entry)?;
    let body: Vec<&Instruction> = entry.body.iter().flatten().collect();
    let shared_bytes = built.module.kernel(&built.entry)?.static_shared_bytes;
    let is_one_of = |instruction: &&&Instruction, starts: &[String]| {
        let text = text(instruction);
        starts.iter().any(|start| begins_with(&text, start))
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
            let times = match 1 + offending.count() {
                1 => "once".to_owned(),
                n => format!("{n} times"),
            };
            message = Some(format!(
                "the kernel has `{}` {times}, but should do without it",
                first.opcode
            ));
        }
        let most = contract.shared_bytes.unwrap_or(u32::MAX);
        if shared_bytes > most {
            message = Some(format!(
                "the kernel has {shared_bytes} bytes of shared memory, at most {most} wanted"
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

/// The opcode, and the first operand where that is a number: `cp.async.wait_group 1`.
fn text(instruction: &Instruction) -> String {
    match instruction.operands.first() {
        Some(Operand::Int(number)) => format!("{} {number}", instruction.opcode),
        _ => instruction.opcode.clone(),
    }
}

/// Whether an instruction begins with these words: `ld.global` does with `ld`, not with `l`.
fn begins_with(text: &str, start: &str) -> bool {
    let rest = text.strip_prefix(start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::begins_with;

    #[test]
    fn instructions_begin_with_whole_words() {
        for start in ["ld", "ld.global", "ld.global.b32"] {
            assert!(begins_with("ld.global.b32", start), "{start}");
        }
        assert!(begins_with(
            "cp.async.wait_group 1",
            "cp.async.wait_group 1"
        ));
        assert!(begins_with("cp.async.wait_group 1", "cp.async"));
        assert!(begins_with("ld.shared::cta.b32", "ld.shared"));
        for start in ["l", "ld.glob", "ld.global.b32.x", "st"] {
            assert!(!begins_with("ld.global.b32", start), "{start}");
        }
        assert!(!begins_with(
            "cp.async.wait_group 12",
            "cp.async.wait_group 1"
        ));
    }
}

//! Notifications to observers that follow registers: of each instruction and each branch.

use super::context::Step;
use crate::checks::observer::Observer;
use crate::program::{Block, Insn, Op, Terminator};
use ptx::ir::Operand;

/// Notifies observers of an instruction before it is executed, while the registers still
/// hold what it reads; of a shuffle afterwards, when they know where it has read.
#[cold]
#[inline(never)]
pub(super) fn followed<O: Observer>(
    step: &mut Step<'_, '_, O>,
    insn: &Insn,
    mask: u32,
    is_done: bool,
) {
    if matches!(insn.op, Op::Shuffle(_)) != is_done || !is_done && !step.env.observer.follows() {
        return;
    }
    let instruction = &step.launch.module.functions[step.function].body;
    let instruction = instruction.as_ref().map(|body| &body[insn.ptx as usize]);
    let chosen = match (&insn.op, instruction) {
        (Op::Lanes(op), Some(instruction)) if instruction.opcode.starts_with("selp") => {
            // SAFETY: The decoder gives a `selp` a predicate for its third source.
            let chosen = unsafe { step.view.regs.predicate(op.c) };
            match instruction.operands.last() {
                Some(Operand::NotReg(_)) => Some(!chosen),
                _ => Some(chosen),
            }
        }
        _ => None,
    };
    tell(step, insn.ptx, mask, chosen);
}

/// Notifies observers, before a block ends, of the branch that ends it.
#[inline(always)]
pub(super) fn branching<O: Observer>(step: &mut Step<'_, '_, O>, block: &Block, mask: u32) {
    if O::ON
        && step.view.is_followed
        && step.env.observer.follows()
        && matches!(
            block.terminator,
            Terminator::Branch { .. } | Terminator::Switch { .. }
        )
    {
        tell(step, block.last(), mask, None);
    }
}

/// Notifies observers of the lanes of an instruction.
fn tell<O: Observer>(step: &mut Step<'_, '_, O>, ptx: u32, mask: u32, chosen: Option<u32>) {
    let lanes = step.lanes(mask);
    let number = step.view.first_instruction + ptx;
    let of = (step.frame, step.function, ptx);
    step.env.observer.carried_out(number, lanes, of, chosen);
}

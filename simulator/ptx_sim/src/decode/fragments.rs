//! Registers that `wgmma` works on while other instructions run.
//!
//! A sum's register gets its value at the wait, long after the instruction that names it.
//! So in a function with `wgmma` these registers share no place with others, and
//! instructions that name one are preceded by an operation that says so.
//!
//! A compiler may copy sums that do not exist yet from one register to another, and go on
//! with that one: the assembler merges both registers. So the target of a `mov` from such a
//! register is such a register too.

use crate::program::{Slot, WarpgroupOp};
use ptx::ir::{Instruction, Operand, RegId};

use super::decoder::Decoder;
use super::frame::lane_bytes;
use super::liveness::{Interval, Liveness, RegisterSet, visit};

/// The registers that `wgmma` of a function works on; none if it has none.
pub(super) fn of(n_registers: usize, body: &[Instruction]) -> Option<RegisterSet> {
    let mut found = RegisterSet::empty(n_registers);
    let products = body
        .iter()
        .filter(|i| i.opcode.starts_with("wgmma.mma_async"));
    let mut has_any = false;
    for instruction in products {
        has_any = true;
        for operand in instruction.operands.iter().take(2) {
            if let Operand::Vector(parts) = operand {
                parts.iter().for_each(|part| {
                    if let Operand::Reg(register) = part {
                        found.insert(*register);
                    }
                });
            }
        }
    }
    if !has_any {
        return None;
    }
    let copies: Vec<(RegId, RegId)> = body.iter().filter_map(copy).collect();
    let mut grows = true;
    while grows {
        grows = false;
        for &(d, a) in &copies {
            if found.contains(a) && !found.contains(d) {
                found.insert(d);
                grows = true;
            }
        }
    }
    Some(found)
}

/// Keeps the registers' places from others.
pub(super) fn pin(fragments: Option<&RegisterSet>, liveness: &mut Liveness, n_instructions: usize) {
    let Some(fragments) = fragments else { return };
    let throughout = Interval {
        first: 0,
        last: n_instructions as u32,
    };
    for (register, interval) in (0..).zip(&mut liveness.intervals) {
        if interval.is_some() && fragments.contains(RegId(register)) {
            *interval = Some(throughout);
        }
    }
}

/// The registers of a `mov` from one to another.
fn copy(instruction: &Instruction) -> Option<(RegId, RegId)> {
    if !instruction.opcode.starts_with("mov.") {
        return None;
    }
    match instruction.operands[..] {
        [Operand::Reg(d), Operand::Reg(a)] => Some((d, a)),
        _ => None,
    }
}

impl Decoder<'_> {
    /// Says what an instruction does to registers that `wgmma` works on. Gives whether that
    /// is all it does: it is a copy of one.
    pub fn touches(&mut self, instruction: &Instruction) -> bool {
        let Some(fragments) = &self.fragments else {
            return false;
        };
        if instruction.opcode.starts_with("wgmma.") {
            return false;
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        visit(instruction, |register, is_write| {
            if fragments.contains(register) {
                let list = if is_write { &mut writes } else { &mut reads };
                list.push(register);
            }
        });
        if reads.is_empty() && writes.is_empty() {
            return false;
        }
        let is_word = |register| lane_bytes(self.frame.type_of(register)) == 4;
        if let Some((d, a)) = copy(instruction)
            && fragments.contains(a)
            && is_word(d)
            && is_word(a)
        {
            let (d, a) = (self.frame.register(d), self.frame.register(a));
            self.warpgroup(WarpgroupOp::Carry { d, a });
            return true;
        }
        let mut slots = |list: Vec<RegId>| -> Vec<Slot> {
            let words = list
                .into_iter()
                .filter(|&r| lane_bytes(self.frame.type_of(r)) == 4);
            let words: Vec<RegId> = words.collect();
            words.into_iter().map(|r| self.frame.register(r)).collect()
        };
        let (reads, writes) = (slots(reads), slots(writes));
        self.warpgroup(WarpgroupOp::Touch { reads, writes });
        false
    }
}

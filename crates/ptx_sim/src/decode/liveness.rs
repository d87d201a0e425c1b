//! Registers that may be read before they are written.
//!
//! Frames are used again without being cleared. What a correct program reads
//! it has written before, but compilers leave paths on which a value does not
//! matter; so that a run never depends on the one before, such registers start
//! as zero. And registers that nobody reads: a result in one is none.

use crate::ir::{Address, AddressBase, Function, Instruction, Operand, RegId};
use crate::program::Slot;

use super::frame::FrameBuilder;

/// The registers that may be read first, as (slot, bytes of all lanes).
pub(crate) fn read_before_written(
    function: &Function,
    body: &[Instruction],
    frame: &FrameBuilder<'_>,
) -> Vec<(Slot, u32)> {
    let n = function.registers.len();
    let words = n.div_ceil(64);
    // Registers that are certainly written before each instruction, by a
    // forward walk to a fixed point; a label starts with what all ways to it
    // have in common.
    let mut at_label: Vec<Option<Vec<u64>>> = vec![None; body.len() + 1];
    let mut suspects = vec![0u64; words];
    let mut changed = true;
    while changed {
        changed = false;
        let mut written = Some(vec![0u64; words]);
        for (i, instruction) in body.iter().enumerate() {
            if let Some(known) = &at_label[i] {
                written = Some(match written {
                    Some(now) => meet(&now, known),
                    None => known.clone(),
                });
            }
            let Some(now) = &mut written else { continue };
            visit(instruction, |register, is_write| {
                let (word, bit) = (register.0 as usize / 64, register.0 % 64);
                if !is_write && now[word] >> bit & 1 == 0 {
                    suspects[word] |= 1 << bit;
                }
            });
            if instruction.guard.is_none() {
                visit(instruction, |register, is_write| {
                    if is_write {
                        now[register.0 as usize / 64] |= 1 << (register.0 % 64);
                    }
                });
            }
            let mut reach = |target: u32| {
                let target = (target as usize).min(body.len());
                let merged = match &at_label[target] {
                    Some(known) => meet(known, now),
                    None => now.clone(),
                };
                if at_label[target].as_ref() != Some(&merged) {
                    at_label[target] = Some(merged);
                    changed |= target <= i;
                }
            };
            for operand in &instruction.operands {
                match operand {
                    Operand::Label(label) => reach(function.labels[label.0 as usize].target),
                    Operand::BranchTargets(list) => function.branch_targets[*list as usize]
                        .iter()
                        .for_each(|label| reach(function.labels[label.0 as usize].target)),
                    _ => {}
                }
            }
            let name = instruction.opcode.split('.').next().unwrap_or("");
            if instruction.guard.is_none()
                && matches!(name, "bra" | "brx" | "ret" | "exit" | "trap")
            {
                written = None;
            }
        }
    }
    frame
        .used()
        .filter(|(register, ..)| suspects[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0)
        .map(|(_, slot, bytes)| (slot, bytes))
        .collect()
}

/// A set of a function's registers.
pub(crate) struct RegisterSet(Vec<u64>);

impl RegisterSet {
    /// Whether the register is in it.
    pub fn contains(&self, register: RegId) -> bool {
        self.0[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0
    }
}

/// The registers that some instruction of the function reads.
pub(crate) fn read(function: &Function, body: &[Instruction]) -> RegisterSet {
    let mut read = vec![0u64; function.registers.len().div_ceil(64)];
    for instruction in body {
        visit(instruction, |register, is_write| {
            if !is_write {
                read[register.0 as usize / 64] |= 1 << (register.0 % 64);
            }
        });
    }
    RegisterSet(read)
}

fn meet(a: &[u64], b: &[u64]) -> Vec<u64> {
    a.iter().zip(b).map(|(x, y)| x & y).collect()
}

/// Calls `f` with each register of an instruction, and whether it is written.
/// Where that is not clear, the register counts as read.
fn visit(instruction: &Instruction, mut f: impl FnMut(RegId, bool)) {
    if let Some(guard) = instruction.guard {
        f(guard.register, false);
    }
    let name = instruction.opcode.split('.').next().unwrap_or("");
    let has_destination = !matches!(
        name,
        "st" | "red" | "bra" | "brx" | "bar" | "barrier" | "nanosleep"
    );
    for (i, operand) in instruction.operands.iter().enumerate() {
        let is_write = i == 0
            && has_destination
            && (name != "call" || matches!(operand, Operand::List(_)))
            && !matches!(operand, Operand::Address(_));
        registers(operand, is_write, &mut f);
    }
}

fn registers(operand: &Operand, is_write: bool, f: &mut impl FnMut(RegId, bool)) {
    match operand {
        Operand::Reg(register) => f(*register, is_write),
        Operand::NotReg(register) | Operand::Component(register, _) => f(*register, false),
        Operand::Pair(a, b) => {
            registers(a, is_write, f);
            registers(b, is_write, f);
        }
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| registers(part, is_write, f));
        }
        Operand::Address(Address {
            base: AddressBase::Reg(register),
            ..
        }) => f(*register, false),
        _ => {}
    }
}

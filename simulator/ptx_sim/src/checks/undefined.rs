//! Undefined values: what a shuffle gives a lane that reads from one that does not take part.
//!
//! Such a value alone is not a defect. A warp of eight lanes that sums by `shfl.down` adds only
//! what exists, or uses only the first lane's sum. So the registers that depend on the value
//! are followed, lane by lane, until one decides a branch, is part of an address, is stored
//! where others may read it, or is voted on.
//!
//! What it misses: values that pass through local memory, parameters or matrix instructions,
//! and through what may make them vanish: `and` and `or` with a register, and products of
//! integers.

use std::collections::HashMap;

use super::access::Lanes;
use super::convergence::thread_at;
use super::finding::{Finding, Side};
use super::races::lanes;
use crate::decode::liveness::visit;
use crate::warp::FrameId;
use ptx::ir::{Instruction, Operand, RegId};

/// A shuffle that gave a lane an undefined value.
#[derive(Clone, Copy)]
struct Origin {
    shuffle: Side,
    /// The lane that it reads from, and those that take part.
    source: u32,
    present: u32,
}

/// What is undefined in a warp.
#[derive(Default)]
pub(crate) struct Undefined {
    /// By register of a call, the lanes in which it is undefined, and why one of them is.
    registers: HashMap<(FrameId, RegId), (u32, Origin)>,
    /// The lanes that the last shuffle's lanes read from.
    sources: [u8; 32],
}

/// What becomes of an undefined value in an instruction.
#[derive(PartialEq)]
enum Fate {
    /// It is used.
    Used,
    /// The result is undefined as well.
    PassedOn,
    /// The result is one of two values.
    Selected,
    /// The result may be defined.
    Lost,
}

impl Undefined {
    /// As new, for a block.
    pub fn reset(&mut self) {
        self.registers.clear();
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.registers.is_empty()
    }

    /// A shuffle's lanes read from these.
    pub fn shuffled(&mut self, sources: &[u8; 32]) {
        self.sources = *sources;
    }

    /// Lanes carry out an instruction of a call, or branch by it; a `selp` takes its first
    /// value where `chosen` says so.
    pub fn carried_out(
        &mut self,
        number: u32,
        of: Lanes,
        (frame, instruction): (FrameId, &Instruction),
        chosen: Option<u32>,
    ) -> Option<Finding> {
        if instruction.opcode.starts_with("shfl") {
            self.shuffle(number, of, (frame, instruction));
            return None;
        }
        if self.registers.is_empty() {
            return None;
        }
        let name = instruction.opcode.split('.').next().unwrap_or_default();
        let fate = fate(name, instruction);
        let mut undefined = 0;
        let mut origin = None;
        let mut depends = |register: RegId, at: u32| {
            if let Some((lanes, why)) = self.registers.get(&(frame, register))
                && lanes & at & of.mask != 0
            {
                undefined |= lanes & at & of.mask;
                origin = Some(*why);
            }
        };
        match (&fate, &instruction.operands[..], chosen) {
            (Fate::Lost, ..) | (Fate::Selected, _, None) => {}
            (Fate::Selected, [_, a, b, by], Some(chosen)) => {
                for (operand, at) in [(a, chosen), (b, !chosen), (by, u32::MAX)] {
                    if let Operand::Reg(register) | Operand::NotReg(register) = operand {
                        depends(*register, at);
                    }
                }
            }
            _ => visit(instruction, |register, is_write| {
                if !is_write {
                    depends(register, u32::MAX);
                }
            }),
        }
        if let (Fate::Used, Some(origin)) = (fate, origin) {
            self.registers.clear();
            return Some(Finding::AbsentSource {
                this: origin.shuffle,
                source: origin.source,
                present: origin.present,
                user: thread_at(number, of, undefined.trailing_zeros()),
            });
        }
        visit(instruction, |register, is_write| {
            if is_write {
                self.set((frame, register), of.mask, undefined, origin);
            }
        });
        None
    }

    /// Lanes have shuffled.
    fn shuffle(&mut self, number: u32, of: Lanes, (frame, instruction): (FrameId, &Instruction)) {
        let target = match instruction.operands.first() {
            Some(Operand::Pair(target, _)) => &**target,
            Some(target) => target,
            None => return,
        };
        let Operand::Reg(target) = *target else {
            return;
        };
        let given = match instruction.operands.get(1) {
            Some(Operand::Reg(register)) => self.registers.get(&(frame, *register)).copied(),
            _ => None,
        };
        let (mut undefined, mut origin) = (0, None);
        for lane in lanes(of.mask) {
            let source = u32::from(self.sources[lane]);
            let why = match given {
                _ if of.mask >> source & 1 == 0 => Origin {
                    shuffle: thread_at(number, of, lane as u32),
                    source,
                    present: of.mask,
                },
                Some((lanes, why)) if lanes >> source & 1 != 0 => why,
                _ => continue,
            };
            undefined |= 1 << lane;
            origin = origin.or(Some(why));
        }
        self.set((frame, target), of.mask, undefined, origin);
    }

    /// A register's lanes of `mask` are written; those that are `undefined` now.
    fn set(&mut self, place: (FrameId, RegId), mask: u32, undefined: u32, origin: Option<Origin>) {
        let before = self.registers.get(&place);
        let others = before.map_or(0, |(lanes, _)| lanes & !mask);
        let origin = origin.or(before.map(|(_, origin)| *origin));
        match origin.filter(|_| others | undefined != 0) {
            Some(origin) => {
                self.registers.insert(place, (others | undefined, origin));
            }
            None => {
                self.registers.remove(&place);
            }
        }
    }
}

fn fate(name: &str, instruction: &Instruction) -> Fate {
    let opcode = instruction.opcode.as_str();
    let has_constant = || {
        let operands = instruction.operands.iter();
        operands
            .into_iter()
            .any(|operand| matches!(operand, Operand::Int(n) if *n != 0))
    };
    let is_float = || {
        [".f16", ".bf16", ".f32", ".f64"]
            .iter()
            .any(|ty| opcode.contains(ty))
    };
    match name {
        "st" if opcode.starts_with("st.param") || opcode.starts_with("st.local") => Fate::Lost,
        "st" | "ld" | "atom" | "red" | "cp" | "ldmatrix" | "stmatrix" | "bra" | "brx" | "vote"
        | "match" | "redux" => Fate::Used,
        "selp" => Fate::Selected,
        "setp" | "set" if opcode.contains(".and.") || opcode.contains(".or.") => Fate::Lost,
        "mov" | "cvt" | "cvta" | "add" | "sub" | "neg" | "abs" | "not" | "xor" | "shl" | "shr"
        | "min" | "max" | "fma" | "setp" | "set" | "sqrt" | "rsqrt" | "rcp" | "ex2" | "lg2"
        | "sin" | "cos" | "tanh" => Fate::PassedOn,
        "mul" | "mad" | "div" if is_float() || has_constant() => Fate::PassedOn,
        "and" | "or" if has_constant() => Fate::PassedOn,
        _ => Fate::Lost,
    }
}

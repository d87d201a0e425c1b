//! A function while it is decoded, and how operations are added to it.
//!
//! The meanings of instructions are in one file per kind; each adds methods.

use crate::lanes::{LaneFn, LaneOp, PREDICATE, Width, unary};
use crate::program::{Guard, Insn, Op, Slot, Unsupported};
use ptx::excerpt::{Excerpt, ParseError};
use ptx::ir::{FuncId, Function, Instruction, Module, Operand, Type, VarId};

use super::frame::FrameBuilder;
use super::isa::{modifiers, opcodes, table};
use super::liveness::RegisterSet;
use super::refusal::{Class, Refusal};
use super::signature;
use super::verify;
use ptx::part;

/// What cannot be decoded, and why.
pub(crate) type Decoded<T> = Result<T, String>;

/// A function while it is decoded.
pub(crate) struct Decoder<'a> {
    /// The PTX text, for messages.
    pub source: &'a str,
    pub module: &'a Module,
    pub function: &'a Function,
    pub frame: FrameBuilder<'a>,
    /// What has been decoded.
    pub code: Vec<Insn>,
    /// The guard and number of the instruction being decoded.
    pub guard: Option<Guard>,
    pub ptx: u32,
    /// Offsets in the call's local memory.
    pub local_offsets: Vec<u32>,
    pub param_offsets: Vec<u32>,
    pub return_offsets: Vec<u32>,
    /// Variables and functions that are named.
    pub variables: Vec<VarId>,
    pub callees: Vec<FuncId>,
    /// Whether it makes addresses of other blocks' shared memory.
    pub maps_ranks: bool,
    /// The registers that some instruction reads.
    pub read: RegisterSet,
    /// By register, the instruction that gives it its only value, if one does.
    pub set_once: Vec<Option<u32>>,
    /// Those that `wgmma` works on, if there is one.
    pub fragments: Option<RegisterSet>,
    /// The carry flag of `add.cc` and its relatives, once it is needed.
    pub carry: Option<Slot>,
    /// What is wrong with an operand of the instruction being decoded, if a decoder
    /// overlooked it.
    pub mismatch: Option<String>,
    /// The last operand that an instruction cannot have, identified by its address, which
    /// is only compared.
    pub culprit: Option<*const Operand>,
    /// What is not PTX.
    pub errors: Vec<ParseError>,
}

impl Decoder<'_> {
    /// Adds an operation for the instruction being decoded.
    pub fn emit(&mut self, op: Op) {
        let guard = self.guard;
        self.check_all(|f| {
            guard.iter().for_each(|guard| f(guard.slot, PREDICATE));
            verify::operands(&op, &mut |slot, width| f(slot, width));
        });
        self.code.push(Insn {
            guard: self.guard,
            ptx: self.ptx,
            n_lanewise: 0,
            lanewise: 0,
            op,
        });
    }

    /// Adds a lane-wise operation.
    pub fn lanes(&mut self, run: LaneFn, d: Slot, sources: &[Slot]) {
        self.lane_op(run, d, sources, None);
    }

    /// Adds a lane-wise operation with a constant for its closure.
    pub fn lanes_with(&mut self, run: LaneFn, d: Slot, sources: &[Slot], e: u32) {
        self.lane_op(run, d, sources, Some(e));
    }

    /// A lane-wise instruction with sources and a destination of these types, and perhaps a
    /// constant for its closure.
    pub fn lanewise(
        &mut self,
        run: LaneFn,
        constant: Option<u32>,
        from: &[Type],
        to: Type,
        operands: &[Operand],
    ) -> Decoded<()> {
        let (n, n_needed) = (operands.len(), from.len() + 1);
        if n != n_needed {
            return Err(format!("{n} operands, but {n_needed} are needed"));
        }
        let sources = operands[1..].iter().zip(from);
        let sources = sources.map(|(source, &ty)| self.source(source, ty));
        let sources = sources.collect::<Decoded<Vec<Slot>>>()?;
        let d = self.destination(&operands[0], to)?;
        self.lane_op(run, d, &sources, constant);
        Ok(())
    }

    fn lane_op(&mut self, run: LaneFn, d: Slot, sources: &[Slot], constant: Option<u32>) {
        let at = |i: usize| sources.get(i).copied().unwrap_or(d);
        let op = LaneOp {
            run: run.run,
            d,
            a: at(0),
            b: at(1),
            c: at(2),
            e: constant.unwrap_or(at(3)),
        };
        self.check_all(|f| {
            verify::lane_operands(&run, &op).for_each(|(slot, width)| f(slot, width));
        });
        self.emit(Op::Lanes(op));
    }

    /// Remembers the first operand of the instruction being decoded that does not fit.
    fn check_all(&mut self, each: impl FnOnce(&mut dyn FnMut(Slot, Width))) {
        let checked = verify::check_all(&self.frame, each);
        self.mismatch = self.mismatch.take().or(checked.err());
    }

    /// Whether all operands that have been added fit; else why not, once.
    pub fn fits(&mut self) -> Decoded<()> {
        self.mismatch.take().map_or(Ok(()), Err)
    }

    /// A copy of a register.
    pub fn copy(&mut self, d: Slot, a: Slot, bytes: u32) {
        let run = match bytes {
            2 => unary(|a: u16| a),
            4 => unary(|a: u32| a),
            8 => unary(|a: u64| a),
            _ => unary(|a: u128| a),
        };
        self.lanes(run, d, &[a]);
    }

    /// Copies lanes of `bytes` to a register; if that is the only value that the register ever
    /// has, and one that is present from the start, the register just stands for it.
    pub fn copy_to(&mut self, register: &Operand, d: Slot, a: Slot, bytes: u32) {
        let is_fragment = |register| {
            let fragments = self.fragments.as_ref();
            fragments.is_some_and(|fragments| fragments.contains(register))
        };
        if let Operand::Reg(register) = *register
            && self.guard.is_none()
            && !is_fragment(register)
            && self.set_once[register.0 as usize] == Some(self.ptx)
            && self.frame.let_stand_for(register, a)
        {
            return;
        }
        self.copy(d, a, bytes);
    }

    /// Remembers which operand is at fault, for the message.
    pub fn blame(&mut self, operand: &Operand) {
        self.culprit = Some(operand);
    }

    /// An instruction that could not be decoded: an error of the module, or an
    /// operation that reports it.
    pub fn refuse(&mut self, instruction: &Instruction, refusal: Refusal) {
        let part = refusal.part(&instruction.operands);
        let place = part::place(self.source, instruction.offset as usize, &part);
        if refusal.class == Class::Invalid {
            let error = ParseError::new(self.source, place, refusal.reason);
            self.errors.push(error);
            return;
        }
        // Even if it is the guard that does not fit.
        let fits = |guard: &Guard| self.frame.holds(guard.slot, PREDICATE);
        self.guard = self.guard.filter(fits);
        let excerpt = Excerpt::new(self.source, place);
        self.emit(Op::Unsupported(Box::new(Unsupported {
            opcode: instruction.opcode.clone(),
            reason: refusal.reason,
            is_known: refusal.class == Class::Unsupported,
            column: excerpt.column,
            excerpt: excerpt.text,
        })));
    }

    /// Refuses an instruction that a decoder could not make sense of.
    pub fn give_up(&mut self, instruction: &Instruction, reason: String) {
        let opcode = &instruction.opcode;
        let culprit = self.culprit.take();
        let refusal = signature::check(self.module, self.function, instruction)
            .err()
            .or_else(|| opcodes::unknown(opcode, self.module.version))
            .or_else(|| modifiers::unknown(opcode, self.module.version))
            .or_else(|| table::instead(opcode).map(Refusal::unsupported))
            .unwrap_or_else(|| match culprit {
                Some(operand) => Refusal::unsupported(reason).at(operand),
                None => Refusal::unsupported(reason),
            });
        self.refuse(instruction, refusal);
    }
}

//! Picks the decoder of an instruction.

use crate::ir::{FuncId, Function, Instruction, Module, Operand, Space, Special, Type, VarId};
use crate::lanes::{LaneFn, LaneOp, unary};
use crate::program::{
    ClockRead, Collective, CollectiveKind, Guard, Insn, Op, PredicateOp, Slot, Transfer,
    Unsupported,
};

use super::frame::{FrameBuilder, lane_bytes};
use super::liveness::RegisterSet;
use super::memory::take_scope;
use super::opcode::Opcode;
use super::operand::Decoded;

/// A function while it is decoded.
pub(crate) struct Decoder<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub frame: FrameBuilder<'a>,
    /// What has been decoded.
    pub code: Vec<Insn>,
    /// The guard and number of the instruction in hand.
    pub guard: Option<Guard>,
    pub ptx: u32,
    /// Offsets in the call's local memory.
    pub local_offsets: Vec<u32>,
    pub param_offsets: Vec<u32>,
    pub return_offsets: Vec<u32>,
    /// Variables and functions that are named.
    pub variables: Vec<VarId>,
    pub callees: Vec<FuncId>,
    /// The registers that some instruction reads.
    pub read: RegisterSet,
    /// The carry flag of `add.cc` and its relatives, once it is needed.
    pub carry: Option<Slot>,
}

impl Decoder<'_> {
    /// Adds an operation for the instruction in hand.
    pub fn emit(&mut self, op: Op) {
        self.code.push(Insn {
            guard: self.guard,
            ptx: self.ptx,
            op,
        });
    }

    /// Adds a lane-wise operation.
    pub fn lanes(&mut self, run: LaneFn, d: Slot, sources: &[Slot]) {
        let at = |i: usize| sources.get(i).copied().unwrap_or(d);
        let (a, b, c, e) = (at(0), at(1), at(2), at(3));
        self.emit(Op::Lanes(LaneOp { run, d, a, b, c, e }));
    }

    /// Adds a lane-wise operation with a constant for its closure.
    pub fn lanes_with(&mut self, run: LaneFn, d: Slot, sources: &[Slot], e: u32) {
        let at = |i: usize| sources.get(i).copied().unwrap_or(d);
        self.emit(Op::Lanes(LaneOp {
            run,
            d,
            a: at(0),
            b: at(1),
            c: at(2),
            e,
        }));
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

    /// Decodes an instruction that is not control flow. One that cannot be
    /// decoded becomes one that reports so.
    pub fn instruction(&mut self, instruction: &Instruction) {
        let first = self.code.len();
        let mut op = Opcode::new(&instruction.opcode);
        let result = self
            .dispatch(&mut op, &instruction.operands)
            .and_then(|()| op.finish());
        if let Err(reason) = result {
            self.code.truncate(first);
            self.unsupported(&instruction.opcode, reason);
        }
    }

    /// Adds an operation that reports the instruction in hand.
    pub fn unsupported(&mut self, opcode: &str, reason: String) {
        let opcode = opcode.to_owned();
        self.emit(Op::Unsupported(Box::new(Unsupported { opcode, reason })));
    }

    fn dispatch(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        match op.name {
            "mov" => self.mov(op, operands),
            "ld" | "ldu" => self.load(op, operands),
            "st" => self.store(op, operands),
            "atom" | "red" => self.atomic(op, operands),
            "cvta" => self.cvta(op, operands),
            "isspacep" => self.isspacep(op, operands),
            "cvt" => self.cvt(op, operands),
            "setp" => self.setp(op, operands),
            "set" => self.set(op, operands),
            "selp" => self.selp(op, operands),
            "slct" => self.slct(op, operands),
            "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "shl" | "shr" | "shf" | "prmt"
            | "bfe" | "bfi" | "bfind" | "brev" | "clz" | "popc" | "bmsk" | "szext" | "fns" => {
                self.bits(op, operands)
            }
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "abs" | "neg" | "min"
            | "max" | "rcp" | "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh"
            | "copysign" | "testp" | "addc" | "subc" | "madc" | "mul24" | "mad24" | "sad"
            | "dp4a" | "dp2a" => {
                let is_float = op.has("f16")
                    || op.has("f16x2")
                    || op.has("bf16")
                    || op.has("bf16x2")
                    || op.has("f32")
                    || op.has("f64");
                if is_float {
                    self.float(op, operands)
                } else {
                    self.integer(op, operands)
                }
            }
            "shfl" => self.shuffle(op, operands),
            "vote" | "match" | "redux" | "activemask" | "elect" => self.collective(op, operands),
            "bar" | "barrier" if op.has("warp") => {
                op.ignore(&["warp", "sync"]);
                let members = self.source(one(operands)?, Type::U32)?;
                self.emit(Op::Collective(Box::new(Collective {
                    kind: CollectiveKind::Converge,
                    d: None,
                    p: None,
                    a: None,
                    flip: 0,
                    members: Some(members),
                })));
                Ok(())
            }
            "membar" | "fence" => {
                let scope = take_scope(op);
                while op.take_if(|_| Some(())).is_some() {}
                self.emit(Op::Fence(scope));
                Ok(())
            }
            "prefetch" | "prefetchu" | "applypriority" | "discard" | "pmevent"
            | "griddepcontrol" | "setmaxnreg" => {
                self.hint(op);
                Ok(())
            }
            "createpolicy" => {
                self.hint(op);
                let d = self.destination(one(operands)?, Type::U64)?;
                let zero = self
                    .frame
                    .value(crate::program::Init::Constant { bits: 0, bytes: 8 });
                self.copy(d, zero, 8);
                Ok(())
            }
            "ldmatrix" | "stmatrix" => self.tile_move(op, operands),
            "mma" => self.mma(op, operands),
            "wmma" => self.wmma(op, operands),
            "mbarrier" => self.mbarrier(op, operands),
            "vabsdiff2" | "vabsdiff4" => self.absolute_differences(op, operands),
            "cp" => self.async_copy(op, operands),
            "nanosleep" => {
                op.ignore(&["u32"]);
                self.emit(Op::Yield);
                Ok(())
            }
            _ => Err("the instruction is not known".to_owned()),
        }
    }

    /// An instruction whose effect cannot be seen in this machine. Every
    /// modifier of these is accepted.
    fn hint(&mut self, op: &mut Opcode<'_>) {
        while op.take_if(|_| Some(())).is_some() {}
        self.emit(Op::Nothing);
    }

    /// `mov`
    fn mov(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        let [d, a] = operands else {
            return Err("mov takes two operands".to_owned());
        };
        if let Operand::Special(special) = a
            && let Some((bytes, shift)) = clock_of(*special)
        {
            let (slot, actual) = self.any_register(d)?;
            if actual != bytes {
                return Err("the destination has another width than the clock".to_owned());
            }
            self.emit(Op::Clock(ClockRead {
                d: slot,
                bytes,
                shift,
            }));
            return Ok(());
        }
        match (d, a) {
            (Operand::Vector(parts), a) => self.unpack(ty, parts, a),
            (d, Operand::Vector(parts)) => self.pack(ty, d, parts),
            _ if ty == Type::Pred => {
                let source = self.predicate(a)?;
                let d = self.destination(d, ty)?;
                let table = if source.flip == 0 { 0b1010 } else { 0b0101 };
                self.emit(Op::Predicate(PredicateOp {
                    d,
                    a: source.slot,
                    b: source.slot,
                    table,
                }));
                Ok(())
            }
            _ => {
                let a = self.source(a, ty)?;
                let d = self.destination(d, ty)?;
                self.copy(d, a, lane_bytes(ty));
                Ok(())
            }
        }
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, ty: Type, d: &Operand, parts: &[Operand]) -> Decoded<()> {
        let bytes = ty.size_bytes();
        let part = part_type(bytes, parts.len())?;
        let parts: Vec<Slot> = parts
            .iter()
            .map(|p| self.source(p, part))
            .collect::<Decoded<_>>()?;
        let d = self.destination(d, ty)?;
        match (bytes, &parts[..]) {
            (4, &[low, high]) => {
                let run = crate::lanes::binary(|low: u16, high: u16| {
                    u32::from(low) | u32::from(high) << 16
                });
                self.lanes(run, d, &[low, high]);
            }
            (8, &[low, high]) => {
                let run = crate::lanes::binary(|low: u32, high: u32| {
                    u64::from(low) | u64::from(high) << 32
                });
                self.lanes(run, d, &[low, high]);
            }
            _ => self.emit(Op::Transfer(Box::new(Transfer::Pack {
                d,
                bytes,
                parts,
                part_bytes: part.size_bytes(),
            }))),
        }
        Ok(())
    }

    /// `mov.b64 {d, e}, a`
    fn unpack(&mut self, ty: Type, parts: &[Operand], a: &Operand) -> Decoded<()> {
        let bytes = ty.size_bytes();
        let part = part_type(bytes, parts.len())?;
        let a = self.source(a, ty)?;
        let parts: Vec<Option<Slot>> = parts
            .iter()
            .map(|p| self.optional_destination(p, part))
            .collect::<Decoded<_>>()?;
        match (bytes, &parts[..]) {
            (4, &[low, high]) => {
                if let Some(d) = low {
                    self.lanes(unary(|a: u32| a as u16), d, &[a]);
                }
                if let Some(d) = high {
                    self.lanes(unary(|a: u32| (a >> 16) as u16), d, &[a]);
                }
            }
            (8, &[low, high]) => {
                if let Some(d) = low {
                    self.lanes(unary(|a: u64| a as u32), d, &[a]);
                }
                if let Some(d) = high {
                    self.lanes(unary(|a: u64| (a >> 32) as u32), d, &[a]);
                }
            }
            _ => self.emit(Op::Transfer(Box::new(Transfer::Unpack {
                a,
                bytes,
                parts,
                part_bytes: part.size_bytes(),
            }))),
        }
        Ok(())
    }

    /// `cvta`, `cvta.to`
    fn cvta(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let to = op.take("to");
        let space = take_space(op)?;
        let ty = op.ty()?;
        let [d, a] = operands else {
            return Err("cvta takes two operands".to_owned());
        };
        if ty != Type::U64 {
            return Err("only 64-bit addresses are supported".to_owned());
        }
        // A parameter's address as a value is generic already.
        let already = matches!(a, Operand::Symbol { .. }) && space == Space::Param;
        let a = self.source(a, ty)?;
        let d = self.destination(d, ty)?;
        let run = match (space, to) {
            _ if already => unary(|a: u64| a),
            (Space::Shared, false) => unary(|a: u64| a.wrapping_add(SHARED)),
            (Space::Shared, true) => unary(|a: u64| a.wrapping_sub(SHARED)),
            (Space::Local, false) => unary(|a: u64| a.wrapping_add(LOCAL)),
            (Space::Local, true) => unary(|a: u64| a.wrapping_sub(LOCAL)),
            _ => unary(|a: u64| a),
        };
        self.lanes(run, d, &[a]);
        Ok(())
    }

    /// `isspacep`
    fn isspacep(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        use crate::lanes::test;
        use crate::memory::address::space_of;
        let space = take_space(op)?;
        let [d, a] = operands else {
            return Err("isspacep takes two operands".to_owned());
        };
        let a = self.source(a, Type::U64)?;
        let d = self.destination(d, Type::Pred)?;
        let run = match space {
            Space::Shared => test(|a: u64| space_of(a) == Space::Shared),
            Space::Local => test(|a: u64| space_of(a) == Space::Local),
            Space::Param => test(|a: u64| space_of(a) == Space::Param),
            Space::Global => test(|a: u64| space_of(a) == Space::Global),
            _ => return Err("isspacep does not know this space".to_owned()),
        };
        self.lanes(run, d, &[a]);
        Ok(())
    }
}

const SHARED: u64 = crate::memory::address::SHARED_WINDOW;
const LOCAL: u64 = crate::memory::address::LOCAL_WINDOW;

/// A clock's width, and the shift that gives its high half.
fn clock_of(special: Special) -> Option<(u32, u32)> {
    match special {
        Special::Clock | Special::GlobalTimerLo => Some((4, 0)),
        Special::ClockHi | Special::GlobalTimerHi => Some((4, 32)),
        Special::Clock64 | Special::GlobalTimer => Some((8, 0)),
        _ => None,
    }
}

/// The type of one of `n` parts of a value.
fn part_type(bytes: u32, n: usize) -> Decoded<Type> {
    match bytes as usize / n.max(1) {
        2 => Ok(Type::B16),
        4 => Ok(Type::B32),
        8 => Ok(Type::B64),
        1 => Err("parts of one byte are not supported".to_owned()),
        _ => Err("the parts do not make up the whole".to_owned()),
    }
}

/// The only operand.
pub(crate) fn one(operands: &[Operand]) -> Decoded<&Operand> {
    operands
        .first()
        .ok_or_else(|| "an operand is missing".to_owned())
}

/// Takes a state space.
pub(crate) fn take_space(op: &mut Opcode<'_>) -> Decoded<Space> {
    Ok(op.take_if(space_name).unwrap_or(Space::Generic))
}

fn space_name(part: &str) -> Option<Space> {
    Some(match part {
        "global" => Space::Global,
        "shared" | "shared::cta" => Space::Shared,
        "local" => Space::Local,
        "const" => Space::Const,
        "param" | "param::entry" | "param::func" => Space::Param,
        _ => return None,
    })
}

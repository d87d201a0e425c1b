//! The choice of an instruction's decoder.

use crate::program::Op;
use ptx::ir::{Instruction, Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::modifiers::take_scope;
use super::opcode::Opcode;
use super::operand::one;
use super::signature;
use super::video::is_video;

impl Decoder<'_> {
    /// Decodes an instruction that is not control flow. One that cannot be
    /// decoded becomes one that reports so.
    pub fn instruction(&mut self, instruction: &Instruction) {
        if let Err(refusal) = signature::check(self.module, self.function, instruction) {
            return self.refuse(instruction, refusal);
        }
        let first = self.code.len();
        if self.touches(instruction) {
            return;
        }
        let mut op = Opcode::new(&instruction.opcode);
        let result = match op.name {
            "ld" | "ldu" => self.load(&mut op, &instruction.operands, instruction.used_bytes),
            _ => self.dispatch(&mut op, &instruction.operands),
        }
        .and_then(|()| op.finish());
        let fits = self.fits();
        let result = result.and(fits);
        if let Err(reason) = result {
            self.code.truncate(first);
            self.give_up(instruction, reason);
        }
    }

    fn dispatch(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        match op.name {
            "mov" => self.mov(op, operands),
            "st" if op.has("bulk") => self.bulk_store(op, operands),
            "st" if op.has("async") => self.async_store(op, operands),
            "st" => self.store(op, operands),
            "red" if op.has("async") => self.async_reduction(op, operands),
            "atom" | "red" => self.atomic(op, operands),
            "mapa" => self.map_rank(op, operands),
            "getctarank" => self.rank_of(op, operands),
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
            "bar" | "barrier" if op.has("warp") => self.converge(op, operands),
            "membar" | "fence" => {
                self.fence(op);
                Ok(())
            }
            "prefetch" if op.has("tensormap") => self.prefetch_map(op, operands),
            "prefetch" | "prefetchu" | "applypriority" | "discard" | "pmevent"
            | "griddepcontrol" => match operands.first() {
                Some(Operand::Reg(_)) => {
                    Err("it takes an address in brackets, or a number; not a register".to_owned())
                }
                _ => {
                    self.hint(op);
                    Ok(())
                }
            },
            "createpolicy" => self.create_policy(op, operands),
            "ldmatrix" | "stmatrix" => self.tile_move(op, operands),
            "mma" => self.mma_of_any_kind(op, operands),
            "wmma" => self.wmma(op, operands),
            "wgmma" => self.wgmma(op, operands),
            "setmaxnreg" => self.set_registers(op, operands),
            "mbarrier" => self.mbarrier(op, operands),
            name if is_video(name) => self.video(op, operands),
            "cp" if op.has("bulk") => self.bulk_copy(op, operands),
            "cp" => self.async_copy(op, operands),
            "nanosleep" => {
                op.ignore(&["u32"]);
                self.emit(Op::Yield);
                Ok(())
            }
            _ => Err("the instruction is not known".to_owned()),
        }
    }

    /// `fence`, `membar`. Every modifier is accepted.
    fn fence(&mut self, op: &mut Opcode<'_>) {
        let is_of_proxies = op.take("proxy");
        let fences_async = is_of_proxies && op.take("async");
        let is_of_global = op.take("global");
        let scope = take_scope(op);
        while op.take_if(|_| Some(())).is_some() {}
        self.emit(match (is_of_proxies, fences_async && !is_of_global) {
            (_, true) => Op::ProxyFence,
            (true, false) => Op::Nothing,
            (false, _) => Op::Fence(scope),
        });
    }

    /// An instruction whose effect cannot be seen in this machine. Every
    /// modifier of these is accepted.
    fn hint(&mut self, op: &mut Opcode<'_>) {
        while op.take_if(|_| Some(())).is_some() {}
        self.emit(Op::Nothing);
    }

    /// `createpolicy`: a hint that later instructions name.
    fn create_policy(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        self.hint(op);
        let d = self.destination(one(operands)?, Type::U64)?;
        let zero = self.frame.constant(0, 8);
        self.copy(d, zero, 8);
        Ok(())
    }
}

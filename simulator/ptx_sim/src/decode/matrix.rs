//! `ldmatrix`, `stmatrix`, `mma`, `cp.async`.

use crate::lanes::{select, unary};
use crate::memory::address::SHARED_WINDOW;
use crate::numeric::mma::{Accumulator, Factor};
use crate::program::{AddressOperand, AsyncCopy, MatrixOp, Multiply, Op, Shape, Slot, TileMove};
use ptx::ir::{Operand, Space, Type};

use super::decoder::{Decoded, Decoder};
use super::modifiers::take_space;
use super::opcode::Opcode;
use super::operand::{exactly, immediate};

impl Decoder<'_> {
    /// Adds an instruction on tiles.
    pub(super) fn matrix(&mut self, op: MatrixOp) {
        self.emit(Op::Matrix(Box::new(op)));
    }

    /// An address in shared memory, from a shared or a generic one.
    pub(super) fn shared_address(
        &mut self,
        operand: &Operand,
        space: Space,
    ) -> Decoded<AddressOperand> {
        let (mut address, space) = self.address(operand, space)?;
        match space {
            Space::Shared => {}
            Space::Generic if address.wide => {
                let offset = self.frame.temporary(8);
                let run = unary(|a: u64| a.wrapping_sub(SHARED_WINDOW));
                self.lanes(run, offset, &[address.slot]);
                address.slot = offset;
            }
            _ => return Err("the matrices lie in shared memory".to_owned()),
        }
        Ok(address)
    }

    /// `ldmatrix`, `stmatrix`
    pub fn tile_move(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let is_load = op.name == "ldmatrix";
        take_sync_aligned(op)?;
        if !op.take("m8n8") || !op.take("b16") {
            return Err("only 8×8 matrices of 16-bit elements are supported".to_owned());
        }
        let n = op
            .choose(&[("x1", 1), ("x2", 2), ("x4", 4)])
            .ok_or("no number of matrices given")?;
        let transposed = op.take("trans");
        let space = take_space(op)?;
        if !matches!(space, Space::Shared | Space::Generic) {
            return Err("the matrices lie in shared memory".to_owned());
        }
        let [first, second] = operands else {
            return Err("it takes registers and an address".to_owned());
        };
        let (registers, address) = if is_load {
            (first, second)
        } else {
            (second, first)
        };
        let address = self.shared_address(address, space)?;
        let registers = if is_load {
            self.destinations(registers, n, Type::B32)?
        } else {
            self.sources(registers, n, Type::B32)?
        };
        let tile = TileMove {
            address,
            registers,
            transposed,
        };
        self.matrix(if is_load {
            MatrixOp::Load(tile)
        } else {
            MatrixOp::Store(tile)
        });
        Ok(())
    }

    /// `mma.sync`
    pub fn mma(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        take_sync_aligned(op)?;
        let shape = op
            .choose(&[("m16n8k8", Shape::K8), ("m16n8k16", Shape::K16)])
            .ok_or("only the shapes m16n8k8 and m16n8k16 are supported")?;
        if !op.take("row") || !op.take("col") {
            return Err("A must be row by row, B column by column".to_owned());
        }
        let [d, a, b, c] = [op.ty()?, op.ty()?, op.ty()?, op.ty()?];
        let (factor, accumulator) = match (d, a, b, c) {
            (Type::F16, Type::F16, Type::F16, Type::F16) => (Factor::F16, Accumulator::F16),
            (Type::F32, Type::F16, Type::F16, Type::F32) => (Factor::F16, Accumulator::F32),
            (Type::F32, Type::Bf16, Type::Bf16, Type::F32) => (Factor::Bf16, Accumulator::F32),
            _ => return Err(format!("the types {d}{a}{b}{c} are not supported")),
        };
        let n_factors = shape.k() / 4;
        let n_sums = if accumulator == Accumulator::F32 {
            4
        } else {
            2
        };
        let [d, a, b, c] = exactly(operands)?;
        let op = Multiply {
            factor,
            accumulator,
            a: self.sources(a, n_factors, Type::B32)?,
            b: self.sources(b, n_factors / 2, Type::B32)?,
            c: self.sources(c, n_sums, Type::B32)?,
            d: self.destinations(d, n_sums, Type::B32)?,
        };
        self.matrix(MatrixOp::Multiply(op));
        Ok(())
    }

    /// `cp.async` and its groups. (Bulk copies are other instructions.)
    pub fn async_copy(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if !op.take("async") {
            return Err("the instruction is not known".to_owned());
        }
        if op.take("mbarrier") {
            return self.arrive_after_copies(op, operands);
        }
        if op.take("commit_group") {
            self.matrix(MatrixOp::Commit);
            return Ok(());
        }
        if op.take("wait_all") {
            self.matrix(MatrixOp::WaitAll);
            return Ok(());
        }
        if op.take("wait_group") {
            let [n] = operands else {
                return Err("wait_group takes a number of groups".to_owned());
            };
            let n = immediate(n, Type::U32)? as u32;
            self.matrix(MatrixOp::WaitGroup(n));
            return Ok(());
        }
        let bypasses = op.take("cg");
        if !bypasses && !op.take("ca") {
            return Err("neither .ca nor .cg".to_owned());
        }
        if take_space(op)? != Space::Shared || take_space(op)? != Space::Global {
            return Err("it copies from global to shared memory".to_owned());
        }
        op.ignore(&["L2::64B", "L2::128B", "L2::256B"]);
        let (to, from, bytes, source_bytes) = match operands {
            [to, from, bytes] => (to, from, bytes, None),
            [to, from, bytes, source_bytes] => (to, from, bytes, Some(source_bytes)),
            _ => return Err("it takes two addresses and a size".to_owned()),
        };
        let bytes = immediate(bytes, Type::U32)? as u32;
        let sizes: &[u32] = if bypasses { &[16] } else { &[4, 8, 16] };
        if !sizes.contains(&bytes) {
            return Err(format!("it cannot copy {bytes} bytes"));
        }
        let (to, _) = self.address(to, Space::Shared)?;
        let (from, _) = self.address(from, Space::Global)?;
        let source_bytes = source_bytes
            .map(|operand| self.source_bytes(operand, bytes))
            .transpose()?;
        self.matrix(MatrixOp::Copy(AsyncCopy {
            to,
            from,
            bytes,
            source_bytes,
            bypasses,
        }));
        Ok(())
    }
}

impl Decoder<'_> {
    /// How many bytes of its source `cp.async` copies: a number, or none of `bytes` where a
    /// predicate says that the source is ignored.
    fn source_bytes(&mut self, operand: &Operand, bytes: u32) -> Decoded<Slot> {
        let is_predicate = match operand {
            Operand::Reg(register) | Operand::NotReg(register) => {
                self.frame.type_of(*register) == Type::Pred
            }
            _ => false,
        };
        if !is_predicate {
            return self.source(operand, Type::U32);
        }
        let ignores = self.predicate_slot(operand)?;
        let [none, all] = [0, bytes].map(|bytes| {
            let bits = u64::from(bytes);
            self.frame.constant(bits, 4)
        });
        let copied = self.frame.temporary(4);
        self.lanes(select::<u32>(), copied, &[none, all, ignores]);
        Ok(copied)
    }
}

/// `.sync.aligned`, which these instructions must have.
pub(super) fn take_sync_aligned(op: &mut Opcode<'_>) -> Decoded<()> {
    if op.take("sync") && op.take("aligned") {
        Ok(())
    } else {
        Err("it must be .sync.aligned".to_owned())
    }
}

//! `wgmma` and `setmaxnreg`.

use crate::numeric::mma::{Accumulator, Factor};
use crate::numeric::tensor::{BitProduct, Integers};
use crate::numeric::wgmma::Kind;
use crate::program::{LeftOperand, Op, SetRegisters, Slot, WarpgroupOp, Wgmma};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::matrix::take_sync_aligned;
use super::opcode::Opcode;
use super::operand::{elements, immediate};
use super::tensor::{integer_factor, take_bit_product};

/// Bytes of a row of A and of a column of B.
const LINE_BYTES: u32 = 32;

impl Decoder<'_> {
    /// `wgmma`
    pub fn wgmma(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if op.has("sp") {
            return Err("sparse matrices are not supported: use the dense form".to_owned());
        }
        if op.take("mma_async") {
            return self.wgmma_multiply(op, operands);
        }
        let is_fence = op.take("fence");
        let is_wait = op.take("wait_group");
        if !is_fence && !is_wait && !op.take("commit_group") {
            return Err("this form is not known".to_owned());
        }
        take_sync_aligned(op)?;
        if is_wait {
            let [n] = operands else {
                return Err("wait_group takes a number of groups".to_owned());
            };
            let n = immediate(n, Type::U32)? as u32;
            self.emit(Op::Nothing);
            self.warpgroup(WarpgroupOp::Wait(n));
            return Ok(());
        }
        if !operands.is_empty() {
            return Err("it takes no operands".to_owned());
        }
        self.warpgroup(if is_fence {
            WarpgroupOp::Fence
        } else {
            WarpgroupOp::Commit
        });
        Ok(())
    }

    /// Adds an operation. One at which a warp may wait comes after another: a path at the
    /// first operation of a block counts as beginning it.
    pub(super) fn warpgroup(&mut self, op: WarpgroupOp) {
        self.emit(Op::Warpgroup(Box::new(op)));
    }

    fn wgmma_multiply(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        take_sync_aligned(op)?;
        let (n, k) = op.take_if(shape).ok_or("the shape is m64nNkK")?;
        let saturates = op.take("satfinite");
        let bits = take_bit_product(op);
        let [d, a, b] = take_types(op)?;
        let types = format!(".{d}.{a}.{b}");
        let kind = kind([&d, &a, &b], saturates, bits)
            .ok_or_else(|| format!("the types {types} are not supported"))?;
        let needed_k = LINE_BYTES * 8 / factor_bits(kind);
        if k != needed_k {
            return Err(format!("with the types {types}, K is {needed_k}"));
        }
        let step = match kind {
            Kind::Float { .. } => 8,
            _ if n <= 32 => 8,
            _ => 16,
        };
        if n == 0 || n > 256 || !n.is_multiple_of(step) {
            return Err(format!("with the types {types}, N cannot be {n}"));
        }
        let [d, a, b, keeps, scales @ ..] = operands else {
            return Err("it takes D, A, B, the predicate scale-d, and immediates".to_owned());
        };
        let is_in_registers = matches!(a, Operand::Vector(_));
        let (negated, transposed) = modes(scales, kind, is_in_registers)?;
        let n_sums = n as usize / 8 * kind.registers_of_block();
        let op = Wgmma {
            kind,
            n,
            d: self.sums(d, n_sums)?,
            a: if is_in_registers {
                LeftOperand::Registers(self.sources(a, 4, Type::B32)?)
            } else {
                LeftOperand::Memory(self.source(a, Type::B64)?)
            },
            b: self.source(b, Type::B64)?,
            keeps: self.predicate(keeps)?,
            negated,
            transposed,
        };
        self.emit(Op::Nothing);
        self.warpgroup(WarpgroupOp::Multiply(op));
        Ok(())
    }

    /// Registers for sums: even a discarded one must not be shared, since it is written
    /// later.
    fn sums(&mut self, operand: &Operand, n: usize) -> Decoded<Vec<Slot>> {
        let slots = elements(operand, n)?.iter().map(|element| match element {
            Operand::Sink => Ok(self.frame.permanent(4)),
            element => self.destination(element, Type::B32),
        });
        slots.collect()
    }

    /// `setmaxnreg`
    pub fn set_registers(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let increases = op.take("inc");
        if !increases && !op.take("dec") {
            return Err("neither .inc nor .dec".to_owned());
        }
        take_sync_aligned(op)?;
        op.ignore(&["u32"]);
        let [n] = operands else {
            return Err("it takes a number of registers".to_owned());
        };
        let n = immediate(n, Type::U32)? as u32;
        if !(24..=256).contains(&n) || !n.is_multiple_of(8) {
            return Err(format!(
                "a thread cannot be given {n} registers: it takes a multiple of 8 from 24 to 256"
            ));
        }
        self.emit(Op::Nothing);
        self.warpgroup(WarpgroupOp::SetRegisters(SetRegisters { n, increases }));
        Ok(())
    }
}

/// N and K of `m64nNkK`.
fn shape(part: &str) -> Option<(u32, u32)> {
    let (n, k) = part.strip_prefix("m64n")?.split_once('k')?;
    Some((n.parse().ok()?, k.parse().ok()?))
}

/// The types of D, A and B.
fn take_types(op: &mut Opcode<'_>) -> Decoded<[String; 3]> {
    const NAMES: &[&str] = &[
        "f16", "bf16", "tf32", "f32", "e4m3", "e5m2", "s8", "u8", "b1", "s32",
    ];
    let mut next = || {
        let name = op.take_if(|part| NAMES.contains(&part).then(|| part.to_owned()));
        name.ok_or("the types of D, A and B are needed")
    };
    Ok([next()?, next()?, next()?])
}

/// What the types stand for.
fn kind([d, a, b]: [&str; 3], saturates: bool, bits: Option<BitProduct>) -> Option<Kind> {
    let kind = match (d, a, b) {
        ("f32", "f16", "f16") => float(Factor::F16, Factor::F16, d),
        ("f16", "f16", "f16") => float(Factor::F16, Factor::F16, d),
        ("f32", "bf16", "bf16") => float(Factor::Bf16, Factor::Bf16, d),
        ("f32", "tf32", "tf32") => float(Factor::Tf32, Factor::Tf32, d),
        ("f32" | "f16", _, _) => float(small(a)?, small(b)?, d),
        ("s32", "b1", "b1") => Kind::Bits(bits.filter(|&bits| bits == BitProduct::And)?),
        ("s32", _, _) => {
            let (n_bits, a_signed) = integer_factor(a)?;
            let (_, b_signed) = integer_factor(b)?;
            Kind::Integers(Integers {
                n_bits,
                a_signed,
                b_signed,
                saturates,
            })
        }
        _ => return None,
    };
    let may_saturate = matches!(kind, Kind::Integers(_));
    let has_bits = matches!(kind, Kind::Bits(_));
    (saturates <= may_saturate && bits.is_some() == has_bits).then_some(kind)
}

fn float(a: Factor, b: Factor, d: &str) -> Kind {
    let sums = if d == "f16" {
        Accumulator::F16
    } else {
        Accumulator::F32
    };
    Kind::Float { a, b, sums }
}

fn small(name: &str) -> Option<Factor> {
    match name {
        "e4m3" => Some(Factor::E4m3),
        "e5m2" => Some(Factor::E5m2),
        _ => None,
    }
}

fn factor_bits(kind: Kind) -> u32 {
    match kind {
        Kind::Float { a, .. } => a.n_bits(),
        Kind::Integers(integers) => integers.n_bits,
        Kind::Bits(_) => 1,
    }
}

/// What the immediates after the predicate say: whether A and B are negated, and whether
/// they are transposed.
fn modes(
    operands: &[Operand],
    kind: Kind,
    a_in_registers: bool,
) -> Decoded<([bool; 2], [bool; 2])> {
    let is_float = matches!(kind, Kind::Float { .. });
    let n_transposed = match factor_bits(kind) {
        16 if a_in_registers => 1,
        16 => 2,
        _ => 0,
    };
    let n_needed = if is_float { 2 + n_transposed } else { 0 };
    if operands.len() != n_needed {
        return Err(format!(
            "after the predicate it takes {n_needed} immediates with these types, not {}",
            operands.len()
        ));
    }
    let mut values = operands.iter().map(|operand| match operand {
        Operand::Int(value) => Ok(*value),
        _ => Err("imm-scale and imm-trans are immediates".to_owned()),
    });
    let mut next = |choices: [i64; 2], name: &str| -> Decoded<bool> {
        let value = values.next().unwrap_or(Err(String::new()))?;
        match choices.iter().position(|&choice| choice == value) {
            Some(place) => Ok(place == 1),
            None => {
                let [a, b] = choices;
                Err(format!("{name} is {a} or {b}, not {value}"))
            }
        }
    };
    let (mut negated, mut transposed) = ([false; 2], [false; 2]);
    if is_float {
        negated = [next([1, -1], "imm-scale-a")?, next([1, -1], "imm-scale-b")?];
        if n_transposed == 2 {
            transposed[0] = next([0, 1], "imm-trans-a")?;
        }
        if n_transposed > 0 {
            transposed[1] = next([0, 1], "imm-trans-b")?;
        }
    }
    Ok((negated, transposed))
}

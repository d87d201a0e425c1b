//! Bits: logic, shifts, fields.

use crate::lanes::{LaneFn, binary, quaternary, ternary, ternary_with, test, unary};
use crate::numeric::bits::{self, Permute};
use crate::numeric::integer::Integer;
use crate::program::{Op, PredicateOp};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::opcode::Opcode;

/// Picks a loop by width.
macro_rules! by_width {
    ($ty:expr, $f:ident) => {
        match lane_bytes($ty) {
            2 => $f!(u16),
            4 => $f!(u32),
            8 => $f!(u64),
            _ => return Err(format!("there is no such operation on {}", $ty)),
        }
    };
}
macro_rules! and {
    ($t:ty) => {
        binary(|a: $t, b: $t| a & b)
    };
}
macro_rules! or {
    ($t:ty) => {
        binary(|a: $t, b: $t| a | b)
    };
}
macro_rules! xor {
    ($t:ty) => {
        binary(|a: $t, b: $t| a ^ b)
    };
}
macro_rules! not {
    ($t:ty) => {
        unary(|a: $t| !a)
    };
}
macro_rules! cnot {
    ($t:ty) => {
        unary(|a: $t| <$t>::from(a == 0))
    };
}

/// The loop of a shift. Shifts by the width or more give zero, or the sign.
fn shift(name: &str, ty: Type) -> Decoded<LaneFn> {
    Ok(match (name, ty) {
        ("shl", Type::B16) => binary(|a: u16, n: u32| a.shift_left(n)),
        ("shl", Type::B32) => binary(|a: u32, n: u32| a.shift_left(n)),
        ("shl", Type::B64) => binary(|a: u64, n: u32| a.shift_left(n)),
        ("shr", Type::B16 | Type::U16) => binary(|a: u16, n: u32| a.shift_right(n)),
        ("shr", Type::B32 | Type::U32) => binary(|a: u32, n: u32| a.shift_right(n)),
        ("shr", Type::B64 | Type::U64) => binary(|a: u64, n: u32| a.shift_right(n)),
        ("shr", Type::S16) => binary(|a: i16, n: u32| a.shift_right(n)),
        ("shr", Type::S32) => binary(|a: i32, n: u32| a.shift_right(n)),
        ("shr", Type::S64) => binary(|a: i64, n: u32| a.shift_right(n)),
        (name, ty) => return Err(format!("there is no {name} on {ty}")),
    })
}

impl Decoder<'_> {
    /// An instruction on bits.
    pub fn bits(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let name = op.name;
        match name {
            "and" | "or" | "xor" | "not" | "cnot" => {
                let ty = op.ty()?;
                if ty == Type::Pred {
                    return self.predicate_logic(name, operands);
                }
                let (run, n) = match name {
                    "and" => (by_width!(ty, and), 2),
                    "or" => (by_width!(ty, or), 2),
                    "xor" => (by_width!(ty, xor), 2),
                    "not" => (by_width!(ty, not), 1),
                    _ => (by_width!(ty, cnot), 1),
                };
                self.straight(run, n, ty, ty, operands)
            }
            "shl" | "shr" => {
                let ty = op.ty()?;
                let [d, a, n] = operands else {
                    return Err(format!("{name} takes three operands"));
                };
                let (a, n) = (self.source(a, ty)?, self.source(n, Type::U32)?);
                let d = self.destination(d, ty)?;
                self.lanes(shift(name, ty)?, d, &[a, n]);
                Ok(())
            }
            "lop3" => self.lop3(op, operands),
            "shf" => self.funnel_shift(op, operands),
            "prmt" => self.permute(op, operands),
            "bfe" => self.extract(op, operands),
            "bfi" => self.insert(op, operands),
            _ => self.count_bits(op, operands),
        }
    }

    /// `lop3`: the table is an operand, and must be a constant.
    fn lop3(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["b32"]);
        let combine = op.take_if(|part| match part {
            "and" => Some(0b1000),
            "or" => Some(0b1110),
            _ => None,
        });
        let [d, a, b, c, Operand::Int(table), rest @ ..] = operands else {
            return Err("lop3 takes five operands, the last a constant".to_owned());
        };
        let sources = [
            self.source(a, Type::B32)?,
            self.source(b, Type::B32)?,
            self.source(c, Type::B32)?,
        ];
        let (value, predicate) = match d {
            Operand::Pair(value, predicate) => (&**value, Some(&**predicate)),
            value => (value, None),
        };
        let d = self.destination(value, Type::B32)?;
        let run =
            ternary_with(|a: u32, b: u32, c: u32, table: u32| bits::lop3(a, b, c, table as u8));
        self.lanes_with(run, d, &sources, *table as u32);
        match (predicate, combine, rest) {
            (None, None, []) => Ok(()),
            (Some(p), Some(table), [q]) => {
                let b = self.predicate_slot(q)?;
                let not_zero = self.frame.temporary(0);
                self.lanes(test(|a: u32| a != 0), not_zero, &[d]);
                let d = self.destination(p, Type::Pred)?;
                self.emit(Op::Predicate(PredicateOp {
                    d,
                    a: not_zero,
                    b,
                    table,
                }));
                Ok(())
            }
            _ => Err("lop3 with a predicate needs .and or .or and a source".to_owned()),
        }
    }

    /// `shf`
    fn funnel_shift(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (left, right) = (op.take("l"), op.take("r"));
        let wrap = op.take("wrap");
        op.ignore(&["clamp", "b32"]);
        let run = match (left, right, wrap) {
            (true, false, true) => ternary(|a, b, n| bits::shf_left(a, b, n, true)),
            (true, false, false) => ternary(|a, b, n| bits::shf_left(a, b, n, false)),
            (false, true, true) => ternary(|a, b, n| bits::shf_right(a, b, n, true)),
            (false, true, false) => ternary(|a, b, n| bits::shf_right(a, b, n, false)),
            _ => return Err("shf needs .l or .r".to_owned()),
        };
        self.straight(run, 3, Type::B32, Type::B32, operands)
    }

    /// `prmt`
    fn permute(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.ignore(&["b32"]);
        let mode = op.take_if(Permute::from_name).unwrap_or(Permute::Index);
        let run = match mode {
            Permute::Index => ternary(|a, b, c| bits::prmt(a, b, c, Permute::Index)),
            Permute::Forward4 => ternary(|a, b, c| bits::prmt(a, b, c, Permute::Forward4)),
            Permute::Backward4 => ternary(|a, b, c| bits::prmt(a, b, c, Permute::Backward4)),
            Permute::Replicate8 => ternary(|a, b, c| bits::prmt(a, b, c, Permute::Replicate8)),
            Permute::EdgeLeft => ternary(|a, b, c| bits::prmt(a, b, c, Permute::EdgeLeft)),
            Permute::EdgeRight => ternary(|a, b, c| bits::prmt(a, b, c, Permute::EdgeRight)),
            Permute::Replicate16 => ternary(|a, b, c| bits::prmt(a, b, c, Permute::Replicate16)),
        };
        self.straight(run, 3, Type::B32, Type::B32, operands)
    }

    /// `bfe`
    fn extract(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        let run = match ty {
            Type::U32 => ternary(bits::bfe_u32),
            Type::S32 => ternary(bits::bfe_s32),
            Type::U64 => ternary(bits::bfe_u64),
            Type::S64 => ternary(bits::bfe_s64),
            other => return Err(format!("there is no bfe on {other}")),
        };
        let [d, a, start, length] = operands else {
            return Err("bfe takes four operands".to_owned());
        };
        let sources = [
            self.source(a, ty)?,
            self.source(start, Type::U32)?,
            self.source(length, Type::U32)?,
        ];
        let d = self.destination(d, ty)?;
        self.lanes(run, d, &sources);
        Ok(())
    }

    /// `bfi`
    fn insert(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        let run = match ty {
            Type::B32 => quaternary(bits::bfi_b32),
            Type::B64 => quaternary(bits::bfi_b64),
            other => return Err(format!("there is no bfi on {other}")),
        };
        let [d, a, b, start, length] = operands else {
            return Err("bfi takes five operands".to_owned());
        };
        let sources = [
            self.source(a, ty)?,
            self.source(b, ty)?,
            self.source(start, Type::U32)?,
            self.source(length, Type::U32)?,
        ];
        let d = self.destination(d, ty)?;
        self.lanes(run, d, &sources);
        Ok(())
    }

    /// `popc`, `clz`, `brev`, `bfind`, `bmsk`, `szext`, `fns`
    fn count_bits(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let shift_amount = op.take("shiftamt");
        let wrap = op.take("wrap");
        op.take("clamp");
        let ty = op.ty()?;
        let word = Type::U32;
        let (run, n, from, to) = match (op.name, ty, shift_amount) {
            ("popc", Type::B32, _) => (unary(|a: u32| a.count_ones()), 1, ty, word),
            ("popc", Type::B64, _) => (unary(|a: u64| a.count_ones()), 1, ty, word),
            ("clz", Type::B32, _) => (unary(|a: u32| a.leading_zeros()), 1, ty, word),
            ("clz", Type::B64, _) => (unary(|a: u64| a.leading_zeros()), 1, ty, word),
            ("brev", Type::B32, _) => (unary(|a: u32| a.reverse_bits()), 1, ty, ty),
            ("brev", Type::B64, _) => (unary(|a: u64| a.reverse_bits()), 1, ty, ty),
            ("bfind", Type::U32, false) => (unary(|a| bits::bfind_u32(a, false)), 1, ty, word),
            ("bfind", Type::U32, true) => (unary(|a| bits::bfind_u32(a, true)), 1, ty, word),
            ("bfind", Type::S32, false) => (unary(|a| bits::bfind_s32(a, false)), 1, ty, word),
            ("bfind", Type::S32, true) => (unary(|a| bits::bfind_s32(a, true)), 1, ty, word),
            ("bfind", Type::U64, false) => (unary(|a| bits::bfind_u64(a, false)), 1, ty, word),
            ("bfind", Type::U64, true) => (unary(|a| bits::bfind_u64(a, true)), 1, ty, word),
            ("bfind", Type::S64, false) => (unary(|a| bits::bfind_s64(a, false)), 1, ty, word),
            ("bfind", Type::S64, true) => (unary(|a| bits::bfind_s64(a, true)), 1, ty, word),
            ("bmsk", Type::B32, _) if wrap => (binary(|a, b| bits::bmsk(a, b, true)), 2, ty, ty),
            ("bmsk", Type::B32, _) => (binary(|a, b| bits::bmsk(a, b, false)), 2, ty, ty),
            ("szext", Type::U32, _) if wrap => {
                (binary(|a, n| bits::szext(a, n, false, true)), 2, ty, ty)
            }
            ("szext", Type::U32, _) => (binary(|a, n| bits::szext(a, n, false, false)), 2, ty, ty),
            ("szext", Type::S32, _) if wrap => {
                (binary(|a, n| bits::szext(a, n, true, true)), 2, ty, ty)
            }
            ("szext", Type::S32, _) => (binary(|a, n| bits::szext(a, n, true, false)), 2, ty, ty),
            ("fns", Type::B32, _) => (
                ternary(|mask, base, offset: i32| bits::fns(mask, base, offset)),
                3,
                ty,
                ty,
            ),
            (name, ty, _) => return Err(format!("there is no {name} on {ty}")),
        };
        self.straight(run, n, from, to, operands)
    }
}

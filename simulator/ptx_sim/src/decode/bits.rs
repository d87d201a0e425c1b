//! Bits: logic, shifts, fields.

use crate::lanes::{LaneFn, binary, quaternary, ternary, ternary_with, test, unary};
use crate::numeric::bits::{self, Permute};
use crate::numeric::integer::Integer;
use crate::program::{Op, PredicateOp};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::opcode::Opcode;

/// The loop of an operation on words of one width: `by_width!(ty, unary(a) => !a)`.
macro_rules! by_width {
    ($ty:expr, $loop:ident($($x:ident),+) => $value:expr) => {
        match lane_bytes($ty) {
            2 => $loop(|$($x: u16),+| $value),
            4 => $loop(|$($x: u32),+| $value),
            8 => $loop(|$($x: u64),+| $value),
            _ => return Err(format!("there is no such operation on {}", $ty)),
        }
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
                    "and" => (by_width!(ty, binary(a, b) => a & b), 2),
                    "or" => (by_width!(ty, binary(a, b) => a | b), 2),
                    "xor" => (by_width!(ty, binary(a, b) => a ^ b), 2),
                    "not" => (by_width!(ty, unary(a) => !a), 1),
                    _ => (by_width!(ty, unary(a) => 1 - a.min(1)), 1),
                };
                self.straight(run, n, ty, ty, operands)
            }
            "shl" | "shr" => {
                let ty = op.ty()?;
                self.lanewise(shift(name, ty)?, None, &[ty, Type::U32], ty, operands)
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
        let combine = op.choose(&[("and", 0b1000), ("or", 0b1110)]);
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
        macro_rules! by_mode {
            ($mode:ident) => {
                ternary(|a, b, c| bits::prmt(a, b, c, Permute::$mode))
            };
        }
        let run = op.choose(&[
            ("f4e", by_mode!(Forward4)),
            ("b4e", by_mode!(Backward4)),
            ("rc8", by_mode!(Replicate8)),
            ("ecl", by_mode!(EdgeLeft)),
            ("ecr", by_mode!(EdgeRight)),
            ("rc16", by_mode!(Replicate16)),
        ]);
        let run = run.unwrap_or(by_mode!(Index));
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
        let from = [ty, Type::U32, Type::U32];
        self.lanewise(run, None, &from, ty, operands)
    }

    /// `bfi`
    fn insert(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        let run = match ty {
            Type::B32 => quaternary(bits::bfi_b32),
            Type::B64 => quaternary(bits::bfi_b64),
            other => return Err(format!("there is no bfi on {other}")),
        };
        let from = [ty, ty, Type::U32, Type::U32];
        self.lanewise(run, None, &from, ty, operands)
    }

    /// `popc`, `clz`, `brev`, `bfind`, `bmsk`, `szext`, `fns`
    fn count_bits(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let shift_amount = op.take("shiftamt");
        let wrap = op.take("wrap");
        op.take("clamp");
        let ty = op.ty()?;
        let word = Type::U32;
        macro_rules! find {
            ($f:path) => {
                match shift_amount {
                    true => unary(|a| $f(a, true)),
                    false => unary(|a| $f(a, false)),
                }
            };
        }
        let (run, n, to) = match (op.name, ty) {
            ("popc", Type::B32) => (unary(u32::count_ones), 1, word),
            ("popc", Type::B64) => (unary(u64::count_ones), 1, word),
            ("clz", Type::B32) => (unary(u32::leading_zeros), 1, word),
            ("clz", Type::B64) => (unary(u64::leading_zeros), 1, word),
            ("brev", Type::B32) => (unary(u32::reverse_bits), 1, ty),
            ("brev", Type::B64) => (unary(u64::reverse_bits), 1, ty),
            ("bfind", Type::U32) => (find!(bits::bfind_u32), 1, word),
            ("bfind", Type::S32) => (find!(bits::bfind_s32), 1, word),
            ("bfind", Type::U64) => (find!(bits::bfind_u64), 1, word),
            ("bfind", Type::S64) => (find!(bits::bfind_s64), 1, word),
            ("bmsk", Type::B32) if wrap => (binary(|a, b| bits::bmsk(a, b, true)), 2, ty),
            ("bmsk", Type::B32) => (binary(|a, b| bits::bmsk(a, b, false)), 2, ty),
            ("szext", Type::U32) if wrap => (binary(|a, n| bits::szext(a, n, false, true)), 2, ty),
            ("szext", Type::U32) => (binary(|a, n| bits::szext(a, n, false, false)), 2, ty),
            ("szext", Type::S32) if wrap => (binary(|a, n| bits::szext(a, n, true, true)), 2, ty),
            ("szext", Type::S32) => (binary(|a, n| bits::szext(a, n, true, false)), 2, ty),
            ("fns", Type::B32) => (ternary(bits::fns), 3, ty),
            (name, ty) => return Err(format!("there is no {name} on {ty}")),
        };
        self.straight(run, n, ty, to, operands)
    }
}

//! Bits: logic, shifts, fields.

use crate::ir::{Operand, Type};
use crate::lanes::{LaneFn, binary, unary};

use super::frame::lane_bytes;
use super::instruction::Decoder;
use super::opcode::Opcode;
use super::operand::Decoded;

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

/// Shifts by the type's width or more give zero, or the sign.
fn shift(name: &str, ty: Type) -> Decoded<LaneFn> {
    Ok(match (name, ty) {
        ("shl", Type::B16) => binary(|a: u16, n: u32| if n < 16 { a << n } else { 0 }),
        ("shl", Type::B32) => binary(|a: u32, n: u32| if n < 32 { a << n } else { 0 }),
        ("shl", Type::B64) => binary(|a: u64, n: u32| if n < 64 { a << n } else { 0 }),
        ("shr", Type::B16 | Type::U16) => binary(|a: u16, n: u32| if n < 16 { a >> n } else { 0 }),
        ("shr", Type::B32 | Type::U32) => binary(|a: u32, n: u32| if n < 32 { a >> n } else { 0 }),
        ("shr", Type::B64 | Type::U64) => binary(|a: u64, n: u32| if n < 64 { a >> n } else { 0 }),
        ("shr", Type::S16) => binary(|a: i16, n: u32| a >> n.min(15)),
        ("shr", Type::S32) => binary(|a: i32, n: u32| a >> n.min(31)),
        ("shr", Type::S64) => binary(|a: i64, n: u32| a >> n.min(63)),
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
            _ => Err("not supported".to_owned()),
        }
    }
}

//! Floating-point arithmetic.

use crate::ir::{Operand, Type};
use crate::lanes::{binary, ternary};

use super::instruction::Decoder;
use super::opcode::Opcode;
use super::operand::Decoded;

impl Decoder<'_> {
    /// A floating-point instruction.
    pub fn float(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        op.take("rn");
        let ty = op.ty()?;
        let (run, n) = match (op.name, ty) {
            ("add", Type::F32) => (binary(|a: f32, b: f32| a + b), 2),
            ("sub", Type::F32) => (binary(|a: f32, b: f32| a - b), 2),
            ("mul", Type::F32) => (binary(|a: f32, b: f32| a * b), 2),
            ("fma", Type::F32) => (ternary(|a: f32, b: f32, c: f32| a.mul_add(b, c)), 3),
            _ => return Err("not supported".to_owned()),
        };
        self.straight(run, n, ty, ty, operands)
    }
}

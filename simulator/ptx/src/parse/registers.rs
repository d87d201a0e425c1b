//! PTX statements that the module represents by several: parameters in registers, and sums
//! as operands.
//!
//! `.func (.reg .u32 r) f (.reg .u32 a)` passes values as any function does, and loads
//! and stores them itself: its body begins by reading `a`, and wherever it
//! returns it first writes `r`. An operand `r + 1` is added up beforehand.

use super::body::{Body, RegisterReturn};
use super::cursor::{Parser, Result};
use super::names::Entity;
use crate::ir::{Address, AddressBase, Guard, Instruction, Operand, Param, RegId, Symbol, Type};
use crate::lexer::Token;

impl<'a> Parser<'a> {
    /// Declares a function's register parameter, and reads it.
    pub fn register_param(
        &mut self,
        body: &mut Body<'a>,
        name: Token<'a>,
        (index, param): (u32, &Param),
    ) -> Result<()> {
        let register = self.parameter_register(body, name, param.ty)?;
        let from = parameter(Symbol::Param(index));
        let operands = vec![Operand::Reg(register), from];
        let read = self.synthetic(body, format!("ld.param{}", param.ty), None, operands);
        body.instructions.push(read);
        Ok(())
    }

    /// Declares a function's register return value.
    pub fn register_return(
        &mut self,
        body: &mut Body<'a>,
        name: Token<'a>,
        (index, param): (u32, &Param),
    ) -> Result<()> {
        let ty = param.ty;
        let register = self.parameter_register(body, name, ty)?;
        body.register_returns.push(RegisterReturn {
            register,
            ty,
            index,
        });
        Ok(())
    }

    fn parameter_register(
        &mut self,
        body: &mut Body<'a>,
        name: Token<'a>,
        ty: Type,
    ) -> Result<RegId> {
        if !body.scopes.declare(name.text, Entity::Unused(ty, 1)) {
            return Err(self.declared_twice(name));
        }
        match body.scopes.lookup(name.text) {
            Some(Entity::Register(register, _)) => Ok(register),
            _ => Err(self.unknown_name(name)),
        }
    }

    /// Before a `ret`: writes the return values that are in registers.
    pub fn write_register_returns(&mut self, body: &mut Body<'a>, guard: Option<Guard>) {
        for value in std::mem::take(&mut body.register_returns) {
            let to = parameter(Symbol::Return(value.index));
            let operands = vec![to, Operand::Reg(value.register)];
            let write = self.synthetic(body, format!("st.param{}", value.ty), guard, operands);
            body.instructions.push(write);
            body.register_returns.push(value);
        }
    }

    /// `r + 1` or `r - 1`, the register taken: the register, if nothing is added,
    /// or one that an instruction before the current one computes.
    pub fn register_sum(&mut self, body: &mut Body<'a>, register: RegId) -> Result<Operand> {
        let at = self.token.at;
        let offset = self.offsets()?;
        let ty = body.scopes.registers[register.0 as usize].ty;
        let n_bits = 8 * ty.size_bytes();
        if ty == Type::Pred {
            return Err(self.error_at(at, "a number cannot be added to a predicate"));
        }
        let is_float = matches!(
            ty,
            Type::F16
                | Type::F16x2
                | Type::Bf16
                | Type::Bf16x2
                | Type::Tf32
                | Type::F32
                | Type::F64
        );
        if is_float || !matches!(n_bits, 16 | 32 | 64) {
            let what = format!("a number cannot be added to a register of {ty}");
            return Err(self.error_at(at, what));
        }
        let sum = body.scopes.unnamed_register(ty);
        let operands = vec![
            Operand::Reg(sum),
            Operand::Reg(register),
            Operand::Int(offset),
        ];
        let add = self.synthetic(body, format!("add.u{n_bits}"), None, operands);
        body.sums.push(add);
        Ok(Operand::Reg(sum))
    }

    /// Puts the sums of the operands just read before their instruction.
    pub fn place_sums(&mut self, body: &mut Body<'a>, guard: Option<Guard>) {
        for mut sum in body.sums.drain(..) {
            sum.guard = guard;
            body.instructions.push(sum);
        }
    }

    fn synthetic(
        &self,
        body: &Body<'a>,
        opcode: String,
        guard: Option<Guard>,
        operands: Vec<Operand>,
    ) -> Instruction {
        Instruction {
            opcode,
            guard,
            operands,
            line: self.token.at.line,
            offset: self.token.at.offset as u32,
            loc: body.loc,
            used_bytes: None,
        }
    }
}

fn parameter(symbol: Symbol) -> Operand {
    Operand::Address(Address {
        base: AddressBase::Symbol(symbol),
        offset: 0,
    })
}

//! Integer arithmetic.

use crate::lanes::{LaneFn, LaneOp, binary, ternary, unary};
use crate::numeric::integer::{
    Integer, add_carry_u32, add_carry_u64, dp2a, dp4a, each_half, mul24_hi_s32, mul24_hi_u32,
    mul24_lo_s32, mul24_lo_u32, sub_carry_u32, sub_carry_u64,
};
use ptx::ir::{Operand, Type};

use crate::program::{Divide, Op};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;
use super::operand::exactly;

/// The loop of an operation on integers of one type: `by_type!(ty, binary(a, b) => a.min(b))`.
macro_rules! by_type {
    ($ty:expr, $loop:ident($($x:ident),+) => $value:expr) => {
        match $ty {
            Type::U16 | Type::B16 => $loop(|$($x: u16),+| $value),
            Type::S16 => $loop(|$($x: i16),+| $value),
            Type::U32 | Type::B32 => $loop(|$($x: u32),+| $value),
            Type::S32 => $loop(|$($x: i32),+| $value),
            Type::U64 | Type::B64 => $loop(|$($x: u64),+| $value),
            Type::S64 => $loop(|$($x: i64),+| $value),
            other => return Err(format!("there is no such operation on {other}")),
        }
    };
}

/// The same for an operation that needs a sign; `$what` names its result.
macro_rules! by_signed_type {
    ($ty:expr, $what:literal, $f:ident) => {
        match $ty {
            Type::S16 => unary(i16::$f),
            Type::S32 => unary(i32::$f),
            Type::S64 => unary(i64::$f),
            other => return Err(format!("there is no {} of {other}", $what)),
        }
    };
}

/// Low half of a product.
fn multiply_low(ty: Type) -> Decoded<LaneFn> {
    Ok(by_type!(ty, binary(a, b) => a.wrapping_mul(b)))
}

/// High half of a product.
fn multiply_high(ty: Type) -> Decoded<LaneFn> {
    Ok(by_type!(ty, binary(a, b) => a.mul_hi(b)))
}

/// A product of twice the width.
fn multiply_wide(ty: Type) -> Decoded<(LaneFn, Type)> {
    let run = match ty {
        Type::U16 => binary(u16::mul_wide),
        Type::S16 => binary(i16::mul_wide),
        Type::U32 => binary(u32::mul_wide),
        Type::S32 => binary(i32::mul_wide),
        other => return Err(format!("there is no wide product of {other}")),
    };
    Ok((run, wide_type(ty)))
}

/// The same, added to a number of that width.
fn multiply_wide_add(ty: Type) -> Decoded<(LaneFn, Type)> {
    let run = match ty {
        Type::U16 => ternary(|a: u16, b: u16, c: u32| a.mul_wide(b).wrapping_add(c)),
        Type::S16 => ternary(|a: i16, b: i16, c: i32| a.mul_wide(b).wrapping_add(c)),
        Type::U32 => ternary(|a: u32, b: u32, c: u64| a.mul_wide(b).wrapping_add(c)),
        Type::S32 => ternary(|a: i32, b: i32, c: i64| a.mul_wide(b).wrapping_add(c)),
        other => return Err(format!("there is no wide product of {other}")),
    };
    Ok((run, wide_type(ty)))
}

/// The type of such a product.
fn wide_type(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        _ => Type::S64,
    }
}

impl Decoder<'_> {
    /// An integer instruction.
    pub fn integer(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if matches!(op.name, "addc" | "subc" | "madc") || op.has("cc") {
            return self.extended(op, operands);
        }
        match op.name {
            "mul" | "mad" | "mul24" | "mad24" => return self.product(op, operands),
            "dp4a" | "dp2a" => return self.dot_product(op, operands),
            _ => {}
        }
        for (name, is_signed) in [("u16x2", false), ("s16x2", true)] {
            if op.take(name) {
                return self.integer_halves(op, operands, is_signed);
            }
        }
        let saturate = op.take("sat");
        let relu = op.take("relu");
        let ty = op.ty()?;
        if matches!(ty, Type::U8 | Type::S8 | Type::B8) {
            return Err("arithmetic on 8-bit integers is not supported".to_owned());
        }
        let (run, n): (LaneFn, usize) = match op.name {
            "add" if saturate && ty == Type::S32 => (binary(i32::saturating_add), 2),
            "sub" if saturate && ty == Type::S32 => (binary(i32::saturating_sub), 2),
            _ if saturate => return Err("saturation works on .s32 only".to_owned()),
            "min" if relu && ty == Type::S32 => (binary(|a: i32, b: i32| a.min(b).max(0)), 2),
            "max" if relu && ty == Type::S32 => (binary(|a: i32, b: i32| a.max(b).max(0)), 2),
            _ if relu => return Err(".relu works on min and max of .s32".to_owned()),
            "add" => (by_type!(ty, binary(a, b) => a.wrapping_add(b)), 2),
            "sub" => (by_type!(ty, binary(a, b) => a.wrapping_sub(b)), 2),
            "div" => (by_type!(ty, binary(a, b) => a.quotient(b)), 2),
            "rem" => (by_type!(ty, binary(a, b) => a.remainder(b)), 2),
            "min" => (by_type!(ty, binary(a, b) => a.min(b)), 2),
            "max" => (by_type!(ty, binary(a, b) => a.max(b)), 2),
            "sad" => (by_type!(ty, ternary(a, b, c) => a.sad(b, c)), 3),
            "abs" => (by_signed_type!(ty, "absolute value", wrapping_abs), 1),
            "neg" => (by_signed_type!(ty, "negative", wrapping_neg), 1),
            _ => return Err("the instruction is not known for integers".to_owned()),
        };
        let divides = matches!(op.name, "div" | "rem");
        if divides && !matches!(operands.last(), Some(Operand::Int(divisor)) if *divisor != 0) {
            return self.divide_integers(run, ty, operands);
        }
        self.straight(run, n, ty, ty, operands)
    }

    /// A division by what may be zero.
    fn divide_integers(&mut self, run: LaneFn, ty: Type, operands: &[Operand]) -> Decoded<()> {
        let [d, a, b] = exactly(operands)?;
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let d = self.destination(d, ty)?;
        let (c, e, run) = (d, d, run.run);
        self.emit(Op::Divide(Box::new(Divide {
            op: LaneOp { run, d, a, b, c, e },
            bytes: ty.size_bytes(),
        })));
        Ok(())
    }

    /// A lane-wise operation whose `n` sources have one type.
    pub fn straight(
        &mut self,
        run: LaneFn,
        n: usize,
        source_type: Type,
        destination_type: Type,
        operands: &[Operand],
    ) -> Decoded<()> {
        let from = vec![source_type; n];
        self.lanewise(run, None, &from, destination_type, operands)
    }

    /// `mul`, `mad`, `mul24`, `mad24`
    fn product(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let adds = op.name.starts_with("mad");
        if op.name.ends_with("24") {
            return self.product24(op, operands, adds);
        }
        let (low, high, wide) = (op.take("lo"), op.take("hi"), op.take("wide"));
        let saturate = op.take("sat");
        let ty = op.ty()?;
        if saturate && !(high && adds) {
            return Err("a product that saturates is mad.hi".to_owned());
        }
        match (low, high, wide) {
            (true, false, false) if adds => {
                let run = by_type!(ty, ternary(a, b, c) => a.wrapping_mul(b).wrapping_add(c));
                self.straight(run, 3, ty, ty, operands)
            }
            (true, false, false) => self.straight(multiply_low(ty)?, 2, ty, ty, operands),
            (false, true, false) if adds => self.multiply_high_add(ty, saturate, operands),
            (false, true, false) => self.straight(multiply_high(ty)?, 2, ty, ty, operands),
            (false, false, true) if adds => {
                let (run, wide) = multiply_wide_add(ty)?;
                self.lanewise(run, None, &[ty, ty, wide], wide, operands)
            }
            (false, false, true) => {
                let (run, wide) = multiply_wide(ty)?;
                self.straight(run, 2, ty, wide, operands)
            }
            _ => Err("a product needs one of .lo, .hi and .wide".to_owned()),
        }
    }

    /// `mad.hi`
    fn multiply_high_add(&mut self, ty: Type, saturate: bool, operands: &[Operand]) -> Decoded<()> {
        let [d, a, b, c] = exactly(operands)?;
        let product = self.frame.temporary(super::frame::lane_bytes(ty));
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let c = self.source(c, ty)?;
        self.lanes(multiply_high(ty)?, product, &[a, b]);
        let d = self.destination(d, ty)?;
        let sum = match ty {
            Type::S32 if saturate => binary(i32::saturating_add),
            _ if saturate => return Err("saturation works on .s32 only".to_owned()),
            _ => by_type!(ty, binary(a, b) => a.wrapping_add(b)),
        };
        self.lanes(sum, d, &[product, c]);
        Ok(())
    }
}

/// `.relu` of a half.
fn half_relu(a: i16) -> u16 {
    a.max(0) as u16
}

impl Decoder<'_> {
    /// `add.u16x2` and similar.
    fn integer_halves(
        &mut self,
        op: &mut Opcode<'_>,
        operands: &[Operand],
        is_signed: bool,
    ) -> Decoded<()> {
        let relu = op.take("relu");
        let run = match (op.name, is_signed) {
            ("min", true) if relu => {
                binary(|a: u32, b: u32| each_half(a, b, |a, b| half_relu((a as i16).min(b as i16))))
            }
            ("max", true) if relu => {
                binary(|a: u32, b: u32| each_half(a, b, |a, b| half_relu((a as i16).max(b as i16))))
            }
            _ if relu => return Err(".relu works on min and max of .s16x2".to_owned()),
            ("add", _) => binary(|a: u32, b: u32| each_half(a, b, u16::wrapping_add)),
            ("sub", _) => binary(|a: u32, b: u32| each_half(a, b, u16::wrapping_sub)),
            ("min", false) => binary(|a: u32, b: u32| each_half(a, b, u16::min)),
            ("max", false) => binary(|a: u32, b: u32| each_half(a, b, u16::max)),
            ("min", true) => {
                binary(|a: u32, b: u32| each_half(a, b, |a, b| (a as i16).min(b as i16) as u16))
            }
            ("max", true) => {
                binary(|a: u32, b: u32| each_half(a, b, |a, b| (a as i16).max(b as i16) as u16))
            }
            _ => return Err("the instruction is not known for pairs".to_owned()),
        };
        self.straight(run, 2, Type::B32, Type::B32, operands)
    }

    /// `mul24`, `mad24`
    fn product24(&mut self, op: &mut Opcode<'_>, operands: &[Operand], adds: bool) -> Decoded<()> {
        let high = op.take("hi");
        if !high && !op.take("lo") {
            return Err("a 24-bit product needs .lo or .hi".to_owned());
        }
        let saturate = op.take("sat");
        let ty = op.ty()?;
        let run = match (ty, high, adds) {
            (Type::S32, true, true) if saturate => {
                ternary(|a: i32, b: i32, c: i32| mul24_hi_s32(a, b).saturating_add(c))
            }
            _ if saturate => return Err("saturation works on mad24.hi of .s32 only".to_owned()),
            (Type::U32, false, false) => binary(mul24_lo_u32),
            (Type::U32, true, false) => binary(mul24_hi_u32),
            (Type::S32, false, false) => binary(mul24_lo_s32),
            (Type::S32, true, false) => binary(mul24_hi_s32),
            (Type::U32, false, true) => {
                ternary(|a: u32, b: u32, c: u32| mul24_lo_u32(a, b).wrapping_add(c))
            }
            (Type::U32, true, true) => {
                ternary(|a: u32, b: u32, c: u32| mul24_hi_u32(a, b).wrapping_add(c))
            }
            (Type::S32, false, true) => {
                ternary(|a: i32, b: i32, c: i32| mul24_lo_s32(a, b).wrapping_add(c))
            }
            (Type::S32, true, true) => {
                ternary(|a: i32, b: i32, c: i32| mul24_hi_s32(a, b).wrapping_add(c))
            }
            (other, ..) => return Err(format!("there is no 24-bit product of {other}")),
        };
        self.straight(run, if adds { 3 } else { 2 }, ty, ty, operands)
    }

    /// `dp4a`, `dp2a`
    fn dot_product(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let high = op.take("hi");
        op.take("lo");
        let (a, b) = (op.ty()?, op.ty()?);
        macro_rules! with_signs {
            ($f:ident $(, $high:literal)?) => {
                match (a == Type::S32, b == Type::S32) {
                    (false, false) => ternary(|a, b, c| $f(a, false, b, false, c $(, $high)?)),
                    (false, true) => ternary(|a, b, c| $f(a, false, b, true, c $(, $high)?)),
                    (true, false) => ternary(|a, b, c| $f(a, true, b, false, c $(, $high)?)),
                    (true, true) => ternary(|a, b, c| $f(a, true, b, true, c $(, $high)?)),
                }
            };
        }
        let run = match (op.name, high) {
            ("dp4a", _) => with_signs!(dp4a),
            (_, false) => with_signs!(dp2a, false),
            (_, true) => with_signs!(dp2a, true),
        };
        self.straight(run, 3, Type::B32, Type::B32, operands)
    }

    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: the carry is a lane of 0 or 1
    /// in addition to the registers.
    fn extended(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let carry_in = op.name.ends_with('c');
        let carry_out = op.take("cc");
        let (low, high) = (op.take("lo"), op.take("hi"));
        let ty = op.ty()?;
        let wide = match ty {
            Type::U32 | Type::S32 | Type::B32 => false,
            Type::U64 | Type::S64 | Type::B64 => true,
            other => return Err(format!("there are no carries of {other}")),
        };
        let (d, sources) = operands.split_first().ok_or("operands are missing")?;
        let mut slots: Vec<u32> = sources
            .iter()
            .map(|s| self.source(s, ty))
            .collect::<Decoded<_>>()?;
        let subtracts = op.name.starts_with("sub");
        if op.name.starts_with("mad") {
            let [a, b, c] = slots[..] else {
                return Err("mad takes four operands".to_owned());
            };
            let product = self.frame.temporary(ty.size_bytes());
            let run = match (low, high) {
                (true, false) => multiply_low(ty)?,
                (false, true) => multiply_high(ty)?,
                _ => return Err("a product needs .lo or .hi".to_owned()),
            };
            self.lanes(run, product, &[a, b]);
            slots = vec![product, c];
        }
        let [a, b] = slots[..] else {
            return Err("the number of operands is wrong".to_owned());
        };
        let carry = self.carry_slot();
        // Without one: nothing carried, or nothing borrowed.
        let input = match carry_in {
            true => carry,
            false => self.frame.constant(u64::from(subtracts), 4),
        };
        macro_rules! sum_and_flag {
            ($f:ident) => {
                (
                    ternary(|a, b, c: u32| $f(a, b, c != 0).0),
                    ternary(|a, b, c: u32| u32::from($f(a, b, c != 0).1)),
                )
            };
        }
        let (sum, flag) = match (wide, subtracts) {
            (false, false) => sum_and_flag!(add_carry_u32),
            (false, true) => sum_and_flag!(sub_carry_u32),
            (true, false) => sum_and_flag!(add_carry_u64),
            (true, true) => sum_and_flag!(sub_carry_u64),
        };
        // The flag is computed before the destination, which may be a source,
        // is written.
        let result = self.frame.temporary(ty.size_bytes());
        self.lanes(sum, result, &[a, b, input]);
        if carry_out {
            self.lanes(flag, carry, &[a, b, input]);
        }
        let d = self.destination(d, ty)?;
        self.copy(d, result, ty.size_bytes());
        Ok(())
    }
}

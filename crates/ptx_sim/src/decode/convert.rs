//! `cvt`

use crate::ir::{Operand, Type};
use crate::lanes::{LaneFn, unary};
use crate::program::Init;

use super::frame::lane_bytes;
use super::instruction::Decoder;
use super::opcode::Opcode;
use super::operand::{Decoded, immediate};

/// The usual conversions between integers, in one step. Registers have
/// exactly the types' widths.
fn direct(to: Type, from: Type) -> Option<LaneFn> {
    use Type::{S16, S32, S64, U16, U32, U64};
    Some(match (to, from) {
        (U64 | S64, U32) => unary(|a: u32| u64::from(a)),
        (U64 | S64, S32) => unary(|a: i32| i64::from(a)),
        (U32 | S32, U64 | S64) => unary(|a: u64| a as u32),
        (U32 | S32, U16) => unary(|a: u16| u32::from(a)),
        (U32 | S32, S16) => unary(|a: i16| i32::from(a)),
        (U16 | S16, U32 | S32) => unary(|a: u32| a as u16),
        (U16 | S16, U64 | S64) => unary(|a: u64| a as u16),
        (U64 | S64, U16) => unary(|a: u16| u64::from(a)),
        (U64 | S64, S16) => unary(|a: i16| i64::from(a)),
        _ => return None,
    })
}

/// Reads an integer of a type out of a register of `bytes` as 64 bits.
fn widen(from: Type, bytes: u32) -> Option<LaneFn> {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    Some(match (from, bytes) {
        (U8, 2) => unary(|a: u16| u64::from(a as u8)),
        (U8, 4) => unary(|a: u32| u64::from(a as u8)),
        (U8, 8) => unary(|a: u64| u64::from(a as u8)),
        (S8, 2) => unary(|a: u16| i64::from(a as i8)),
        (S8, 4) => unary(|a: u32| i64::from(a as i8)),
        (S8, 8) => unary(|a: u64| i64::from(a as i8)),
        (U16, 2) => unary(|a: u16| u64::from(a)),
        (U16, 4) => unary(|a: u32| u64::from(a as u16)),
        (U16, 8) => unary(|a: u64| u64::from(a as u16)),
        (S16, 2) => unary(|a: i16| i64::from(a)),
        (S16, 4) => unary(|a: u32| i64::from(a as i16)),
        (S16, 8) => unary(|a: u64| i64::from(a as i16)),
        (U32, 4) => unary(|a: u32| u64::from(a)),
        (U32, 8) => unary(|a: u64| u64::from(a as u32)),
        (S32, 4) => unary(|a: i32| i64::from(a)),
        (S32, 8) => unary(|a: u64| i64::from(a as i32)),
        (U64 | S64, 8) => unary(|a: u64| a),
        _ => return None,
    })
}

/// Writes 64 bits as an integer of a type into a register of `bytes`,
/// extended by the type's sign.
fn narrow(to: Type, bytes: u32) -> Option<LaneFn> {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    Some(match (to, bytes) {
        (U8, 2) => unary(|a: u64| u16::from(a as u8)),
        (U8, 4) => unary(|a: u64| u32::from(a as u8)),
        (U8, 8) => unary(|a: u64| u64::from(a as u8)),
        (S8, 2) => unary(|a: u64| i16::from(a as i8)),
        (S8, 4) => unary(|a: u64| i32::from(a as i8)),
        (S8, 8) => unary(|a: u64| i64::from(a as i8)),
        (U16 | S16, 2) => unary(|a: u64| a as u16),
        (U16, 4) => unary(|a: u64| u32::from(a as u16)),
        (S16, 4) => unary(|a: u64| i32::from(a as i16)),
        (U16, 8) => unary(|a: u64| u64::from(a as u16)),
        (S16, 8) => unary(|a: u64| i64::from(a as i16)),
        (U32 | S32, 4) => unary(|a: u64| a as u32),
        (U32, 8) => unary(|a: u64| u64::from(a as u32)),
        (S32, 8) => unary(|a: u64| i64::from(a as i32)),
        (U64 | S64, 8) => unary(|a: u64| a),
        _ => return None,
    })
}

fn is_integer(ty: Type) -> bool {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

impl Decoder<'_> {
    /// `cvt`
    pub fn cvt(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let to = op.ty()?;
        let from = op.ty()?;
        let [d, a] = operands else {
            return Err("cvt takes two operands".to_owned());
        };
        if !is_integer(to) || !is_integer(from) {
            return Err("not supported".to_owned());
        }
        let (a, a_bytes) = self.convertible(a, from)?;
        let (d, d_bytes) = self.any_register(d)?;
        let exact = a_bytes == lane_bytes(from) && d_bytes == lane_bytes(to);
        if exact && let Some(run) = direct(to, from) {
            self.lanes(run, d, &[a]);
            return Ok(());
        }
        let widen = widen(from, a_bytes).ok_or("the source is narrower than its type")?;
        let narrow = narrow(to, d_bytes).ok_or("the destination is narrower than its type")?;
        let wide = self.frame.fresh(8);
        self.lanes(widen, wide, &[a]);
        self.lanes(narrow, d, &[wide]);
        Ok(())
    }

    /// A source of at least a type's width, with its bytes a lane.
    fn convertible(&mut self, operand: &Operand, ty: Type) -> Decoded<(u32, u32)> {
        match operand {
            Operand::Reg(_) => self.any_register(operand),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let bytes = lane_bytes(ty);
                let bits = immediate(operand, ty)?;
                Ok((self.frame.value(Init::Constant { bits, bytes }), bytes))
            }
            other => Ok((self.source(other, ty)?, lane_bytes(ty))),
        }
    }
}

//! `mov`, `cvta`, `isspacep`.

use crate::lanes::{binary, binary_with, compare, test, unary, unary_with};
use crate::memory::address::{LOCAL_WINDOW, SHARED_WINDOW, rank_of, space_of};
use crate::program::{ClockRead, Op, PredicateOp, Slot, Transfer};
use ptx::ir::{Operand, Space, Special, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::modifiers::{take_cluster, take_space, take_vector};
use super::opcode::Opcode;
use super::operand::{elements, exactly};

impl Decoder<'_> {
    /// `mov`
    pub fn mov(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let n = take_vector(op);
        let ty = op.ty()?;
        let [d, a] = exactly(operands)?;
        if n > 1 {
            return self.mov_vector(ty, elements(d, n)?, elements(a, n)?);
        }
        if let Operand::Special(special) = a
            && let Some((bytes, shift)) = clock_of(*special)
        {
            let (slot, actual) = self.any_register(d)?;
            if actual != bytes {
                return Err("the destination has another width than the clock".to_owned());
            }
            self.emit(Op::Clock(ClockRead {
                d: slot,
                bytes,
                shift,
            }));
            return Ok(());
        }
        match (d, a) {
            (Operand::Vector(parts), a) => self.unpack(ty, parts, a),
            (d, Operand::Vector(parts)) => self.pack(ty, d, parts),
            _ if ty == Type::Pred => {
                let source = self.predicate(a)?;
                let d = self.destination(d, ty)?;
                let table = if source.flip == 0 { 0b1010 } else { 0b0101 };
                self.emit(Op::Predicate(PredicateOp {
                    d,
                    a: source.slot,
                    b: source.slot,
                    table,
                }));
                Ok(())
            }
            _ => {
                let a = self.source(a, ty)?;
                let slot = self.destination(d, ty)?;
                self.copy_to(d, slot, a, lane_bytes(ty));
                Ok(())
            }
        }
    }

    /// `mov.v2.u16 {d, e}, {a, b}`: all are read before the first is written.
    fn mov_vector(&mut self, ty: Type, d: &[Operand], a: &[Operand]) -> Decoded<()> {
        let bytes = lane_bytes(ty);
        if bytes == 0 {
            return Err("there are no vectors of predicates".to_owned());
        }
        let mut copies = Vec::with_capacity(a.len());
        for a in a {
            let a = self.source(a, ty)?;
            let copy = self.frame.temporary(bytes);
            self.copy(copy, a, bytes);
            copies.push(copy);
        }
        for (d, copy) in d.iter().zip(copies) {
            if let Some(d) = self.optional_destination(d, ty)? {
                self.copy(d, copy, bytes);
            }
        }
        Ok(())
    }

    /// `mov.b64 d, {a, b}`
    fn pack(&mut self, ty: Type, d: &Operand, parts: &[Operand]) -> Decoded<()> {
        let bytes = ty.size_bytes();
        let part = part_type(bytes, parts.len())?;
        let parts: Vec<Slot> = parts
            .iter()
            .map(|p| self.source(p, part))
            .collect::<Decoded<_>>()?;
        let d = self.destination(d, ty)?;
        match (bytes, &parts[..]) {
            _ if part == Type::B8 => self.pack_bytes(d, bytes, &parts),
            (4, &[low, high]) => {
                let run = binary(|low: u16, high: u16| u32::from(low) | u32::from(high) << 16);
                self.lanes(run, d, &[low, high]);
            }
            (8, &[low, high]) => {
                let run = binary(|low: u32, high: u32| u64::from(low) | u64::from(high) << 32);
                self.lanes(run, d, &[low, high]);
            }
            _ => self.emit(Op::Transfer(Box::new(Transfer::Pack {
                d,
                bytes,
                parts,
                part_bytes: part.size_bytes(),
            }))),
        }
        Ok(())
    }

    /// Two or four bytes, in registers of 16 bits, to a register of as many.
    fn pack_bytes(&mut self, d: Slot, bytes: u32, parts: &[Slot]) {
        let mut sum = self.frame.constant(0, 4);
        for (i, &part) in (0..).zip(parts) {
            let next = self.frame.temporary(4);
            let run =
                binary_with(|sum: u32, part: u16, shift| sum | u32::from(part as u8) << shift);
            self.lanes_with(run, next, &[sum, part], 8 * i);
            sum = next;
        }
        if bytes == 2 {
            self.lanes(unary(|sum: u32| sum as u16), d, &[sum]);
        } else {
            self.copy(d, sum, 4);
        }
    }

    /// `mov.b64 {d, e}, a`
    fn unpack(&mut self, ty: Type, parts: &[Operand], a: &Operand) -> Decoded<()> {
        let bytes = ty.size_bytes();
        let part = part_type(bytes, parts.len())?;
        let a = self.source(a, ty)?;
        let parts: Vec<Option<Slot>> = parts
            .iter()
            .map(|p| self.optional_destination(p, part))
            .collect::<Decoded<_>>()?;
        match (bytes, &parts[..]) {
            _ if part == Type::B8 => {
                for (i, d) in (0..).zip(&parts) {
                    let Some(d) = *d else { continue };
                    let run = if bytes == 2 {
                        unary_with(|a: u16, shift| u16::from((a >> shift) as u8))
                    } else {
                        unary_with(|a: u32, shift| u16::from((a >> shift) as u8))
                    };
                    self.lanes_with(run, d, &[a], 8 * i);
                }
            }
            (4, &[low, high]) => {
                if let Some(d) = low {
                    self.lanes(unary(|a: u32| a as u16), d, &[a]);
                }
                if let Some(d) = high {
                    self.lanes(unary(|a: u32| (a >> 16) as u16), d, &[a]);
                }
            }
            (8, &[low, high]) => {
                if let Some(d) = low {
                    self.lanes(unary(|a: u64| a as u32), d, &[a]);
                }
                if let Some(d) = high {
                    self.lanes(unary(|a: u64| (a >> 32) as u32), d, &[a]);
                }
            }
            _ => self.emit(Op::Transfer(Box::new(Transfer::Unpack {
                a,
                bytes,
                parts,
                part_bytes: part.size_bytes(),
            }))),
        }
        Ok(())
    }

    /// `cvta`, `cvta.to`
    pub fn cvta(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let to = op.take("to");
        let in_cluster = take_cluster(op);
        let space = match in_cluster {
            true => Space::Shared,
            false => take_space(op)?,
        };
        let ty = op.ty()?;
        let [d, a] = exactly(operands)?;
        if ty != Type::U64 {
            return Err("only 64-bit addresses are supported".to_owned());
        }
        // A parameter's address as a value is already generic.
        let already = matches!(a, Operand::Symbol { .. }) && space == Space::Param;
        let a = self.source(a, ty)?;
        let slot = self.destination(d, ty)?;
        let run = match (space, to) {
            _ if already => None,
            (Space::Shared, false) => Some(unary(|a: u64| a.wrapping_add(SHARED_WINDOW))),
            (Space::Shared, true) => Some(unary(|a: u64| a.wrapping_sub(SHARED_WINDOW))),
            (Space::Local, false) => Some(unary(|a: u64| a.wrapping_add(LOCAL_WINDOW))),
            (Space::Local, true) => Some(unary(|a: u64| a.wrapping_sub(LOCAL_WINDOW))),
            _ => None,
        };
        match run {
            Some(run) => self.lanes(run, slot, &[a]),
            None => self.copy_to(d, slot, a, 8),
        }
        Ok(())
    }

    /// `isspacep`
    pub fn isspacep(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let in_cluster = take_cluster(op);
        let space = take_space(op)?;
        let [d, a] = exactly(operands)?;
        let a = self.source(a, Type::U64)?;
        let d = self.destination(d, Type::Pred)?;
        let run = match space {
            Space::Shared => {
                // That of the block itself, however it is written.
                let own = self.own_rank();
                let run = compare(|a: u64, own: u32| {
                    space_of(a) == Space::Shared && rank_of(a - SHARED_WINDOW, own) == own
                });
                self.lanes(run, d, &[a, own]);
                return Ok(());
            }
            _ if in_cluster => test(|a: u64| space_of(a) == Space::Shared),
            Space::Local => test(|a: u64| space_of(a) == Space::Local),
            Space::Param => test(|a: u64| space_of(a) == Space::Param),
            Space::Global => test(|a: u64| space_of(a) == Space::Global),
            _ => return Err("isspacep does not know this space".to_owned()),
        };
        self.lanes(run, d, &[a]);
        Ok(())
    }
}

/// A clock's width, and the shift that gives its high half.
fn clock_of(special: Special) -> Option<(u32, u32)> {
    match special {
        Special::Clock | Special::GlobalTimerLo => Some((4, 0)),
        Special::ClockHi | Special::GlobalTimerHi => Some((4, 32)),
        Special::Clock64 | Special::GlobalTimer => Some((8, 0)),
        _ => None,
    }
}

/// The type of one of `n` parts of a value.
fn part_type(bytes: u32, n: usize) -> Decoded<Type> {
    match bytes as usize / n.max(1) {
        2 => Ok(Type::B16),
        4 => Ok(Type::B32),
        8 => Ok(Type::B64),
        1 if bytes == n as u32 => Ok(Type::B8),
        _ => Err("the parts do not make up the whole".to_owned()),
    }
}

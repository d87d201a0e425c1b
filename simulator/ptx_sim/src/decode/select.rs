//! Comparisons and selections: `setp`, `set`, `selp`, `slct`.

use crate::lanes::{LaneFn, binary_with, compare, ternary, unary};
use crate::numeric::float::flush;
use crate::numeric::half::{Bf16, F16};
use crate::program::{Guard, Op, PredicateOp, Slot, Transfer};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::frame::lane_bytes;
use super::opcode::Opcode;
use super::operand::exactly;

/// Truth tables over (a, b), bit `a + 2 b`.
const AND: u8 = 0b1000;
const OR: u8 = 0b1110;
const XOR: u8 = 0b0110;
const NOT_A: u8 = 0b0101;

/// The booleans that `setp` and `set` combine the comparison with.
const BOOLEANS: &[(&str, u8)] = &[("and", AND), ("or", OR), ("xor", XOR)];

/// A table with its second input negated.
fn negate_b(table: u8) -> u8 {
    (table >> 2 & 0b0011) | (table << 2 & 0b1100)
}

macro_rules! int_compare {
    ($t:ty, $name:expr) => {
        match $name {
            "eq" => compare(|a: $t, b: $t| a == b),
            "ne" => compare(|a: $t, b: $t| a != b),
            "lt" | "lo" => compare(|a: $t, b: $t| a < b),
            "le" | "ls" => compare(|a: $t, b: $t| a <= b),
            "gt" | "hi" => compare(|a: $t, b: $t| a > b),
            "ge" | "hs" => compare(|a: $t, b: $t| a >= b),
            _ => return None,
        }
    };
}

macro_rules! float_compare {
    ($t:ty, $name:expr, $f:expr) => {{
        match $name {
            "eq" => compare(|a: $t, b: $t| $f(a) == $f(b)),
            "ne" => compare(|a: $t, b: $t| {
                let (a, b) = ($f(a), $f(b));
                a < b || a > b
            }),
            "lt" => compare(|a: $t, b: $t| $f(a) < $f(b)),
            "le" => compare(|a: $t, b: $t| $f(a) <= $f(b)),
            "gt" => compare(|a: $t, b: $t| $f(a) > $f(b)),
            "ge" => compare(|a: $t, b: $t| $f(a) >= $f(b)),
            "equ" => compare(|a: $t, b: $t| {
                let (a, b) = ($f(a), $f(b));
                !(a < b || a > b)
            }),
            "neu" => compare(|a: $t, b: $t| $f(a) != $f(b)),
            "ltu" => compare(|a: $t, b: $t| !($f(a) >= $f(b))),
            "leu" => compare(|a: $t, b: $t| !($f(a) > $f(b))),
            "gtu" => compare(|a: $t, b: $t| !($f(a) <= $f(b))),
            "geu" => compare(|a: $t, b: $t| !($f(a) < $f(b))),
            "num" => compare(|a: $t, b: $t| {
                let (a, b) = ($f(a), $f(b));
                a == a && b == b
            }),
            "nan" => compare(|a: $t, b: $t| {
                let (a, b) = ($f(a), $f(b));
                a != a || b != b
            }),
            _ => return None,
        }
    }};
}

#[inline(always)]
fn same<T>(a: T) -> T {
    a
}

/// The loop of a comparison.
#[allow(
    clippy::eq_op,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::double_comparisons,
    clippy::nonminimal_bool
)] // NaN differs from itself.
fn comparison(name: &str, ty: Type, ftz: bool) -> Option<LaneFn> {
    Some(match ty {
        Type::U16 | Type::B16 => int_compare!(u16, name),
        Type::S16 => int_compare!(i16, name),
        Type::U32 | Type::B32 => int_compare!(u32, name),
        Type::S32 => int_compare!(i32, name),
        Type::U64 | Type::B64 => int_compare!(u64, name),
        Type::S64 => int_compare!(i64, name),
        Type::F32 if ftz => float_compare!(f32, name, flush::<f32>),
        Type::F32 => float_compare!(f32, name, same),
        Type::F64 => float_compare!(f64, name, same),
        Type::F16 if ftz => float_compare!(F16, name, |a: F16| flush(a).to_f32()),
        Type::F16 => float_compare!(F16, name, F16::to_f32),
        Type::Bf16 => float_compare!(Bf16, name, Bf16::to_f32),
        _ => return None,
    })
}

/// The loop of a comparison that must be there.
fn comparison_loop(name: &str, ty: Type, ftz: bool) -> Decoded<LaneFn> {
    let run = comparison(name, ty, ftz);
    run.ok_or_else(|| format!("the comparison .{name} on {ty} is not supported"))
}

/// The type of a pair's halves.
fn half_of(pair: Type) -> Type {
    match pair {
        Type::F16x2 => Type::F16,
        _ => Type::Bf16,
    }
}

/// A comparison's name.
fn comparison_name(part: &str) -> Option<&'static str> {
    const NAMES: [&str; 18] = [
        "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu",
        "gtu", "geu", "num", "nan",
    ];
    NAMES.into_iter().find(|name| *name == part)
}

impl Decoder<'_> {
    /// The comparison of `setp` and `set`, as a predicate, combined with a
    /// further predicate if there is one.
    fn compared(
        &mut self,
        name: &str,
        ty: Type,
        ftz: bool,
        [a, b]: [&Operand; 2],
    ) -> Decoded<Slot> {
        let run = comparison_loop(name, ty, ftz)?;
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let d = self.frame.temporary(0);
        self.lanes(run, d, &[a, b]);
        Ok(d)
    }

    /// `setp`
    pub fn setp(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let name = op.take_if(comparison_name).ok_or("no comparison given")?;
        let combine = op.choose(BOOLEANS);
        let ftz = op.take("ftz");
        let ty = op.ty()?;
        let [d, a, b, rest @ ..] = operands else {
            return Err("setp takes three operands".to_owned());
        };
        let (p, q) = match d {
            Operand::Pair(p, q) => (&**p, Some(&**q)),
            d => (d, None),
        };
        if matches!(ty, Type::F16x2 | Type::Bf16x2) {
            let with = self.combined_with(combine, rest)?;
            let halves = self.compared_halves(name, ty, ftz, [a, b])?;
            return self.both(p, q, halves.map(|compared| (compared, false)), with);
        }
        if q.is_none() && combine.is_none() {
            // The usual form: straight into the destination.
            let run = comparison_loop(name, ty, ftz)?;
            let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
            let d = self.destination(p, Type::Pred)?;
            self.lanes(run, d, &[a, b]);
            return Ok(());
        }
        let compared = self.compared(name, ty, ftz, [a, b])?;
        let with = self.combined_with(combine, rest)?;
        self.both(p, q, [(compared, false), (compared, true)], with)
    }

    /// What the comparison is combined with: a table and a predicate.
    fn combined_with(
        &mut self,
        table: Option<u8>,
        rest: &[Operand],
    ) -> Decoded<Option<(u8, Guard)>> {
        match (table, rest) {
            (Some(table), [c]) => Ok(Some((table, self.predicate(c)?))),
            (None, []) => Ok(None),
            _ => Err("a predicate to combine with is missing or too many".to_owned()),
        }
    }

    /// The comparisons of both halves of pairs.
    fn compared_halves(
        &mut self,
        name: &str,
        ty: Type,
        ftz: bool,
        [a, b]: [&Operand; 2],
    ) -> Decoded<[Slot; 2]> {
        let run = comparison(name, half_of(ty), ftz)
            .ok_or_else(|| format!("the comparison .{name} on {ty} is not supported"))?;
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let halves = [unary(|a: u32| a as u16), unary(|a: u32| (a >> 16) as u16)];
        Ok(halves.map(|take| {
            let (x, y) = (self.frame.temporary(2), self.frame.temporary(2));
            self.lanes(take, x, &[a]);
            self.lanes(take, y, &[b]);
            let d = self.frame.temporary(0);
            self.lanes(run, d, &[x, y]);
            d
        }))
    }

    /// Writes one predicate or two: comparisons, each negated if asked, combined
    /// with a further predicate.
    fn both(
        &mut self,
        p: &Operand,
        q: Option<&Operand>,
        compared: [(Slot, bool); 2],
        with: Option<(u8, Guard)>,
    ) -> Decoded<()> {
        let mut results = Vec::with_capacity(2);
        for (operand, (compared, negated)) in [Some(p), q].into_iter().zip(compared) {
            match operand {
                None | Some(Operand::Sink) => {}
                Some(operand) => {
                    let d = self.destination(operand, Type::Pred)?;
                    results.push((d, self.combined(compared, with, negated)));
                }
            }
        }
        // A destination may be what guards the instruction, or what was combined:
        // both are known before either is written, and the guard is written last.
        let guard = self.guard.map(|guard| guard.slot);
        results.sort_by_key(|(d, _)| Some(*d) == guard);
        for (d, a) in results {
            let table = 0b1010;
            self.emit(Op::Predicate(PredicateOp { d, a, b: a, table }));
        }
        Ok(())
    }

    /// A predicate as a number, 0 or 1.
    fn flag(&mut self, a: Slot) -> Slot {
        let d = self.frame.temporary(4);
        self.emit(Op::Transfer(Box::new(Transfer::FromPredicate { d, a })));
        d
    }

    /// A comparison (negated if asked) combined with a predicate.
    fn combined(&mut self, compared: Slot, with: Option<(u8, Guard)>, negated: bool) -> Slot {
        let (mut table, b) = match with {
            None => (0b1010, compared),
            Some((table, guard)) if guard.flip == 0 => (table, guard.slot),
            Some((table, guard)) => (negate_b(table), guard.slot),
        };
        if negated {
            // Negate the first input: swap the tables of a = 0 and a = 1.
            table = (table >> 1 & 0b0101) | (table << 1 & 0b1010);
        }
        let d = self.frame.temporary(0);
        self.emit(Op::Predicate(PredicateOp {
            d,
            a: compared,
            b,
            table,
        }));
        d
    }

    /// `and`, `or`, `xor`, `not` on predicates.
    pub fn predicate_logic(&mut self, name: &str, operands: &[Operand]) -> Decoded<()> {
        let (d, sources) = operands.split_first().ok_or("operands are missing")?;
        let (a, b, table) = match (name, sources) {
            ("not", [a]) => {
                let a = self.predicate_slot(a)?;
                (a, a, NOT_A)
            }
            (name, [a, b]) => {
                let found = BOOLEANS.iter().find(|(other, _)| *other == name);
                let (_, table) = *found.ok_or("this does not work on predicates")?;
                (self.predicate_slot(a)?, self.predicate_slot(b)?, table)
            }
            _ => return Err("the number of operands is wrong".to_owned()),
        };
        let d = self.destination(d, Type::Pred)?;
        self.emit(Op::Predicate(PredicateOp { d, a, b, table }));
        Ok(())
    }

    /// `set`
    pub fn set(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let name = op.take_if(comparison_name).ok_or("no comparison given")?;
        let combine = op.choose(BOOLEANS);
        let ftz = op.take("ftz");
        let d_type = op.ty()?;
        let ty = op.ty()?;
        let [d, a, b, rest @ ..] = operands else {
            return Err("set takes three operands".to_owned());
        };
        if matches!(ty, Type::F16x2 | Type::Bf16x2) {
            return self.set_halves(name, combine, ftz, (d_type, ty), [d, a, b], rest);
        }
        let compared = self.compared(name, ty, ftz, [a, b])?;
        let result = match (combine, rest) {
            (Some(table), [c]) => {
                let c = self.predicate_slot(c)?;
                let d = self.frame.temporary(0);
                self.emit(Op::Predicate(PredicateOp {
                    d,
                    a: compared,
                    b: c,
                    table,
                }));
                d
            }
            (None, []) => compared,
            _ => return Err("a predicate to combine with is missing or too many".to_owned()),
        };
        let flag = self.flag(result);
        let d = self.destination(d, d_type)?;
        let run = match d_type {
            Type::U32 | Type::S32 => unary(|flag: u32| 0u32.wrapping_sub(flag)),
            Type::F32 => unary(|flag: u32| flag as f32),
            Type::U16 | Type::S16 => unary(|flag: u32| 0u16.wrapping_sub(flag as u16)),
            Type::F16 => unary(|flag: u32| flag as u16 * 0x3C00),
            Type::Bf16 => unary(|flag: u32| flag as u16 * 0x3F80),
            other => return Err(format!("set to {other} is not supported")),
        };
        self.lanes(run, d, &[flag]);
        Ok(())
    }

    /// `set` on two halves: 1 or 0 in each, or for an integer all bits or none.
    fn set_halves(
        &mut self,
        name: &str,
        combine: Option<u8>,
        ftz: bool,
        (d_type, ty): (Type, Type),
        [d, a, b]: [&Operand; 3],
        rest: &[Operand],
    ) -> Decoded<()> {
        let one = match d_type {
            Type::U32 | Type::S32 => 0xFFFF,
            Type::F16x2 if ty == d_type => 0x3C00,
            Type::Bf16x2 if ty == d_type => 0x3F80,
            _ => return Err(format!("set of {ty} gives {ty} or an integer of 32 bits")),
        };
        let with = self.combined_with(combine, rest)?;
        let compared = self.compared_halves(name, ty, ftz, [a, b])?;
        let flags = compared.map(|compared| {
            let a = self.combined(compared, with, false);
            self.flag(a)
        });
        let d = self.destination(d, d_type)?;
        let run = binary_with(|low: u32, high: u32, one: u32| (low | high << 16) * one);
        self.lanes_with(run, d, &flags, one);
        Ok(())
    }

    /// `selp`
    pub fn selp(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        let [d, a, b, c] = exactly(operands)?;
        let c = self.predicate(c)?;
        let (mut a, mut b) = (self.source(a, ty)?, self.source(b, ty)?);
        if c.flip != 0 {
            std::mem::swap(&mut a, &mut b);
        }
        let d = self.destination(d, ty)?;
        let run = match lane_bytes(ty) {
            2 => crate::lanes::select::<u16>(),
            4 => crate::lanes::select::<u32>(),
            8 => crate::lanes::select::<u64>(),
            _ => return Err(format!("selp on {ty} is not supported")),
        };
        self.lanes(run, d, &[a, b, c.slot]);
        Ok(())
    }

    /// `slct`
    pub fn slct(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ftz = op.take("ftz");
        let ty = op.ty()?;
        let by = op.ty()?;
        let [d, a, b, c] = exactly(operands)?;
        let (a, b) = (self.source(a, ty)?, self.source(b, ty)?);
        let mut c = self.source(c, by)?;
        if by == Type::F32 && ftz {
            let flushed = self.frame.temporary(4);
            self.lanes(unary(flush::<f32>), flushed, &[c]);
            c = flushed;
        }
        let d = self.destination(d, ty)?;
        let run = match (lane_bytes(ty), by) {
            (2, Type::S32) => ternary(|a: u16, b: u16, c: i32| if c >= 0 { a } else { b }),
            (4, Type::S32) => ternary(|a: u32, b: u32, c: i32| if c >= 0 { a } else { b }),
            (8, Type::S32) => ternary(|a: u64, b: u64, c: i32| if c >= 0 { a } else { b }),
            (2, Type::F32) => ternary(|a: u16, b: u16, c: f32| if c >= 0.0 { a } else { b }),
            (4, Type::F32) => ternary(|a: u32, b: u32, c: f32| if c >= 0.0 { a } else { b }),
            (8, Type::F32) => ternary(|a: u64, b: u64, c: f32| if c >= 0.0 { a } else { b }),
            _ => return Err(format!("slct on {ty} by {by} is not supported")),
        };
        self.lanes(run, d, &[a, b, c]);
        Ok(())
    }

    /// A carry of 0 or 1 in 32-bit lanes.
    pub fn carry_slot(&mut self) -> Slot {
        if let Some(slot) = self.carry {
            return slot;
        }
        let slot = self.frame.permanent(4);
        self.carry = Some(slot);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_negate_as_they_should() {
        for (table, f) in [
            (AND, (|a, b| a & b) as fn(bool, bool) -> bool),
            (OR, |a, b| a | b),
            (XOR, |a, b| a ^ b),
        ] {
            for (a, b) in [(false, false), (true, false), (false, true), (true, true)] {
                let index = u8::from(a) + 2 * u8::from(b);
                assert_eq!(table >> index & 1 == 1, f(a, b));
                assert_eq!(negate_b(table) >> index & 1 == 1, f(a, !b));
            }
        }
    }
}

//! `cvt`

use crate::lanes::{LaneFn, binary, ternary, unary};
use crate::numeric::convert::{Conversion, Int, Number, narrow_f64, pack_saturated, widen_f32};
use crate::numeric::float::{Float, canonical_f32, saturate};
use crate::numeric::{Rounding, half};
use crate::program::{Convert, Op};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::fp8::is_small;
use super::frame::lane_bytes;
use super::opcode::Opcode;
use super::operand::{exactly, immediate};

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

/// A conversion's modifiers.
#[derive(Clone, Copy)]
struct Modifiers {
    rounding: Option<Rounding>,
    to_integral: bool,
    ftz: bool,
    saturate: bool,
    relu: bool,
    finite: bool,
}

impl Modifiers {
    fn take(op: &mut Opcode<'_>) -> Self {
        let rounding =
            op.take_if(|part| Some((Rounding::from_name(part)?, Rounding::is_integer_name(part))));
        Self {
            rounding: rounding.map(|(rounding, _)| rounding),
            to_integral: rounding.is_some_and(|(_, to_integral)| to_integral),
            ftz: op.take("ftz"),
            saturate: op.take("sat"),
            relu: op.take("relu"),
            finite: op.take("satfinite"),
        }
    }

    /// The dedicated loop of a frequent conversion.
    fn usual(self, to: Type, from: Type) -> Option<LaneFn> {
        use Type::{Bf16, F16, F32, F64, S32, S64, U16, U32, U64};
        if self.relu || self.finite {
            return None;
        }
        if self.saturate {
            let is_plain = !self.ftz && self.rounding.is_none();
            return (is_plain && (to, from) == (F32, F32)).then(|| unary(saturate::<f32>));
        }
        if let Some(run) = self.integral(to, from) {
            return Some(run);
        }
        if self.ftz {
            return None;
        }
        let nearest = self.rounding == Some(Rounding::NearestEven);
        if self.rounding.is_none()
            && let Some(run) = direct(to, from)
        {
            return Some(run);
        }
        Some(match (to, from) {
            (F32, S32) if nearest => unary(|a: i32| a as f32),
            (F32, U32) if nearest => unary(|a: u32| a as f32),
            (F32, U16) if nearest => unary(|a: u16| f32::from(a)),
            (F32, S64) if nearest => unary(|a: i64| a as f32),
            (F32, U64) if nearest => unary(|a: u64| a as f32),
            (F64, S32) => unary(|a: i32| f64::from(a)),
            (F64, U32) => unary(|a: u32| f64::from(a)),
            (F64, S64) if nearest => unary(|a: i64| a as f64),
            (F64, U64) if nearest => unary(|a: u64| a as f64),
            (F64, F32) if self.rounding.is_none() => unary(widen_f32),
            (F32, F64) if nearest && !self.to_integral => unary(narrow_f64),
            (F32, F16) if self.rounding.is_none() => unary(half::F16::to_f32),
            (F32, Bf16) if self.rounding.is_none() => unary(half::Bf16::to_f32),
            (F16, F32) if nearest && !self.to_integral => unary(half::F16::from_f32),
            (Bf16, F32) if nearest && !self.to_integral => unary(half::Bf16::from_f32),
            _ => return None,
        })
    }

    /// The dedicated loop of a conversion of a floating-point number to an integer, or to a whole
    /// number of the same type.
    fn integral(self, to: Type, from: Type) -> Option<LaneFn> {
        use Type::{F32, F64, S32, S64, U32, U64};
        macro_rules! rounded {
            ($round:ident) => {
                match (to, from) {
                    (F32, F32) => unary(|a: f32| canonical_f32(f32::$round(a))),
                    (F64, F64) => {
                        unary(|a: f64| unless_nan(a, f64::$round(a), f64::nan_result(&[a])))
                    }
                    // `as` limits to the type and makes a NaN zero, as PTX does from `f32` to 32
                    // bits.
                    (S32, F32) => unary(|a: f32| f32::$round(a) as i32),
                    (U32, F32) => unary(|a: f32| f32::$round(a) as u32),
                    (S64, F32) => unary(|a: f32| unless_nan(a, f32::$round(a) as i64, i64::MIN)),
                    (U64, F32) => unary(|a: f32| unless_nan(a, f32::$round(a) as u64, 1 << 63)),
                    (S32, F64) => unary(|a: f64| unless_nan(a, f64::$round(a) as i32, i32::MIN)),
                    (U32, F64) => unary(|a: f64| unless_nan(a, f64::$round(a) as u32, 1 << 31)),
                    (S64, F64) => unary(|a: f64| unless_nan(a, f64::$round(a) as i64, i64::MIN)),
                    (U64, F64) => unary(|a: f64| unless_nan(a, f64::$round(a) as u64, 1 << 63)),
                    _ => return None,
                }
            };
        }
        if !is_integer(to) && !self.to_integral {
            return None;
        }
        Some(match self.rounding? {
            // What is subnormal becomes zero, with or without `.ftz`.
            Rounding::Zero => rounded!(trunc),
            Rounding::NearestEven => rounded!(round_ties_even),
            _ if self.ftz => return None,
            Rounding::Down => rounded!(floor),
            Rounding::Up => rounded!(ceil),
            Rounding::NearestAway => return None,
        })
    }

    /// The conversion in general.
    fn conversion(self, to: Type, from: Type) -> Decoded<Conversion> {
        let number = |ty| Number::of_type(ty).ok_or_else(|| format!("{ty} cannot be converted"));
        Ok(Conversion {
            from: number(from)?,
            to: number(to)?,
            rounding: self.rounding.unwrap_or_default(),
            to_integral: self.to_integral && !is_integer(to) && !is_integer(from),
            ftz: self.ftz,
            saturate: self.saturate,
            relu: self.relu,
            finite: self.finite,
        })
    }

    /// Whether the rounding that a conversion needs is given.
    fn check_rounding(self, to: Type, from: Type) -> Decoded<()> {
        let needs = match (is_integer(from), is_integer(to)) {
            (true, true) => false,
            (true, false) | (false, true) => true,
            (false, false) => to.size_bytes() < from.size_bytes(),
        };
        if needs && self.rounding.is_none() {
            return Err(format!("a conversion from {from} to {to} needs a rounding"));
        }
        Ok(())
    }
}

/// A number that is made of `a`, or another one if that is a NaN.
#[inline(always)]
fn unless_nan<F: Float, T>(a: F, number: T, of_nan: T) -> T {
    if a.is_not_a_number() { of_nan } else { number }
}

#[inline(always)]
fn is_integer(ty: Type) -> bool {
    use Type::{S8, S16, S32, S64, U8, U16, U32, U64};
    matches!(ty, U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64)
}

impl Decoder<'_> {
    /// `cvt`
    pub fn cvt(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if op.take("pack") {
            return self.cvt_pack(op, operands);
        }
        if is_small(op) {
            return self.cvt_small(op, operands);
        }
        let modifiers = Modifiers::take(op);
        let to = op.ty()?;
        let from = op.ty()?;
        if matches!(to, Type::F16x2 | Type::Bf16x2) {
            return self.cvt_pair(modifiers, to, from, operands);
        }
        let [d, a] = exactly(operands)?;
        let (a, a_bytes) = self.convertible(a, from)?;
        let (d, d_bytes) = self.any_register(d)?;
        if a_bytes < from.size_bytes() {
            return Err("the source is narrower than its type".to_owned());
        }
        if d_bytes < to.size_bytes() {
            return Err("the destination is narrower than its type".to_owned());
        }
        let exact = a_bytes == lane_bytes(from) && d_bytes == lane_bytes(to);
        if exact && let Some(run) = modifiers.usual(to, from) {
            self.lanes(run, d, &[a]);
            return Ok(());
        }
        if is_integer(to) && is_integer(from) && !modifiers.saturate {
            let widen = widen(from, a_bytes).ok_or("the source is narrower than its type")?;
            let narrow = narrow(to, d_bytes).ok_or("the destination is narrower than its type")?;
            let wide = self.frame.temporary(8);
            self.lanes(widen, wide, &[a]);
            self.lanes(narrow, d, &[wide]);
            return Ok(());
        }
        let conversion = modifiers.conversion(to, from)?;
        modifiers.check_rounding(to, from)?;
        self.emit(Op::Convert(Box::new(Convert {
            conversion,
            d,
            d_bytes,
            a,
            a_bytes,
        })));
        Ok(())
    }

    /// `cvt.rn.f16x2.f32 d, a, b`: `a` in the upper half.
    fn cvt_pair(
        &mut self,
        modifiers: Modifiers,
        to: Type,
        from: Type,
        operands: &[Operand],
    ) -> Decoded<()> {
        if from != Type::F32 {
            return Err(format!("there is no conversion from {from} to {to}"));
        }
        let [d, a, b] = exactly(operands)?;
        let half = if to == Type::F16x2 {
            Type::F16
        } else {
            Type::Bf16
        };
        let conversion = modifiers.conversion(half, from)?;
        let (high, low) = (self.source(a, from)?, self.source(b, from)?);
        let halves = [self.frame.temporary(2), self.frame.temporary(2)];
        for (a, d) in [low, high].into_iter().zip(halves) {
            match modifiers.usual(half, from) {
                Some(run) => self.lanes(run, d, &[a]),
                None => self.emit(Op::Convert(Box::new(Convert {
                    conversion,
                    d,
                    d_bytes: 2,
                    a,
                    a_bytes: 4,
                }))),
            }
        }
        let d = self.destination(d, Type::B32)?;
        let run = binary(|low: u16, high: u16| u32::from(low) | u32::from(high) << 16);
        self.lanes(run, d, &halves);
        Ok(())
    }

    /// `cvt.pack.sat`
    fn cvt_pack(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        if !op.take("sat") {
            return Err("cvt.pack needs .sat".to_owned());
        }
        let to = op.ty()?;
        op.take_type();
        op.take_type();
        let [d, a, b, rest @ ..] = operands else {
            return Err("cvt.pack takes three or four operands".to_owned());
        };
        macro_rules! pack {
            ($bits:expr, $signed:expr) => {
                ternary(|a: i32, b: i32, c: u32| {
                    pack_saturated(
                        Int {
                            n_bits: $bits,
                            is_signed: $signed,
                        },
                        a,
                        b,
                        c,
                    )
                })
            };
        }
        let run = match to {
            Type::U8 => pack!(8, false),
            Type::S8 => pack!(8, true),
            Type::U16 => pack!(16, false),
            Type::S16 => pack!(16, true),
            other => return Err(format!("there is no cvt.pack to {other}")),
        };
        let c = match rest {
            [] => self.frame.constant(0, 4),
            [c] => self.source(c, Type::B32)?,
            _ => return Err("too many operands".to_owned()),
        };
        let (a, b) = (self.source(a, Type::S32)?, self.source(b, Type::S32)?);
        let d = self.destination(d, Type::B32)?;
        self.lanes(run, d, &[a, b, c]);
        Ok(())
    }

    /// A source of at least a type's width, with its bytes per lane.
    fn convertible(&mut self, operand: &Operand, ty: Type) -> Decoded<(u32, u32)> {
        match operand {
            Operand::Reg(_) => self.any_register(operand),
            Operand::Int(_) | Operand::F32(_) | Operand::F64(_) => {
                let bytes = lane_bytes(ty);
                let bits = immediate(operand, ty)?;
                Ok((self.frame.constant(bits, bytes), bytes))
            }
            other => Ok((self.source(other, ty)?, lane_bytes(ty))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{FULL_MASK, LaneOp, WARP_SIZE};
    use Type::{F32, F64, S32, S64, U32, U64};

    /// What a loop makes of lanes of `from`, cut to the bits of `to`.
    fn converted(run: LaneFn, [to, from]: [Type; 2], lanes: &[u64; WARP_SIZE]) -> [u64; WARP_SIZE] {
        #[repr(align(16))]
        struct Frame([[u8; 8 * WARP_SIZE]; 2]);
        let mut frame = Frame([[0; 8 * WARP_SIZE]; 2]);
        let [source, _] = &mut frame.0;
        let n_bytes = from.size_bytes() as usize;
        for (to, lane) in source.chunks_exact_mut(n_bytes).zip(lanes) {
            to.copy_from_slice(&lane.to_le_bytes()[..n_bytes]);
        }
        let op = LaneOp {
            run: run.run,
            d: 8 * WARP_SIZE as u32,
            a: 0,
            b: 0,
            c: 0,
            e: 0,
        };
        // SAFETY: Both registers have room for 32 lanes of 8 bytes.
        unsafe { (run.run)((&raw mut frame).cast(), &op, FULL_MASK) };
        let mut results = frame.0[1].chunks_exact(to.size_bytes() as usize);
        std::array::from_fn(|_| {
            let mut bytes = [0; 8];
            let result = results.next().expect("32 lanes");
            bytes[..result.len()].copy_from_slice(result);
            u64::from_le_bytes(bytes)
        })
    }

    /// Numbers at the edges of integers and of the formats, halves between integers, and no numbers.
    fn hard(ty: Type) -> Vec<u64> {
        let powers = (0..66).map(|exponent| f64::from(exponent).exp2());
        let near = powers.flat_map(|power| {
            let neighbours = [power.next_down(), power, power.next_up()];
            let halves = [power - 0.5, power + 0.5, power + 1.5, power - 1.0];
            neighbours.into_iter().chain(halves)
        });
        let small = [0.0, 0.25, 0.5, 0.75, 1e-40, 1e-310, 1e300, f64::INFINITY];
        let positive: Vec<f64> = near.chain(small).chain([f64::NAN]).collect();
        let bits = |number: f64| match ty {
            F32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        };
        let sign = 1 << (8 * ty.size_bytes() - 1);
        let both = |bits| [bits, bits | sign];
        let payloads = match ty {
            F32 => [0x7f80_0001, 0x7fc0_1234],
            _ => [0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_1234],
        };
        let all = positive.into_iter().map(bits).chain(payloads);
        all.flat_map(both).collect()
    }

    #[test]
    fn dedicated_loops_convert_as_the_general_one() {
        use Rounding::{Down, NearestEven, Up, Zero};
        let modifiers = |rounding: Option<Rounding>, ftz, saturate| Modifiers {
            rounding,
            to_integral: rounding.is_some(),
            ftz,
            saturate,
            relu: false,
            finite: false,
        };
        let integral = [Zero, NearestEven, Down, Up]
            .into_iter()
            .flat_map(|rounding| [false, true].map(|ftz| modifiers(Some(rounding), ftz, false)));
        let mut n_compared = 0;
        for modifiers in integral.chain([modifiers(None, false, true)]) {
            for (to, from) in [F32, F64, S32, U32, S64, U64]
                .into_iter()
                .flat_map(|to| [(to, F32), (to, F64)])
            {
                let Some(run) = modifiers.usual(to, from) else {
                    continue;
                };
                let general = modifiers.conversion(to, from).expect("it exists");
                for lanes in hard(from).as_chunks().0 {
                    let found = converted(run, [to, from], lanes);
                    for (bits, found) in lanes.iter().zip(found) {
                        let expected =
                            general.apply(*bits) & u64::MAX >> (64 - 8 * to.size_bytes());
                        let rounding = modifiers.rounding;
                        assert_eq!(found, expected, "{to} of {from} {bits:x}, {rounding:?}");
                    }
                }
                n_compared += 1;
            }
        }
        // With `.ftz` only where it does nothing.
        assert_eq!(n_compared, 4 * 10 + 2 * 10 + 1);
    }
}

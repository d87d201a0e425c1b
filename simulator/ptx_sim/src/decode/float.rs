//! Floating-point arithmetic.
//!
//! The usual forms (rounded to nearest, without modifiers, or with `.ftz`
//! alone) each have a loop of their own. All others share one loop for each
//! operation and type, which reads rounding and modifiers from a constant.

use crate::lanes::{
    Lane, LaneFn, binary, binary_with, has_wide_vectors, ternary, ternary_with, test, unary,
    unary_with,
};
use crate::numeric::compare::{self, Extremum, Property};
use crate::numeric::float::{self, Float, FusedF32};
use crate::numeric::half::{Bf16, F16, packed1, packed2, packed3};
use crate::numeric::{Rounding, approx};
use ptx::ir::{Operand, Type};

use super::decoder::{Decoded, Decoder};
use super::opcode::Opcode;

/// Modifiers, packed into the constant of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Modifiers(u32);

const RM: u32 = 2;
const FTZ: u32 = 1 << 8;
const SAT: u32 = 1 << 9;
const RELU: u32 = 1 << 10;

impl Modifiers {
    fn take(op: &mut Opcode<'_>) -> Self {
        let rounding = op.choose(&[("rn", 0), ("rz", 1), ("rm", RM), ("rp", 3)]);
        let mut bits = rounding.unwrap_or(0);
        for (name, bit) in [("ftz", FTZ), ("sat", SAT), ("relu", RELU)] {
            if op.take(name) {
                bits |= bit;
            }
        }
        Self(bits)
    }

    #[inline(always)]
    fn rounding(self) -> Rounding {
        match self.0 & 3 {
            0 => Rounding::NearestEven,
            1 => Rounding::Zero,
            RM => Rounding::Down,
            _ => Rounding::Up,
        }
    }

    #[inline(always)]
    fn has_ftz(self) -> bool {
        self.0 & FTZ != 0
    }

    /// An operand after `.ftz`.
    #[inline(always)]
    fn before<F: Float>(self, a: F) -> F {
        if self.has_ftz() { float::flush(a) } else { a }
    }

    /// A result after `.sat` and `.relu`.
    #[inline(always)]
    fn limited<F: Float>(self, mut a: F) -> F {
        if self.0 & SAT != 0 {
            a = float::saturate(a);
        }
        if self.0 & RELU != 0 {
            a = float::relu(a);
        }
        a
    }
}

/// To nearest.
const RN: Rounding = Rounding::NearestEven;

/// The loop of an operation with one source; `$flushing` is its `.ftz` form.
macro_rules! one_source {
    ($ty:expr, $m:expr, $f:expr, $flushing:expr) => {
        match ($ty, $m.0) {
            (Type::F32, 0) => unary(|a: f32| $f(a, RN)),
            (Type::F64, 0) => unary(|a: f64| $f(a, RN)),
            (Type::F32, _) => unary_with(|a: f32, m| with1(m, a, $f, $flushing)),
            (Type::F64, _) => unary_with(|a: f64, m| with1(m, a, $f, $flushing)),
            (other, _) => return Err(format!("there is no such operation on {other}")),
        }
    };
}

/// The loop of an operation on numbers of 16 bits, alone or in pairs. It becomes one of vectors
/// only if the operation is a part of it, which the compiler finds too large.
macro_rules! of_halves {
    ($shape:ident($($a:ident),*): $half:ty => $f:expr) => {
        $shape(#[inline(always)] |$($a: $half),*| $f)
    };
    ($shape:ident($($a:ident),*): $packed:ident $half:ty => $f:expr) => {
        $shape(
            #[inline(always)]
            |$($a: u32),*| $packed($($a,)* #[inline(always)] |$($a: $half),*| $f),
        )
    };
}

/// The loop of an operation with two sources, on any type; `$flushing` is its
/// `.ftz` form.
macro_rules! two_sources {
    ($ty:expr, $m:expr, $f:expr, $flushing:expr) => {
        match ($ty, $m.0) {
            (Type::F32, 0) => binary(|a: f32, b: f32| $f(a, b, RN)),
            (Type::F64, 0) => binary(|a: f64, b: f64| $f(a, b, RN)),
            (Type::F32, FTZ) => binary(|a: f32, b: f32| $flushing(a, b, RN)),
            (Type::F16, 0) => of_halves!(binary(a, b): F16 => $f(a, b, RN)),
            (Type::Bf16, 0) => of_halves!(binary(a, b): Bf16 => $f(a, b, RN)),
            (Type::F16x2, 0) => of_halves!(binary(a, b): packed2 F16 => $f(a, b, RN)),
            (Type::Bf16x2, 0) => of_halves!(binary(a, b): packed2 Bf16 => $f(a, b, RN)),
            (Type::F32, _) => binary_with(|a: f32, b: f32, m| with2(m, a, b, $f, $flushing)),
            (Type::F64, _) => binary_with(|a: f64, b: f64, m| with2(m, a, b, $f, $flushing)),
            (Type::F16, _) => binary_with(|a: F16, b: F16, m| with2(m, a, b, $f, $flushing)),
            (Type::Bf16, _) => binary_with(|a: Bf16, b: Bf16, m| with2(m, a, b, $f, $flushing)),
            (Type::F16x2, _) => binary_with(|a: u32, b: u32, m| {
                packed2(a, b, |a: F16, b: F16| with2(m, a, b, $f, $flushing))
            }),
            (Type::Bf16x2, _) => binary_with(|a: u32, b: u32, m| {
                packed2(a, b, |a: Bf16, b: Bf16| with2(m, a, b, $f, $flushing))
            }),
            (other, _) => return Err(format!("there is no such operation on {other}")),
        }
    };
}

#[inline(always)]
fn with1<F: Float>(
    m: u32,
    a: F,
    plain: impl Fn(F, Rounding) -> F,
    flushing: impl Fn(F, Rounding) -> F,
) -> F {
    let m = Modifiers(m);
    let rounding = m.rounding();
    m.limited(if m.has_ftz() {
        flushing(a, rounding)
    } else {
        plain(a, rounding)
    })
}

#[inline(always)]
fn with2<F: Float>(
    m: u32,
    a: F,
    b: F,
    plain: impl Fn(F, F, Rounding) -> F,
    flushing: impl Fn(F, F, Rounding) -> F,
) -> F {
    let m = Modifiers(m);
    let rounding = m.rounding();
    m.limited(if m.has_ftz() {
        flushing(a, b, rounding)
    } else {
        plain(a, b, rounding)
    })
}

#[inline(always)]
fn fma_with<F: Float>(m: u32, a: F, b: F, c: F) -> F {
    let m = Modifiers(m);
    let fma = if m.has_ftz() {
        float::fma_ftz
    } else {
        float::fma
    };
    m.limited(fma(a, b, c, m.rounding()))
}

/// The loop of `fma.f32`.
fn fma_single<F: Float + Lane>(m: Modifiers) -> LaneFn {
    match m.0 {
        0 => ternary(|a: F, b: F, c: F| float::fma(a, b, c, RN)),
        FTZ => ternary(|a: F, b: F, c: F| float::fma_ftz(a, b, c, RN)),
        // In every `expf` of CUDA's.
        RM => ternary(|a: F, b: F, c: F| float::fma(a, b, c, Rounding::Down)),
        _ => ternary_with(|a: F, b: F, c: F, m| fma_with(m, a, b, c)),
    }
}

/// The loop of `fma`.
fn fma(ty: Type, m: Modifiers) -> Decoded<LaneFn> {
    Ok(match (ty, m.0) {
        // The wide loops are compiled with the host's own fma.
        (Type::F32, _) if has_wide_vectors() => fma_single::<FusedF32>(m),
        (Type::F32, _) => fma_single::<f32>(m),
        (Type::F64, 0) => ternary(|a: f64, b: f64, c: f64| float::fma(a, b, c, RN)),
        (Type::F64, _) => ternary_with(|a: f64, b: f64, c: f64, m| fma_with(m, a, b, c)),
        (Type::F16, 0) => of_halves!(ternary(a, b, c): F16 => a.fma_nearest(b, c)),
        (Type::Bf16, 0) => of_halves!(ternary(a, b, c): Bf16 => a.fma_nearest(b, c)),
        (Type::F16x2, 0) => of_halves!(ternary(a, b, c): packed3 F16 => a.fma_nearest(b, c)),
        (Type::Bf16x2, 0) => of_halves!(ternary(a, b, c): packed3 Bf16 => a.fma_nearest(b, c)),
        (Type::F16, _) => ternary_with(|a: F16, b: F16, c: F16, m| fma_with(m, a, b, c)),
        (Type::Bf16, _) => ternary_with(|a: Bf16, b: Bf16, c: Bf16, m| fma_with(m, a, b, c)),
        (Type::F16x2, _) => ternary_with(|a: u32, b: u32, c: u32, m| {
            packed3(a, b, c, |a: F16, b: F16, c: F16| fma_with(m, a, b, c))
        }),
        (Type::Bf16x2, _) => ternary_with(|a: u32, b: u32, c: u32, m| {
            packed3(a, b, c, |a: Bf16, b: Bf16, c: Bf16| fma_with(m, a, b, c))
        }),
        (other, _) => return Err(format!("there is no fma on {other}")),
    })
}

/// The loop of `neg` or `abs`: `$f` for one number, by type and `.ftz`.
macro_rules! sign {
    ($ty:expr, $ftz:expr, $f:path) => {
        match ($ty, $ftz) {
            (Type::F32, false) => unary(|a: f32| $f(a)),
            (Type::F32, true) => unary(|a: f32| $f(float::flush(a))),
            (Type::F64, _) => unary(|a: f64| $f(a)),
            (Type::F16, false) => unary(|a: F16| $f(a)),
            (Type::F16, true) => unary(|a: F16| $f(float::flush(a))),
            (Type::Bf16, _) => unary(|a: Bf16| $f(a)),
            (Type::F16x2, false) => unary(|a: u32| packed1(a, |a: F16| $f(a))),
            (Type::F16x2, true) => unary(|a: u32| packed1(a, |a: F16| $f(float::flush(a)))),
            (Type::Bf16x2, _) => unary(|a: u32| packed1(a, |a: Bf16| $f(a))),
            (other, _) => return Err(format!("there is no sign of {other}")),
        }
    };
}

/// Bits of the constant of `min` and `max`, in addition to [`FTZ`].
const NAN: u32 = 1 << 0;
const XOR_SIGN: u32 = 1 << 1;

#[inline(always)]
fn extremum<F: Float>(m: u32, a: F, b: F, f: impl Fn(F, F, Extremum) -> F) -> F {
    let rule = Extremum {
        propagates_nan: m & NAN != 0,
        xor_sign: m & XOR_SIGN != 0,
    };
    let m = Modifiers(m & FTZ);
    m.limited(f(m.before(a), m.before(b), rule))
}

/// The usual `min` and `max` of f32: the other operand where one is a NaN,
/// -0 below +0.
#[inline(always)]
fn pick(a: f32, b: f32, first: bool) -> f32 {
    let chosen = if first { a } else { b };
    let chosen = if a.is_nan() { b } else { chosen };
    let chosen = if b.is_nan() { a } else { chosen };
    float::canonical_f32(chosen)
}

/// The loop of `min` or `max`.
macro_rules! extremum_loop {
    ($ty:expr, $f:path) => {
        match $ty {
            Type::F32 => binary_with(|a: f32, b: f32, m| extremum(m, a, b, $f)),
            Type::F64 => binary_with(|a: f64, b: f64, m| extremum(m, a, b, $f)),
            Type::F16 => binary_with(|a: F16, b: F16, m| extremum(m, a, b, $f)),
            Type::Bf16 => binary_with(|a: Bf16, b: Bf16, m| extremum(m, a, b, $f)),
            Type::F16x2 => binary_with(|a: u32, b: u32, m| {
                packed2(a, b, |a: F16, b: F16| extremum(m, a, b, $f))
            }),
            Type::Bf16x2 => binary_with(|a: u32, b: u32, m| {
                packed2(a, b, |a: Bf16, b: Bf16| extremum(m, a, b, $f))
            }),
            other => return Err(format!("there is no minimum of {other}")),
        }
    };
}

/// The loop of an approximate function of f32, with or without `.ftz`.
macro_rules! approximate {
    ($ftz:expr, $f:path) => {
        if $ftz {
            unary(|a: f32| float::flush($f(float::flush(a))))
        } else {
            unary(|a: f32| $f(a))
        }
    };
}

impl Decoder<'_> {
    /// A floating-point instruction.
    pub fn float(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        match op.name {
            "add" | "sub" | "mul" => {
                let m = Modifiers::take(op);
                let ty = op.ty()?;
                let run = match op.name {
                    "add" => two_sources!(ty, m, float::add, float::add_ftz),
                    "sub" => two_sources!(ty, m, float::sub, float::sub_ftz),
                    _ => two_sources!(ty, m, float::mul, float::mul_ftz),
                };
                self.with_constant(run, 2, ty, m.0, operands)
            }
            "fma" | "mad" => {
                let m = Modifiers::take(op);
                let ty = op.ty()?;
                self.with_constant(fma(ty, m)?, 3, ty, m.0, operands)
            }
            "neg" | "abs" => {
                let ftz = op.take("ftz");
                let ty = op.ty()?;
                let run = match op.name {
                    "neg" => sign!(ty, ftz, float::neg),
                    _ => sign!(ty, ftz, float::abs),
                };
                self.straight(run, 1, ty, ty, operands)
            }
            "min" | "max" => self.extremum(op, operands),
            "copysign" => {
                let ty = op.ty()?;
                let run = match ty {
                    Type::F32 => binary(|a: f32, b: f32| float::copysign(a, b)),
                    Type::F64 => binary(|a: f64, b: f64| float::copysign(a, b)),
                    other => return Err(format!("there is no copysign on {other}")),
                };
                self.straight(run, 2, ty, ty, operands)
            }
            "testp" => self.testp(op, operands),
            "div" => self.divide(op, operands),
            _ => self.function(op, operands),
        }
    }

    /// A lane-wise operation with a constant for its closure.
    fn with_constant(
        &mut self,
        run: LaneFn,
        n: usize,
        ty: Type,
        constant: u32,
        operands: &[Operand],
    ) -> Decoded<()> {
        self.lanewise(run, Some(constant), &vec![ty; n], ty, operands)
    }

    /// `min`, `max`
    fn extremum(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let mut m = 0;
        for (name, bit) in [("ftz", FTZ), ("NaN", NAN), ("xorsign", XOR_SIGN)] {
            if op.take(name) {
                m |= bit;
            }
        }
        if m & XOR_SIGN != 0 {
            op.take("abs");
        }
        let ty = op.ty()?;
        let run = match (op.name, ty, m) {
            ("min", Type::F32, 0) => {
                binary(|a: f32, b: f32| pick(a, b, a < b || (a == b && a.is_sign_negative())))
            }
            ("max", Type::F32, 0) => {
                binary(|a: f32, b: f32| pick(a, b, a > b || (a == b && a.is_sign_positive())))
            }
            ("min", ..) => extremum_loop!(ty, compare::min),
            _ => extremum_loop!(ty, compare::max),
        };
        self.with_constant(run, 2, ty, m, operands)
    }

    /// `testp`
    fn testp(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let ty = op.ty()?;
        macro_rules! by_property {
            ($t:ty) => {
                op.choose(&[
                    ("finite", test(|a: $t| Property::Finite.holds(a))),
                    ("infinite", test(|a: $t| Property::Infinite.holds(a))),
                    ("number", test(|a: $t| Property::Number.holds(a))),
                    ("notanumber", test(|a: $t| Property::NotANumber.holds(a))),
                    ("normal", test(|a: $t| Property::Normal.holds(a))),
                    ("subnormal", test(|a: $t| Property::Subnormal.holds(a))),
                ])
            };
        }
        let run = match ty {
            Type::F32 => by_property!(f32),
            Type::F64 => by_property!(f64),
            other => return Err(format!("there is no testp on {other}")),
        };
        let run = run.ok_or("no property given")?;
        self.straight(run, 1, ty, Type::Pred, operands)
    }

    /// `div`
    fn divide(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let (approximate, full) = (op.take("approx"), op.take("full"));
        let m = Modifiers::take(op);
        let ty = op.ty()?;
        let run = match (ty, approximate, full, m.0) {
            (Type::F32, false, false, 0) => binary(|a: f32, b: f32| float::div(a, b, RN)),
            (Type::F64, false, false, 0) => binary(|a: f64, b: f64| float::div(a, b, RN)),
            (Type::F32, false, false, _) => {
                binary_with(|a: f32, b: f32, m| with2(m, a, b, float::div, float::div_ftz))
            }
            (Type::F64, false, false, _) => {
                binary_with(|a: f64, b: f64, m| with2(m, a, b, float::div, float::div_ftz))
            }
            (Type::F32, true, false, 0) => binary(approx::div),
            (Type::F32, false, true, 0) => binary(approx::div_full),
            (Type::F32, true, false, FTZ) => {
                binary(|a: f32, b: f32| float::flush(approx::div(float::flush(a), float::flush(b))))
            }
            (Type::F32, false, true, FTZ) => binary(|a: f32, b: f32| {
                float::flush(approx::div_full(float::flush(a), float::flush(b)))
            }),
            _ => return Err("there is no such division".to_owned()),
        };
        self.with_constant(run, 2, ty, m.0, operands)
    }

    /// `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `lg2`, `ex2`, `tanh`
    fn function(&mut self, op: &mut Opcode<'_>, operands: &[Operand]) -> Decoded<()> {
        let is_approximate = op.take("approx");
        let m = Modifiers::take(op);
        let ty = op.ty()?;
        let ftz = m.0 == FTZ;
        if is_approximate && m.0 & !FTZ != 0 {
            return Err("an approximate function takes no rounding".to_owned());
        }
        let run = match (op.name, ty, is_approximate) {
            ("rcp", _, false) => one_source!(ty, m, float::rcp, float::rcp_ftz),
            ("sqrt", _, false) => one_source!(ty, m, float::sqrt, float::sqrt_ftz),
            ("rcp", Type::F32, true) => approximate!(ftz, approx::rcp),
            ("rcp", Type::F64, true) => unary(approx::rcp_f64),
            ("sqrt", Type::F32, true) => approximate!(ftz, approx::sqrt),
            ("rsqrt", Type::F32, true) => approximate!(ftz, approx::rsqrt),
            ("rsqrt", Type::F64, true) if ftz => unary(approx::rsqrt_ftz_f64),
            ("rsqrt", Type::F64, true) => unary(approx::rsqrt_f64),
            ("sin", Type::F32, true) => approximate!(ftz, approx::sin),
            ("cos", Type::F32, true) => approximate!(ftz, approx::cos),
            ("lg2", Type::F32, true) => approximate!(ftz, approx::lg2),
            ("ex2", Type::F32, true) => approximate!(ftz, approx::ex2),
            ("tanh", Type::F32, true) => unary(approx::tanh),
            ("ex2", Type::F16, true) => unary(approx::ex2_half::<F16>),
            ("ex2", Type::Bf16, true) => unary(approx::ex2_ftz_bf16),
            ("tanh", Type::F16, true) => unary(approx::tanh_half::<F16>),
            ("tanh", Type::Bf16, true) => unary(approx::tanh_half::<Bf16>),
            ("ex2", Type::F16x2, true) => unary(|a: u32| packed1(a, approx::ex2_half::<F16>)),
            ("ex2", Type::Bf16x2, true) => unary(|a: u32| packed1(a, approx::ex2_ftz_bf16)),
            ("tanh", Type::F16x2, true) => unary(|a: u32| packed1(a, approx::tanh_half::<F16>)),
            ("tanh", Type::Bf16x2, true) => unary(|a: u32| packed1(a, approx::tanh_half::<Bf16>)),
            (name, ty, _) => return Err(format!("there is no such {name} on {ty}")),
        };
        self.with_constant(run, 1, ty, m.0, operands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{FULL_MASK, LaneOp, WARP_SIZE};
    use crate::numeric::soft;

    /// A frame of four registers: three sources and a destination.
    #[repr(align(16))]
    struct Frame([[u32; WARP_SIZE]; 4]);

    const ROW: u32 = size_of::<[u32; WARP_SIZE]>() as u32;

    impl Frame {
        fn new([a, b, c]: [[u32; WARP_SIZE]; 3]) -> Self {
            Self([a, b, c, [0; WARP_SIZE]])
        }

        /// What a loop makes of its 32 lanes.
        fn run(&mut self, run: LaneFn, m: Modifiers) -> &[u32; WARP_SIZE] {
            let op = LaneOp {
                run: run.run,
                d: 3 * ROW,
                a: 0,
                b: ROW,
                c: 2 * ROW,
                e: m.0,
            };
            // SAFETY: The frame has four registers of 32-bit lanes, which is what the loop takes.
            unsafe { (run.run)((&raw mut *self).cast(), &op, FULL_MASK) };
            &self.0[3]
        }
    }

    /// Numbers at which an `fma` that rounds twice, flushes, or keeps a NaN's bits goes wrong:
    /// near every power of two that is an edge of the format or of its half, and no numbers.
    fn hard() -> Vec<u32> {
        let powers = [
            1, 2, 23, 24, 64, 103, 115, 126, 127, 128, 139, 150, 151, 253, 254,
        ];
        let near = powers.into_iter().flat_map(|exponent: u32| {
            [0, 1, 2, 0x40_0000, 0x7F_FFFF].map(|fraction| exponent << 23 | fraction)
        });
        let subnormal = [0, 1, 2, 3, 0x40_0000, 0x7F_FFFF];
        let no_numbers = [0x7F80_0000, 0x7F80_0001, 0x7FC0_1234, 0x7FFF_FFFF];
        let positive = near.chain(subnormal).chain(no_numbers);
        positive.flat_map(|bits| [bits, bits | 1 << 31]).collect()
    }

    /// `a * b + c` and `a * b - (a * b rounded)`, which only one rounding gets right.
    fn cases() -> Vec<[u32; 3]> {
        let hard = hard();
        let mut cases = Vec::new();
        for (i, &a) in hard.iter().enumerate() {
            for &b in &hard {
                let product = f32::from_bits(a) * f32::from_bits(b);
                cases.push([a, b, product.to_bits() ^ 1 << 31]);
                cases.push([a, b, (product.to_bits() ^ 1 << 31).wrapping_add(1)]);
                // A different dozen of addends for each factor.
                cases.extend(hard.iter().skip(i % 13).step_by(13).map(|&c| [a, b, c]));
            }
        }
        cases
    }

    #[test]
    fn both_versions_of_fma_give_the_same_bits() {
        let cases = cases();
        for m in [0, FTZ, SAT, RELU, FTZ | SAT, FTZ | RELU, 1, 2, 3, FTZ | 2].map(Modifiers) {
            let (plain, fused) = (fma_single::<f32>(m), fma_single::<FusedF32>(m));
            assert_eq!(plain.widths, fused.widths);
            for cases in cases.as_chunks::<WARP_SIZE>().0 {
                let mut frame = Frame::new([0, 1, 2].map(|i| cases.map(|case| case[i])));
                let plain = *frame.run(plain, m);
                let fused = *frame.run(fused, m);
                for (case, (plain, fused)) in cases.iter().zip(plain.into_iter().zip(fused)) {
                    let m = m.0;
                    assert_eq!(
                        plain, fused,
                        "{m:#x} {case:x?}: {fused:08x}, not {plain:08x}"
                    );
                }
            }
        }
    }

    #[test]
    fn directed_sums_are_those_of_exact_arithmetic() {
        for [a, b, c] in cases() {
            for rounding in [Rounding::Zero, Rounding::Down, Rounding::Up] {
                let sum = float::fma(
                    f32::from_bits(a),
                    f32::from_bits(b),
                    f32::from_bits(c),
                    rounding,
                );
                let (a, b, c) = (a.into(), b.into(), c.into());
                let exact = soft::fma(soft::F32, a, b, c, rounding);
                assert_eq!(sum.bits(), exact, "{rounding:?} {a:08x} {b:08x} {c:08x}");
            }
        }
    }

    /// The shortest of many short times of a loop: other programs cannot make that longer.
    fn shortest_time(run: LaneFn) -> std::time::Duration {
        let mut frame = Frame::new([[1.0_f32.to_bits(); WARP_SIZE]; 3]);
        let time = |_| {
            let start = std::time::Instant::now();
            for _ in 0..100 {
                std::hint::black_box(&mut frame).run(run, Modifiers(0));
            }
            start.elapsed()
        };
        (0..1000).map(time).min().expect("it ran")
    }

    /// An `fma` is a vector instruction, as a product is.
    #[test]
    #[cfg_attr(debug_assertions, ignore = "slow where it is not optimised")]
    fn an_fma_takes_no_longer_than_two_products() {
        if !has_wide_vectors() {
            return;
        }
        let product = shortest_time(binary(|a: f32, b: f32| float::mul(a, b, RN)));
        let sum = shortest_time(fma(Type::F32, Modifiers(0)).expect("there is one"));
        assert!(sum < 2 * product, "fma {sum:?}, mul {product:?}");
    }
}

//! The instructions compared, each with its reference function.

use ptx_sim::ir::Type;
use ptx_sim::numeric::bits::{self, Permute};
use ptx_sim::numeric::compare::{self, Extremum, FloatComparison, Property};
use ptx_sim::numeric::convert::{Conversion, Number};
use ptx_sim::numeric::float::{self, Float, flush, relu, saturate};
use ptx_sim::numeric::half::{Bf16, F16};
use ptx_sim::numeric::integer::{self, Integer};
use ptx_sim::numeric::{Rounding, approx};

use super::inputs::{Kind, operand};

/// How close to the hardware a result must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// Bit for bit.
    Exact,
    /// An approximate `f32` result: relative error against the true value.
    Relative(f64),
    /// An approximate `f32` result: absolute error.
    Absolute(f64),
    /// As `lg2` is bounded: absolute near 1, relative elsewhere.
    Logarithm,
}

/// One instruction.
pub struct Case {
    /// Opcode, e.g. `add.rz.f32`.
    pub opcode: String,
    /// Width of the destination in bits; 1 for a predicate.
    pub result_bits: u32,
    /// Operands, with the width of their registers.
    pub operands: Vec<(Kind, u32)>,
    /// Text after the operands: an immediate table of `lop3`.
    pub suffix: String,
    /// How close.
    pub agreement: Agreement,
    /// The same by `numeric`.
    pub evaluate: Box<dyn Fn([u64; 3]) -> u64>,
}

/// The operands of a case, cut to their registers.
pub fn operands(case: &Case, number: u64) -> [u64; 3] {
    let mut words = [0; 3];
    for (place, (kind, n_bits)) in case.operands.iter().enumerate() {
        words[place] = operand(*kind, place as u64, number) & (u64::MAX >> (64 - n_bits));
    }
    words
}

/// Every instruction.
pub fn cases() -> Vec<Case> {
    let mut table = Table { cases: Vec::new() };
    arithmetic(&mut table);
    bit_fields(&mut table);
    floats::<f32>(&mut table, "f32", Kind::F32, 32);
    floats::<f64>(&mut table, "f64", Kind::F64, 64);
    single(&mut table);
    approximate(&mut table);
    halves::<F16>(&mut table, "f16", Kind::F16);
    halves::<Bf16>(&mut table, "bf16", Kind::Bf16);
    conversions(&mut table);
    flushing(&mut table);
    table.cases
}

struct Table {
    cases: Vec<Case>,
}

impl Table {
    fn add(
        &mut self,
        opcode: &str,
        result_bits: u32,
        operands: &[(Kind, u32)],
        evaluate: impl Fn([u64; 3]) -> u64 + 'static,
    ) -> &mut Case {
        self.cases.push(Case {
            opcode: opcode.to_owned(),
            result_bits,
            operands: operands.to_vec(),
            suffix: String::new(),
            agreement: Agreement::Exact,
            evaluate: Box::new(evaluate),
        });
        let last = self.cases.len() - 1;
        &mut self.cases[last]
    }
}

/// Rows of integer instructions: opcode, bits of the result, operands, and what stands for it,
/// by the operands as such numbers.
macro_rules! integers {
    ($t:ident: $($opcode:expr, $bits:expr, $operands:expr, ($($x:ident: $ty:ty),+) => $value:expr;)*) => {$(
        $t.add(&$opcode, $bits, &$operands, move |[$($x,)+ ..]| {
            $(let $x = $x as $ty;)+
            $value as u64
        });
    )*};
}

/// Rows of instructions on numbers of one type, of which the result is one too, as wide as the
/// first operand.
macro_rules! numbers {
    ($t:ident, $F:ty: $($opcode:expr, $operands:expr, ($($x:ident),+) => $value:expr;)*) => {$(
        $t.add(&$opcode, $operands[0].1, &$operands, move |[$($x,)+ ..]| {
            $(let $x = <$F>::of_bits($x);)+
            $value.bits()
        });
    )*};
}

/// The same for tests of such numbers.
macro_rules! tests {
    ($t:ident, $F:ty: $($opcode:expr, $operands:expr, ($($x:ident),+) => $value:expr;)*) => {$(
        $t.add(&$opcode, 1, &$operands, move |[$($x,)+ ..]| {
            $(let $x = <$F>::of_bits($x);)+
            $value.into()
        });
    )*};
}

const INT16: (Kind, u32) = (Kind::Int, 16);
const INT32: (Kind, u32) = (Kind::Int, 32);
const INT64: (Kind, u32) = (Kind::Int, 64);
const COUNT: (Kind, u32) = (Kind::Count, 32);

fn arithmetic(t: &mut Table) {
    macro_rules! width {
        ($($name:literal $t:ty, $x:expr;)*) => {$(
            let bits = <$t>::BITS;
            integers! { t:
                concat!("div.", $name), bits, [$x; 2], (a: $t, b: $t) => a.quotient(b);
                concat!("rem.", $name), bits, [$x; 2], (a: $t, b: $t) => a.remainder(b);
                concat!("mul.hi.", $name), bits, [$x; 2], (a: $t, b: $t) => a.mul_hi(b);
                concat!("sad.", $name), bits, [$x; 3], (a: $t, b: $t, c: $t) => a.sad(b, c);
                concat!("shr.", $name), bits, [$x, COUNT], (a: $t, b: u32) => a.shift_right(b);
                concat!("min.", $name), bits, [$x; 2], (a: $t, b: $t) => a.min(b);
            }
        )*};
    }
    width! {
        "u16" u16, INT16; "s16" i16, INT16; "u32" u32, INT32; "s32" i32, INT32; "u64" u64, INT64;
        "s64" i64, INT64;
    }
    integers! { t:
        "shl.b32", 32, [INT32, COUNT], (a: u32, b: u32) => a.shift_left(b);
        "shl.b64", 64, [INT64, COUNT], (a: u64, b: u32) => a.shift_left(b);
        "shl.b16", 16, [INT16, COUNT], (a: u16, b: u32) => a.shift_left(b);
        "abs.s32", 32, [INT32], (a: i32) => a.wrapping_abs();
        "add.sat.s32", 32, [INT32; 2], (a: i32, b: i32) => a.saturating_add(b);
        "sub.sat.s32", 32, [INT32; 2], (a: i32, b: i32) => a.saturating_sub(b);
        "mul24.lo.u32", 32, [INT32; 2], (a: u32, b: u32) => integer::mul24_lo_u32(a, b);
        "mul24.hi.u32", 32, [INT32; 2], (a: u32, b: u32) => integer::mul24_hi_u32(a, b);
        "mul24.lo.s32", 32, [INT32; 2], (a: i32, b: i32) => integer::mul24_lo_s32(a, b);
        "mul24.hi.s32", 32, [INT32; 2], (a: i32, b: i32) => integer::mul24_hi_s32(a, b);
    }
    for (x, x_signed) in [("u32", false), ("s32", true)] {
        for (y, y_signed) in [("u32", false), ("s32", true)] {
            integers! { t:
                format!("dp4a.{x}.{y}"), 32, [INT32; 3], (a: u32, b: u32, c: u32) =>
                    integer::dp4a(a, x_signed, b, y_signed, c);
                format!("dp2a.lo.{x}.{y}"), 32, [INT32; 3], (a: u32, b: u32, c: u32) =>
                    integer::dp2a(a, x_signed, b, y_signed, c, false);
                format!("dp2a.hi.{x}.{y}"), 32, [INT32; 3], (a: u32, b: u32, c: u32) =>
                    integer::dp2a(a, x_signed, b, y_signed, c, true);
            }
        }
    }
}

fn bit_fields(t: &mut Table) {
    integers! { t:
        "popc.b64", 32, [INT64], (a: u64) => a.count_ones();
        "clz.b32", 32, [INT32], (a: u32) => a.leading_zeros();
        "clz.b64", 32, [INT64], (a: u64) => a.leading_zeros();
        "brev.b32", 32, [INT32], (a: u32) => a.reverse_bits();
    }
    for (modifier, shift) in [("", false), (".shiftamt", true)] {
        integers! { t:
            format!("bfind{modifier}.u32"), 32, [INT32], (a: u32) => bits::bfind_u32(a, shift);
            format!("bfind{modifier}.s32"), 32, [INT32], (a: i32) => bits::bfind_s32(a, shift);
            format!("bfind{modifier}.u64"), 32, [INT64], (a: u64) => bits::bfind_u64(a, shift);
            format!("bfind{modifier}.s64"), 32, [INT64], (a: i64) => bits::bfind_s64(a, shift);
        }
    }
    integers! { t:
        "bfe.u32", 32, [INT32, COUNT, COUNT], (a: u32, b: u32, c: u32) => bits::bfe_u32(a, b, c);
        "bfe.s32", 32, [INT32, COUNT, COUNT], (a: i32, b: u32, c: u32) => bits::bfe_s32(a, b, c);
        "bfe.u64", 64, [INT64, COUNT, COUNT], (a: u64, b: u32, c: u32) => bits::bfe_u64(a, b, c);
        "bfe.s64", 64, [INT64, COUNT, COUNT], (a: i64, b: u32, c: u32) => bits::bfe_s64(a, b, c);
        "bmsk.clamp.b32", 32, [COUNT, COUNT], (a: u32, b: u32) => bits::bmsk(a, b, false);
        "bmsk.wrap.b32", 32, [COUNT, COUNT], (a: u32, b: u32) => bits::bmsk(a, b, true);
    }
    for (mode, wrap) in [("clamp", false), ("wrap", true)] {
        integers! { t:
            format!("szext.{mode}.u32"), 32, [INT32, COUNT], (a: u32, b: u32) =>
                bits::szext(a, b, false, wrap);
            format!("szext.{mode}.s32"), 32, [INT32, COUNT], (a: u32, b: u32) =>
                bits::szext(a, b, true, wrap);
            format!("shf.l.{mode}.b32"), 32, [INT32, INT32, COUNT], (a: u32, b: u32, c: u32) =>
                bits::shf_left(a, b, c, wrap);
            format!("shf.r.{mode}.b32"), 32, [INT32, INT32, COUNT], (a: u32, b: u32, c: u32) =>
                bits::shf_right(a, b, c, wrap);
        }
    }
    for table in [0x96_u8, 0xe8, 0x1b] {
        t.add("lop3.b32", 32, &[INT32; 3], move |[a, b, c]| {
            bits::lop3(a as u32, b as u32, c as u32, table).into()
        })
        .suffix = format!(", {table}");
    }
    integers! { t:
        "prmt.b32", 32, [INT32; 3], (a: u32, b: u32, c: u32) =>
            bits::prmt(a, b, c, Permute::Index);
    }
    for name in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] {
        let mode = Permute::from_name(name).unwrap();
        integers! { t:
            format!("prmt.b32.{name}"), 32, [INT32; 3], (a: u32, b: u32, c: u32) =>
                bits::prmt(a, b, c, mode);
        }
    }
}

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

const USUAL: Extremum = Extremum {
    propagates_nan: false,
    xor_sign: false,
};
const NAN: Extremum = Extremum {
    propagates_nan: true,
    xor_sign: false,
};
const XOR_SIGN: Extremum = Extremum {
    propagates_nan: false,
    xor_sign: true,
};
const NAN_AND_XOR_SIGN: Extremum = Extremum {
    propagates_nan: true,
    xor_sign: true,
};

/// `min` and `max` with the modifiers that make such rules.
fn extrema<F: Float + 'static>(
    t: &mut Table,
    name: &str,
    x: (Kind, u32),
    rules: &[(&str, Extremum)],
) {
    for &(modifier, rule) in rules {
        numbers! { t, F:
            format!("min{modifier}.{name}"), [x; 2], (a, b) => compare::min(a, b, rule);
            format!("max{modifier}.{name}"), [x; 2], (a, b) => compare::max(a, b, rule);
        }
    }
}

/// `setp` with such comparisons.
fn comparisons<F: Float + 'static>(t: &mut Table, name: &str, x: (Kind, u32), names: &[&str]) {
    for comparison in names {
        let test = FloatComparison::from_name(comparison).unwrap();
        tests! { t, F:
            format!("setp.{comparison}.{name}"), [x; 2], (a, b) => test.holds(a, b);
        }
    }
}

/// The instructions common to `f32` and `f64`.
fn floats<F: Float + 'static>(t: &mut Table, name: &str, kind: Kind, n_bits: u32) {
    let x = (kind, n_bits);
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        numbers! { t, F:
            format!("add.{mode}.{name}"), [x; 2], (a, b) => float::add(a, b, rounding);
            format!("sub.{mode}.{name}"), [x; 2], (a, b) => float::sub(a, b, rounding);
            format!("mul.{mode}.{name}"), [x; 2], (a, b) => float::mul(a, b, rounding);
            format!("fma.{mode}.{name}"), [x; 3], (a, b, c) => float::fma(a, b, c, rounding);
            format!("div.{mode}.{name}"), [x; 2], (a, b) => float::div(a, b, rounding);
            format!("rcp.{mode}.{name}"), [x], (a) => float::rcp(a, rounding);
            format!("sqrt.{mode}.{name}"), [x], (a) => float::sqrt(a, rounding);
        }
    }
    extrema::<F>(t, name, x, &[("", USUAL)]);
    numbers! { t, F:
        format!("neg.{name}"), [x], (a) => float::neg(a);
        format!("abs.{name}"), [x], (a) => float::abs(a);
        format!("copysign.{name}"), [x; 2], (a, b) => float::copysign(a, b);
    }
    for property in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        let test = Property::from_name(property).unwrap();
        tests! { t, F: format!("testp.{property}.{name}"), [x], (a) => test.holds(a); }
    }
    let all = [
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    ];
    comparisons::<F>(t, name, x, &all);
}

/// Modifiers of `f32`.
fn single(t: &mut Table) {
    const F32: (Kind, u32) = (Kind::F32, 32);
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        numbers! { t, f32:
            format!("add.{mode}.ftz.f32"), [F32; 2], (a, b) => float::add_ftz(a, b, rounding);
            format!("mul.{mode}.ftz.f32"), [F32; 2], (a, b) => float::mul_ftz(a, b, rounding);
            format!("fma.{mode}.ftz.f32"), [F32; 3], (a, b, c) => float::fma_ftz(a, b, c, rounding);
            format!("div.{mode}.ftz.f32"), [F32; 2], (a, b) => float::div_ftz(a, b, rounding);
            format!("sqrt.{mode}.ftz.f32"), [F32], (a) => float::sqrt_ftz(a, rounding);
            format!("add.{mode}.sat.f32"), [F32; 2], (a, b) => saturate(float::add(a, b, rounding));
            format!("fma.{mode}.sat.f32"), [F32; 3], (a, b, c) =>
                saturate(float::fma(a, b, c, rounding));
        }
    }
    let rules = [
        (".NaN", NAN),
        (".xorsign.abs", XOR_SIGN),
        (".NaN.xorsign.abs", NAN_AND_XOR_SIGN),
    ];
    extrema::<f32>(t, "f32", F32, &rules);
    numbers! { t, f32:
        "min.ftz.f32", [F32; 2], (a, b) => compare::min(flush(a), flush(b), USUAL);
        "neg.ftz.f32", [F32], (a) => float::neg(flush(a));
        "abs.ftz.f32", [F32], (a) => float::abs(flush(a));
    }
    for comparison in ["eq", "ltu"] {
        let test = FloatComparison::from_name(comparison).unwrap();
        tests! { t, f32:
            format!("setp.{comparison}.ftz.f32"), [F32; 2], (a, b) => test.holds(flush(a), flush(b));
        }
    }
}

fn approximate(t: &mut Table) {
    use Agreement::{Absolute, Relative};
    const F32: (Kind, u32) = (Kind::F32, 32);
    type Function = fn(f32) -> f32;
    let table: [(&str, Function, Agreement); 9] = [
        ("rcp.approx", approx::rcp, Relative(2.0_f64.powi(-22))),
        ("sqrt.approx", approx::sqrt, Relative(2.0_f64.powi(-22))),
        ("rsqrt.approx", approx::rsqrt, Relative(2.0_f64.powf(-22.4))),
        ("ex2.approx", approx::ex2, Relative(2.0_f64.powi(-22))),
        ("tanh.approx", approx::tanh, Relative(2.0_f64.powi(-10))),
        ("lg2.approx", approx::lg2, Agreement::Logarithm),
        ("sin.approx", approx::sin, Absolute(2.0_f64.powf(-20.5))),
        ("cos.approx", approx::cos, Absolute(2.0_f64.powf(-20.5))),
        (
            "rcp.approx.ftz",
            |a| flush(approx::rcp(flush(a))),
            Relative(2.0_f64.powi(-22)),
        ),
    ];
    for (name, function, agreement) in table {
        t.add(&format!("{name}.f32"), 32, &[F32], move |[a, ..]| {
            function(f32::of_bits(a)).bits()
        })
        .agreement = agreement;
        if !name.ends_with("ftz") && name != "tanh.approx" {
            t.add(&format!("{name}.ftz.f32"), 32, &[F32], move |[a, ..]| {
                flush(function(flush(f32::of_bits(a)))).bits()
            })
            .agreement = agreement;
        }
    }
    for (name, function) in [
        ("div.approx", approx::div as fn(f32, f32) -> f32),
        ("div.full", approx::div_full),
    ] {
        t.add(&format!("{name}.f32"), 32, &[F32; 2], move |[a, b, _]| {
            function(f32::of_bits(a), f32::of_bits(b)).bits()
        })
        .agreement = Relative(2.0_f64.powi(-21));
        t.add(
            &format!("{name}.ftz.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| flush(function(flush(f32::of_bits(a)), flush(f32::of_bits(b)))).bits(),
        )
        .agreement = Relative(2.0_f64.powi(-21));
    }
    const F64: (Kind, u32) = (Kind::F64, 64);
    t.add("rcp.approx.ftz.f64", 64, &[F64], |[a, ..]| {
        approx::rcp_f64(f64::of_bits(a)).bits()
    })
    .agreement = Relative(2.0_f64.powi(-19));
    t.add("rsqrt.approx.ftz.f64", 64, &[F64], |[a, ..]| {
        approx::rsqrt_ftz_f64(f64::of_bits(a)).bits()
    })
    .agreement = Relative(2.0_f64.powi(-19));
    t.add("rsqrt.approx.f64", 64, &[F64], |[a, ..]| {
        approx::rsqrt_f64(f64::of_bits(a)).bits()
    })
    .agreement = Relative(2.0_f64.powi(-50));
}

fn halves<H: ptx_sim::numeric::half::Half + 'static>(t: &mut Table, name: &str, kind: Kind) {
    let x = (kind, 16);
    let rn = Rounding::NearestEven;
    numbers! { t, H:
        format!("add.rn.{name}"), [x; 2], (a, b) => float::add(a, b, rn);
        format!("sub.rn.{name}"), [x; 2], (a, b) => float::sub(a, b, rn);
        format!("mul.rn.{name}"), [x; 2], (a, b) => float::mul(a, b, rn);
        format!("fma.rn.{name}"), [x; 3], (a, b, c) => float::fma(a, b, c, rn);
        format!("fma.rn.relu.{name}"), [x; 3], (a, b, c) => relu(float::fma(a, b, c, rn));
        format!("neg.{name}"), [x], (a) => float::neg(a);
        format!("abs.{name}"), [x], (a) => float::abs(a);
    }
    let rules = [("", USUAL), (".NaN", NAN), (".xorsign.abs", XOR_SIGN)];
    extrema::<H>(t, name, x, &rules);
    comparisons::<H>(t, name, x, &["eq", "ne", "lt", "geu", "nan"]);
    t.add(&format!("tanh.approx.{name}"), 16, &[x], |[a, ..]| {
        approx::tanh_half(H::of_bits(a)).bits()
    })
    .agreement = Agreement::Relative(2.0_f64.powi(-7));
    if name == "f16" {
        numbers! { t, H:
            "add.rn.ftz.f16", [x; 2], (a, b) => float::add_ftz(a, b, rn);
            "mul.rn.ftz.f16", [x; 2], (a, b) => float::mul_ftz(a, b, rn);
            "add.rn.sat.f16", [x; 2], (a, b) => saturate(float::add(a, b, rn));
            "fma.rn.sat.f16", [x; 3], (a, b, c) => saturate(float::fma(a, b, c, rn));
        }
        t.add("ex2.approx.f16", 16, &[x], |[a, ..]| {
            approx::ex2_half(H::of_bits(a)).bits()
        })
        .agreement = Agreement::Relative(2.0_f64.powf(-9.9));
    } else {
        t.add("ex2.approx.ftz.bf16", 16, &[x], |[a, ..]| {
            approx::ex2_ftz_bf16(Bf16::of_bits(a)).bits()
        })
        .agreement = Agreement::Relative(2.0_f64.powi(-7));
    }
}

/// Results about the smallest normal number, where `.ftz` decides.
fn flushing(t: &mut Table) {
    const TINY: (Kind, u32) = (Kind::Tiny, 32);
    const HUGE: (Kind, u32) = (Kind::Huge, 32);
    const F32: (Kind, u32) = (Kind::F32, 32);
    let rn = Rounding::NearestEven;
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        numbers! { t, f32:
            format!("mul.{mode}.ftz.f32"), [TINY; 2], (a, b) => float::mul_ftz(a, b, rounding);
            format!("fma.{mode}.ftz.f32"), [TINY, TINY, F32], (a, b, c) =>
                float::fma_ftz(a, b, c, rounding);
            format!("div.{mode}.ftz.f32"), [TINY, HUGE], (a, b) => float::div_ftz(a, b, rounding);
        }
        for modifier in ["", ".ftz"] {
            let opcode = format!("cvt.{mode}{modifier}.f32.f64");
            let conversion = conversion(&opcode, "f32", "f64");
            t.add(&opcode, 32, &[(Kind::TinyF64, 64)], move |[a, ..]| {
                conversion.apply(a)
            });
        }
    }
    numbers! { t, f32: "mul.rn.f32", [TINY; 2], (a, b) => float::mul(a, b, rn); }
    const HALF: (Kind, u32) = (Kind::TinyF16, 16);
    const F16_BITS: (Kind, u32) = (Kind::F16, 16);
    numbers! { t, F16:
        "mul.rn.f16", [HALF; 2], (a, b) => float::mul(a, b, rn);
        "mul.rn.ftz.f16", [HALF; 2], (a, b) => float::mul_ftz(a, b, rn);
        "fma.rn.ftz.f16", [HALF, HALF, F16_BITS], (a, b, c) => float::fma_ftz(a, b, c, rn);
    }
}

/// A `cvt` between two types, by name.
fn conversion(opcode: &str, to: &str, from: &str) -> Conversion {
    let number = |name| Type::from_name(name).and_then(Number::of_type).unwrap();
    let modifiers: Vec<&str> = opcode.split('.').skip(1).collect();
    let rounding = modifiers
        .iter()
        .find_map(|name| Rounding::from_name(name))
        .unwrap_or_default();
    let has = |name: &str| modifiers.contains(&name);
    let is_integral = modifiers.iter().any(|name| Rounding::is_integer_name(name));
    Conversion {
        to_integral: is_integral && to.contains('f'),
        ftz: has("ftz"),
        saturate: has("sat"),
        relu: has("relu"),
        finite: has("satfinite"),
        ..Conversion::new(number(from), number(to), rounding)
    }
}

fn conversions(t: &mut Table) {
    const INTS: [&str; 8] = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"];
    let mut add = |modifiers: &str, to: &str, from: &str| {
        let opcode = format!("cvt{modifiers}.{to}.{from}");
        let conversion = conversion(&opcode, to, from);
        let kind = match from {
            "f16" => Kind::F16,
            "bf16" => Kind::Bf16,
            "f32" => Kind::F32,
            "f64" => Kind::F64,
            _ => Kind::Int,
        };
        let width = |name: &str| Type::from_name(name).unwrap().size_bytes() * 8;
        // 8-bit numbers are held in 32-bit registers.
        let register = |bits: u32| if bits == 8 { 32 } else { bits };
        let operand = (kind, register(width(from)));
        t.add(&opcode, register(width(to)), &[operand], move |[a, ..]| {
            conversion.apply(a)
        });
    };
    for int in INTS {
        for float in ["f16", "f32", "f64"] {
            add(".rn", float, int);
            for mode in [".rni", ".rzi", ".rmi", ".rpi"] {
                add(mode, int, float);
            }
        }
        for mode in [".rz", ".rm", ".rp", ".rn.sat"] {
            add(mode, "f32", int);
        }
        add(".rzi.ftz", int, "f32");
        for other in ["u8", "s8", "s16", "u32", "s32", "u64", "s64"] {
            if other != int {
                add("", other, int);
                if !holds_all(other, int) {
                    add(".sat", other, int);
                }
            }
        }
    }
    for mode in [".rn", ".rz", ".rm", ".rp"] {
        add(mode, "f32", "f64");
        add(&format!("{mode}.ftz"), "f32", "f64");
    }
    add(".rn.sat", "f32", "f64");
    for (to, from) in [
        ("f64", "f32"),
        ("f32", "f16"),
        ("f64", "f16"),
        ("f32", "bf16"),
    ] {
        add("", to, from);
    }
    add(".ftz", "f64", "f32");
    add(".sat", "f32", "f32");
    add(".ftz", "f32", "f32");
    for mode in [".rni", ".rzi", ".rmi", ".rpi"] {
        add(mode, "f32", "f32");
        add(mode, "f64", "f64");
        add(mode, "f16", "f16");
        add(&format!("{mode}.ftz"), "f32", "f32");
    }
    add(".rn", "f16", "f64");
    add("", "f64", "bf16");
    add(".rn", "bf16", "f64");
    add(".rn", "bf16", "s32");
    add(".rzi", "s32", "bf16");
    add(".rn", "bf16", "f16");
    add(".rn", "f16", "bf16");
    for to in ["f16", "bf16"] {
        for modifiers in [
            ".rn",
            ".rz",
            ".rn.relu",
            ".rz.relu",
            ".rn.satfinite",
            ".rn.relu.satfinite",
        ] {
            add(modifiers, to, "f32");
        }
    }
    add(".rn.ftz", "f16", "f32");
    add(".rn.sat", "f16", "f32");
    for modifiers in [".rna", ".rn", ".rz", ".rn.relu"] {
        add(modifiers, "tf32", "f32");
    }
}

/// Whether one integer type holds every number of another: `.sat` is then not
/// allowed.
fn holds_all(to: &str, from: &str) -> bool {
    let split = |name: &str| (name.starts_with('s'), name[1..].parse::<u32>().unwrap());
    let ((to_signed, to_bits), (from_signed, from_bits)) = (split(to), split(from));
    match (to_signed, from_signed) {
        (true, false) => to_bits > from_bits,
        (false, true) => false,
        _ => to_bits >= from_bits,
    }
}

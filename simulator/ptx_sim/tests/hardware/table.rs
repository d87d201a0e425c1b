//! The instructions compared, each with the function that stands for it.

use ptx_sim::ir::Type;
use ptx_sim::numeric::bits::{self, Permute};
use ptx_sim::numeric::compare::{self, Extremum, FloatComparison, Property};
use ptx_sim::numeric::convert::{Conversion, Number};
use ptx_sim::numeric::float::{self, Float, flush, relu, saturate};
use ptx_sim::numeric::half::{Bf16, F16};
use ptx_sim::numeric::integer::{self, Integer};
use ptx_sim::numeric::{Rounding, approx};

use super::inputs::{Kind, operand};

/// How near the hardware must be.
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
    /// Text behind the operands: an immediate table of `lop3`.
    pub suffix: String,
    /// How near.
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
    integers(&mut table);
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

const INT16: (Kind, u32) = (Kind::Int, 16);
const INT32: (Kind, u32) = (Kind::Int, 32);
const INT64: (Kind, u32) = (Kind::Int, 64);
const COUNT: (Kind, u32) = (Kind::Count, 32);

fn integers(t: &mut Table) {
    macro_rules! width {
        ($($name:literal $t:ty, $operand:expr;)*) => {$(
            let bits = <$t>::BITS;
            t.add(concat!("div.", $name), bits, &[$operand; 2], |[a, b, _]| (a as $t).quotient(b as $t) as u64);
            t.add(concat!("rem.", $name), bits, &[$operand; 2], |[a, b, _]| (a as $t).remainder(b as $t) as u64);
            t.add(concat!("mul.hi.", $name), bits, &[$operand; 2], |[a, b, _]| (a as $t).mul_hi(b as $t) as u64);
            t.add(concat!("sad.", $name), bits, &[$operand; 3], |[a, b, c]| (a as $t).sad(b as $t, c as $t) as u64);
            t.add(concat!("shr.", $name), bits, &[$operand, COUNT], |[a, b, _]| (a as $t).shift_right(b as u32) as u64);
            t.add(concat!("min.", $name), bits, &[$operand; 2], |[a, b, _]| (a as $t).min(b as $t) as u64);
        )*};
    }
    width! {
        "u16" u16, INT16; "s16" i16, INT16; "u32" u32, INT32; "s32" i32, INT32; "u64" u64, INT64;
        "s64" i64, INT64;
    }
    t.add("shl.b32", 32, &[INT32, COUNT], |[a, b, _]| {
        u64::from((a as u32).shift_left(b as u32))
    });
    t.add("shl.b64", 64, &[INT64, COUNT], |[a, b, _]| {
        a.shift_left(b as u32)
    });
    t.add("shl.b16", 16, &[INT16, COUNT], |[a, b, _]| {
        u64::from((a as u16).shift_left(b as u32))
    });
    t.add("abs.s32", 32, &[INT32], |[a, ..]| {
        (a as i32).wrapping_abs() as u64
    });
    t.add("add.sat.s32", 32, &[INT32; 2], |[a, b, _]| {
        (a as i32).saturating_add(b as i32) as u64
    });
    t.add("sub.sat.s32", 32, &[INT32; 2], |[a, b, _]| {
        (a as i32).saturating_sub(b as i32) as u64
    });
    t.add("mul24.lo.u32", 32, &[INT32; 2], |[a, b, _]| {
        integer::mul24_lo_u32(a as u32, b as u32).into()
    });
    t.add("mul24.hi.u32", 32, &[INT32; 2], |[a, b, _]| {
        integer::mul24_hi_u32(a as u32, b as u32).into()
    });
    t.add("mul24.lo.s32", 32, &[INT32; 2], |[a, b, _]| {
        integer::mul24_lo_s32(a as i32, b as i32) as u64
    });
    t.add("mul24.hi.s32", 32, &[INT32; 2], |[a, b, _]| {
        integer::mul24_hi_s32(a as i32, b as i32) as u64
    });
    for (a_name, a_signed) in [("u32", false), ("s32", true)] {
        for (b_name, b_signed) in [("u32", false), ("s32", true)] {
            t.add(
                &format!("dp4a.{a_name}.{b_name}"),
                32,
                &[INT32; 3],
                move |[a, b, c]| {
                    integer::dp4a(a as u32, a_signed, b as u32, b_signed, c as u32).into()
                },
            );
            for (half, high) in [("lo", false), ("hi", true)] {
                t.add(
                    &format!("dp2a.{half}.{a_name}.{b_name}"),
                    32,
                    &[INT32; 3],
                    move |[a, b, c]| {
                        integer::dp2a(a as u32, a_signed, b as u32, b_signed, c as u32, high).into()
                    },
                );
            }
        }
    }
}

fn bit_fields(t: &mut Table) {
    t.add("popc.b64", 32, &[INT64], |[a, ..]| a.count_ones().into());
    t.add("clz.b32", 32, &[INT32], |[a, ..]| {
        (a as u32).leading_zeros().into()
    });
    t.add("clz.b64", 32, &[INT64], |[a, ..]| a.leading_zeros().into());
    t.add("brev.b32", 32, &[INT32], |[a, ..]| {
        (a as u32).reverse_bits().into()
    });
    for (modifier, shift) in [("", false), (".shiftamt", true)] {
        t.add(
            &format!("bfind{modifier}.u32"),
            32,
            &[INT32],
            move |[a, ..]| bits::bfind_u32(a as u32, shift).into(),
        );
        t.add(
            &format!("bfind{modifier}.s32"),
            32,
            &[INT32],
            move |[a, ..]| bits::bfind_s32(a as i32, shift).into(),
        );
        t.add(
            &format!("bfind{modifier}.u64"),
            32,
            &[INT64],
            move |[a, ..]| bits::bfind_u64(a, shift).into(),
        );
        t.add(
            &format!("bfind{modifier}.s64"),
            32,
            &[INT64],
            move |[a, ..]| bits::bfind_s64(a as i64, shift).into(),
        );
    }
    t.add("bfe.u32", 32, &[INT32, COUNT, COUNT], |[a, b, c]| {
        bits::bfe_u32(a as u32, b as u32, c as u32).into()
    });
    t.add("bfe.s32", 32, &[INT32, COUNT, COUNT], |[a, b, c]| {
        bits::bfe_s32(a as i32, b as u32, c as u32) as u64
    });
    t.add("bfe.u64", 64, &[INT64, COUNT, COUNT], |[a, b, c]| {
        bits::bfe_u64(a, b as u32, c as u32)
    });
    t.add("bfe.s64", 64, &[INT64, COUNT, COUNT], |[a, b, c]| {
        bits::bfe_s64(a as i64, b as u32, c as u32) as u64
    });
    t.add("bmsk.clamp.b32", 32, &[COUNT, COUNT], |[a, b, _]| {
        bits::bmsk(a as u32, b as u32, false).into()
    });
    t.add("bmsk.wrap.b32", 32, &[COUNT, COUNT], |[a, b, _]| {
        bits::bmsk(a as u32, b as u32, true).into()
    });
    for (mode, wrap) in [("clamp", false), ("wrap", true)] {
        t.add(
            &format!("szext.{mode}.u32"),
            32,
            &[INT32, COUNT],
            move |[a, b, _]| bits::szext(a as u32, b as u32, false, wrap).into(),
        );
        t.add(
            &format!("szext.{mode}.s32"),
            32,
            &[INT32, COUNT],
            move |[a, b, _]| bits::szext(a as u32, b as u32, true, wrap).into(),
        );
        t.add(
            &format!("shf.l.{mode}.b32"),
            32,
            &[INT32, INT32, COUNT],
            move |[a, b, c]| bits::shf_left(a as u32, b as u32, c as u32, wrap).into(),
        );
        t.add(
            &format!("shf.r.{mode}.b32"),
            32,
            &[INT32, INT32, COUNT],
            move |[a, b, c]| bits::shf_right(a as u32, b as u32, c as u32, wrap).into(),
        );
    }
    for table in [0x96_u8, 0xe8, 0x1b] {
        t.add("lop3.b32", 32, &[INT32; 3], move |[a, b, c]| {
            bits::lop3(a as u32, b as u32, c as u32, table).into()
        })
        .suffix = format!(", {table}");
    }
    t.add("prmt.b32", 32, &[INT32; 3], |[a, b, c]| {
        bits::prmt(a as u32, b as u32, c as u32, Permute::Index).into()
    });
    for name in ["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"] {
        let mode = Permute::from_name(name).unwrap();
        t.add(
            &format!("prmt.b32.{name}"),
            32,
            &[INT32; 3],
            move |[a, b, c]| bits::prmt(a as u32, b as u32, c as u32, mode).into(),
        );
    }
}

const MODES: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// What `f32` and `f64` have alike.
fn floats<F: Float + 'static>(t: &mut Table, name: &str, kind: Kind, n_bits: u32) {
    let operand = (kind, n_bits);
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        let of = F::of_bits;
        t.add(
            &format!("add.{mode}.{name}"),
            n_bits,
            &[operand; 2],
            move |[a, b, _]| float::add(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("sub.{mode}.{name}"),
            n_bits,
            &[operand; 2],
            move |[a, b, _]| float::sub(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("mul.{mode}.{name}"),
            n_bits,
            &[operand; 2],
            move |[a, b, _]| float::mul(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("fma.{mode}.{name}"),
            n_bits,
            &[operand; 3],
            move |[a, b, c]| float::fma(of(a), of(b), of(c), rounding).bits(),
        );
        t.add(
            &format!("div.{mode}.{name}"),
            n_bits,
            &[operand; 2],
            move |[a, b, _]| float::div(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("rcp.{mode}.{name}"),
            n_bits,
            &[operand],
            move |[a, ..]| float::rcp(of(a), rounding).bits(),
        );
        t.add(
            &format!("sqrt.{mode}.{name}"),
            n_bits,
            &[operand],
            move |[a, ..]| float::sqrt(of(a), rounding).bits(),
        );
    }
    let rule = Extremum::default();
    t.add(
        &format!("min.{name}"),
        n_bits,
        &[operand; 2],
        move |[a, b, _]| compare::min(F::of_bits(a), F::of_bits(b), rule).bits(),
    );
    t.add(
        &format!("max.{name}"),
        n_bits,
        &[operand; 2],
        move |[a, b, _]| compare::max(F::of_bits(a), F::of_bits(b), rule).bits(),
    );
    t.add(&format!("neg.{name}"), n_bits, &[operand], |[a, ..]| {
        float::neg(F::of_bits(a)).bits()
    });
    t.add(&format!("abs.{name}"), n_bits, &[operand], |[a, ..]| {
        float::abs(F::of_bits(a)).bits()
    });
    t.add(
        &format!("copysign.{name}"),
        n_bits,
        &[operand; 2],
        |[a, b, _]| float::copysign(F::of_bits(a), F::of_bits(b)).bits(),
    );
    for property in [
        "finite",
        "infinite",
        "number",
        "notanumber",
        "normal",
        "subnormal",
    ] {
        let test = Property::from_name(property).unwrap();
        t.add(
            &format!("testp.{property}.{name}"),
            1,
            &[operand],
            move |[a, ..]| test.holds(F::of_bits(a)).into(),
        );
    }
    for comparison in [
        "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan",
    ] {
        let test = FloatComparison::from_name(comparison).unwrap();
        t.add(
            &format!("setp.{comparison}.{name}"),
            1,
            &[operand; 2],
            move |[a, b, _]| test.holds(F::of_bits(a), F::of_bits(b)).into(),
        );
    }
}

/// Modifiers of `f32`.
fn single(t: &mut Table) {
    const F32: (Kind, u32) = (Kind::F32, 32);
    let of = f32::of_bits;
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        t.add(
            &format!("add.{mode}.ftz.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| float::add_ftz(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("mul.{mode}.ftz.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| float::mul_ftz(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("fma.{mode}.ftz.f32"),
            32,
            &[F32; 3],
            move |[a, b, c]| float::fma_ftz(of(a), of(b), of(c), rounding).bits(),
        );
        t.add(
            &format!("div.{mode}.ftz.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| float::div_ftz(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("sqrt.{mode}.ftz.f32"),
            32,
            &[F32],
            move |[a, ..]| float::sqrt_ftz(of(a), rounding).bits(),
        );
        t.add(
            &format!("add.{mode}.sat.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| saturate(float::add(of(a), of(b), rounding)).bits(),
        );
        t.add(
            &format!("fma.{mode}.sat.f32"),
            32,
            &[F32; 3],
            move |[a, b, c]| saturate(float::fma(of(a), of(b), of(c), rounding)).bits(),
        );
    }
    for (modifier, rule) in [
        (
            ".NaN",
            Extremum {
                propagates_nan: true,
                xor_sign: false,
            },
        ),
        (
            ".xorsign.abs",
            Extremum {
                propagates_nan: false,
                xor_sign: true,
            },
        ),
        (
            ".NaN.xorsign.abs",
            Extremum {
                propagates_nan: true,
                xor_sign: true,
            },
        ),
    ] {
        t.add(
            &format!("min{modifier}.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| compare::min(of(a), of(b), rule).bits(),
        );
        t.add(
            &format!("max{modifier}.f32"),
            32,
            &[F32; 2],
            move |[a, b, _]| compare::max(of(a), of(b), rule).bits(),
        );
    }
    let rule = Extremum::default();
    t.add("min.ftz.f32", 32, &[F32; 2], move |[a, b, _]| {
        compare::min(flush(of(a)), flush(of(b)), rule).bits()
    });
    t.add("neg.ftz.f32", 32, &[F32], move |[a, ..]| {
        float::neg(flush(of(a))).bits()
    });
    t.add("abs.ftz.f32", 32, &[F32], move |[a, ..]| {
        float::abs(flush(of(a))).bits()
    });
    for comparison in ["eq", "ltu"] {
        let test = FloatComparison::from_name(comparison).unwrap();
        t.add(
            &format!("setp.{comparison}.ftz.f32"),
            1,
            &[F32; 2],
            move |[a, b, _]| test.holds(flush(of(a)), flush(of(b))).into(),
        );
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
    let operand = (kind, 16);
    let of = H::of_bits;
    let rn = Rounding::NearestEven;
    t.add(
        &format!("add.rn.{name}"),
        16,
        &[operand; 2],
        move |[a, b, _]| float::add(of(a), of(b), rn).bits(),
    );
    t.add(
        &format!("sub.rn.{name}"),
        16,
        &[operand; 2],
        move |[a, b, _]| float::sub(of(a), of(b), rn).bits(),
    );
    t.add(
        &format!("mul.rn.{name}"),
        16,
        &[operand; 2],
        move |[a, b, _]| float::mul(of(a), of(b), rn).bits(),
    );
    t.add(
        &format!("fma.rn.{name}"),
        16,
        &[operand; 3],
        move |[a, b, c]| float::fma(of(a), of(b), of(c), rn).bits(),
    );
    t.add(
        &format!("fma.rn.relu.{name}"),
        16,
        &[operand; 3],
        move |[a, b, c]| relu(float::fma(of(a), of(b), of(c), rn)).bits(),
    );
    t.add(&format!("neg.{name}"), 16, &[operand], move |[a, ..]| {
        float::neg(of(a)).bits()
    });
    t.add(&format!("abs.{name}"), 16, &[operand], move |[a, ..]| {
        float::abs(of(a)).bits()
    });
    for (modifier, rule) in [
        ("", Extremum::default()),
        (
            ".NaN",
            Extremum {
                propagates_nan: true,
                xor_sign: false,
            },
        ),
        (
            ".xorsign.abs",
            Extremum {
                propagates_nan: false,
                xor_sign: true,
            },
        ),
    ] {
        t.add(
            &format!("min{modifier}.{name}"),
            16,
            &[operand; 2],
            move |[a, b, _]| compare::min(of(a), of(b), rule).bits(),
        );
        t.add(
            &format!("max{modifier}.{name}"),
            16,
            &[operand; 2],
            move |[a, b, _]| compare::max(of(a), of(b), rule).bits(),
        );
    }
    for comparison in ["eq", "ne", "lt", "geu", "nan"] {
        let test = FloatComparison::from_name(comparison).unwrap();
        t.add(
            &format!("setp.{comparison}.{name}"),
            1,
            &[operand; 2],
            move |[a, b, _]| test.holds(of(a), of(b)).into(),
        );
    }
    t.add(
        &format!("tanh.approx.{name}"),
        16,
        &[operand],
        move |[a, ..]| approx::tanh_half(of(a)).bits(),
    )
    .agreement = Agreement::Relative(2.0_f64.powi(-7));
    if name == "f16" {
        t.add("add.rn.ftz.f16", 16, &[operand; 2], move |[a, b, _]| {
            float::add_ftz(of(a), of(b), rn).bits()
        });
        t.add("mul.rn.ftz.f16", 16, &[operand; 2], move |[a, b, _]| {
            float::mul_ftz(of(a), of(b), rn).bits()
        });
        t.add("add.rn.sat.f16", 16, &[operand; 2], move |[a, b, _]| {
            saturate(float::add(of(a), of(b), rn)).bits()
        });
        t.add("fma.rn.sat.f16", 16, &[operand; 3], move |[a, b, c]| {
            saturate(float::fma(of(a), of(b), of(c), rn)).bits()
        });
        t.add("ex2.approx.f16", 16, &[operand], move |[a, ..]| {
            approx::ex2_half(of(a)).bits()
        })
        .agreement = Agreement::Relative(2.0_f64.powf(-9.9));
    } else {
        t.add("ex2.approx.ftz.bf16", 16, &[operand], move |[a, ..]| {
            approx::ex2_ftz_bf16(Bf16::of_bits(a)).bits()
        })
        .agreement = Agreement::Relative(2.0_f64.powi(-7));
    }
}

/// Results about the smallest normal number, where `.ftz` decides.
fn flushing(t: &mut Table) {
    const TINY: (Kind, u32) = (Kind::Tiny, 32);
    const HUGE: (Kind, u32) = (Kind::Huge, 32);
    let of = f32::of_bits;
    for mode in MODES {
        let rounding = Rounding::from_name(mode).unwrap();
        t.add(
            &format!("mul.{mode}.ftz.f32"),
            32,
            &[TINY; 2],
            move |[a, b, _]| float::mul_ftz(of(a), of(b), rounding).bits(),
        );
        t.add(
            &format!("fma.{mode}.ftz.f32"),
            32,
            &[TINY, TINY, (Kind::F32, 32)],
            move |[a, b, c]| float::fma_ftz(of(a), of(b), of(c), rounding).bits(),
        );
        t.add(
            &format!("div.{mode}.ftz.f32"),
            32,
            &[TINY, HUGE],
            move |[a, b, _]| float::div_ftz(of(a), of(b), rounding).bits(),
        );
        for modifier in ["", ".ftz"] {
            let opcode = format!("cvt.{mode}{modifier}.f32.f64");
            let conversion = conversion(&opcode, "f32", "f64");
            t.add(&opcode, 32, &[(Kind::TinyF64, 64)], move |[a, ..]| {
                conversion.apply(a)
            });
        }
    }
    t.add("mul.rn.f32", 32, &[TINY; 2], move |[a, b, _]| {
        float::mul(of(a), of(b), Rounding::NearestEven).bits()
    });
    const HALF: (Kind, u32) = (Kind::TinyF16, 16);
    let of = F16::of_bits;
    let rn = Rounding::NearestEven;
    t.add("mul.rn.f16", 16, &[HALF; 2], move |[a, b, _]| {
        float::mul(of(a), of(b), rn).bits()
    });
    t.add("mul.rn.ftz.f16", 16, &[HALF; 2], move |[a, b, _]| {
        float::mul_ftz(of(a), of(b), rn).bits()
    });
    t.add(
        "fma.rn.ftz.f16",
        16,
        &[HALF, HALF, (Kind::F16, 16)],
        move |[a, b, c]| float::fma_ftz(of(a), of(b), of(c), rn).bits(),
    );
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
        // 8-bit numbers stand in 32-bit registers.
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

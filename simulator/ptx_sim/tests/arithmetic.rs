//! Instructions as whole PTX kernels, on random and on special operands, against Rust's own
//! arithmetic. Those that `hardware` compares with an H200 are not repeated here.

use common::lanewise::{Case, check};

/// Rows of instructions: opcode, types of operands and result, and Rust's own result.
macro_rules! rows {
    ($($opcode:literal ($($x:ident: $ty:ty),+) -> $result:ty: $value:expr;)*) => {$(
        check(Case::new($opcode, &[$(<$ty>::BITS),+], <$result>::BITS), |words| {
            let mut words = words.iter();
            $(let $x = *words.next().expect("as many as types") as $ty;)+
            let result: $result = $value;
            result as u64 & (u64::MAX >> (64 - <$result>::BITS))
        });
    )*};
}

#[test]
fn sums_and_products_of_32_bits() {
    rows! {
        "add.u32" (a: u32, b: u32) -> u32: a.wrapping_add(b);
        "add.s32" (a: i32, b: i32) -> i32: a.wrapping_add(b);
        "sub.s32" (a: i32, b: i32) -> i32: a.wrapping_sub(b);
        "mul.lo.u32" (a: u32, b: u32) -> u32: a.wrapping_mul(b);
        "mul.lo.s32" (a: i32, b: i32) -> i32: a.wrapping_mul(b);
        "max.u32" (a: u32, b: u32) -> u32: a.max(b);
        "max.s32" (a: i32, b: i32) -> i32: a.max(b);
    }
}

#[test]
fn forms_that_limit_their_results() {
    fn each<const N: usize>(a: u32, b: u32, f: fn(i32, i32) -> i32) -> u32 {
        let bits = 32 / N;
        let part = |word: u32, i: usize| (word << (32 - bits - bits * i)) as i32 >> (32 - bits);
        let keep = u32::MAX >> (32 - bits);
        (0..N).fold(0, |all, i| {
            all | (f(part(a, i), part(b, i)) as u32 & keep) << (bits * i)
        })
    }
    let factor = |bits: u32| i64::from(bits << 8) << 32 >> 40;
    rows! {
        "min.relu.s16x2" (a: u32, b: u32) -> u32: each::<2>(a, b, |a, b| a.min(b).max(0));
        "max.relu.s16x2" (a: u32, b: u32) -> u32: each::<2>(a, b, |a, b| a.max(b).max(0));
        "mad24.hi.sat.s32" (a: u32, b: u32, c: i32) -> i32: {
            let sum = ((factor(a) * factor(b)) >> 16) + i64::from(c);
            sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
        };
    }
    let with_a_third = |opcode: &str| Case::new(opcode, &[32, 32], 32).with_tail(", 0");
    check(with_a_third("vabsdiff4.s32.s32.s32.sat"), |a| {
        let limited = each::<4>(a[0] as u32, a[1] as u32, |a, b| (a - b).abs().min(127));
        u64::from(limited)
    });
    check(with_a_third("vabsdiff2.s32.s32.s32.sat"), |a| {
        let limited = each::<2>(a[0] as u32, a[1] as u32, |a, b| (a - b).abs().min(32_767));
        u64::from(limited)
    });
}

#[test]
fn sums_and_products_of_64_bits() {
    rows! {
        "add.s64" (a: i64, b: i64) -> i64: a.wrapping_add(b);
        "sub.u64" (a: u64, b: u64) -> u64: a.wrapping_sub(b);
        "mul.lo.s64" (a: i64, b: i64) -> i64: a.wrapping_mul(b);
        "max.u64" (a: u64, b: u64) -> u64: a.max(b);
        "and.b64" (a: u64, b: u64) -> u64: a & b;
        "xor.b64" (a: u64, b: u64) -> u64: a ^ b;
    }
}

#[test]
fn sums_and_products_of_16_bits() {
    rows! {
        "add.u16" (a: u16, b: u16) -> u16: a.wrapping_add(b);
        "sub.s16" (a: i16, b: i16) -> i16: a.wrapping_sub(b);
        "mul.lo.u16" (a: u16, b: u16) -> u16: a.wrapping_mul(b);
        "or.b16" (a: u16, b: u16) -> u16: a | b;
        "mul.wide.u16" (a: u16, b: u16) -> u32: u32::from(a) * u32::from(b);
        "mul.wide.s16" (a: i16, b: i16) -> i32: i32::from(a) * i32::from(b);
    }
}

#[test]
fn products_that_widen_and_add() {
    rows! {
        "mul.wide.u32" (a: u32, b: u32) -> u64: u64::from(a) * u64::from(b);
        "mul.wide.s32" (a: i32, b: i32) -> i64: i64::from(a) * i64::from(b);
        "mad.lo.s32" (a: u32, b: u32, c: u32) -> u32: a.wrapping_mul(b).wrapping_add(c);
        "mad.hi.u32" (a: u32, b: u32, c: u32) -> u32:
            (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c);
        "mad.wide.u32" (a: u32, b: u32, c: u64) -> u64:
            (u64::from(a) * u64::from(b)).wrapping_add(c);
        "mad.wide.s32" (a: i32, b: i32, c: i64) -> i64:
            (i64::from(a) * i64::from(b)).wrapping_add(c);
        "mad.lo.s64" (a: u64, b: u64, c: u64) -> u64: a.wrapping_mul(b).wrapping_add(c);
    }
}

#[test]
fn carries_run_through_a_128_bit_sum() {
    // Two outputs: the low and high halves of a + b.
    let body = "add.cc.u64 %o0, %a0, %a2;\n\taddc.u64 %o1, %a1, %a3;";
    check(Case::body(body, &[64, 64, 64, 64], 2), |a| {
        let sum = (u128::from(a[0]) | u128::from(a[1]) << 64)
            .wrapping_add(u128::from(a[2]) | u128::from(a[3]) << 64);
        vec![sum as u64, (sum >> 64) as u64]
    });
    let body = "sub.cc.u32 %y0, %x0, %x2;\n\tsubc.u32 %y1, %x1, %x3;\n\
                \tmov.b64 %o0, {%y0, %y1};";
    check(Case::body(body, &[32, 32, 32, 32], 1), |a| {
        vec![(a[0] | a[1] << 32).wrapping_sub(a[2] | a[3] << 32)]
    });
    let body = "mad.lo.cc.u32 %y0, %x0, %x1, %x2;\n\tmadc.hi.u32 %y1, %x0, %x1, %x3;\n\
                \tmov.b64 %o0, {%y0, %y1};";
    check(Case::body(body, &[32, 32, 32, 32], 1), |a| {
        vec![(a[0] * a[1]).wrapping_add(a[2] | a[3] << 32)]
    });
}

#[test]
fn logic() {
    rows! {
        "and.b32" (a: u32, b: u32) -> u32: a & b;
        "or.b32" (a: u32, b: u32) -> u32: a | b;
        "xor.b32" (a: u32, b: u32) -> u32: a ^ b;
        "not.b32" (a: u32) -> u32: !a;
        "cnot.b32" (a: u32) -> u32: u32::from(a == 0);
    }
}

#[test]
fn fields_and_counts() {
    rows! {
        "popc.b32" (a: u32) -> u32: a.count_ones();
    }
    check(Case::new("bfi.b32", &[32, 32, 5, 5], 32), |a| {
        let mask = ((1u64 << a[3]) - 1) << a[2];
        ((a[1] & !mask) | (a[0] << a[2] & mask)) & 0xFFFF_FFFF
    });
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[test]
fn rounding_is_to_the_nearest_unless_named() {
    type Binary<F> = fn(F, F) -> F;
    let singles: [(&str, Binary<f32>); 2] = [("add.f32", |a, b| a + b), ("mul.f32", |a, b| a * b)];
    for (opcode, f) in singles {
        let case = Case::floats(opcode, &[32, 32], 32).without_nan_payloads();
        check(case, |a| u64::from(f(single(a[0]), single(a[1])).to_bits()));
    }
    check(
        Case::floats("sub.f64", &[64, 64], 64).without_nan_payloads(),
        |a| (f64::from_bits(a[0]) - f64::from_bits(a[1])).to_bits(),
    );
}

#[test]
fn conversions() {
    rows! { "cvt.u16.u32" (a: u32) -> u16: a as u16; }
    // Two numbers to a pair of halves.
    check(Case::floats("cvt.rn.f16x2.f32", &[32, 32], 32), |a| {
        let half = |bits: u64| {
            let value = single(bits);
            let bits = half::f16::from_f32(value).to_bits();
            u64::from(if value.is_nan() { 0x7FFF } else { bits })
        };
        half(a[0]) << 16 | half(a[1])
    });
}

#[test]
fn comparisons() {
    let body = |compare: &str| format!("setp.{compare} %p0, %x0, %x1;\n\tselp.u64 %o0, 1, 0, %p0;");
    type IntTest = fn(u32, u32) -> bool;
    let cases: [(&str, IntTest); 8] = [
        ("eq.u32", |a, b| a == b),
        ("ne.s32", |a, b| a != b),
        ("lt.u32", |a, b| a < b),
        ("lt.s32", |a, b| (a as i32) < b as i32),
        ("ge.s32", |a, b| a as i32 >= b as i32),
        ("lo.u32", |a, b| a < b),
        ("hs.u32", |a, b| a >= b),
        ("gt.s32", |a, b| a as i32 > b as i32),
    ];
    for (compare, f) in cases {
        check(Case::body(&body(compare), &[32, 32], 1), |a| {
            vec![u64::from(f(a[0] as u32, a[1] as u32))]
        });
    }
    // Two destinations, combined with a third predicate.
    let body = "setp.gt.u32 %p2, %x2, 5;\n\tsetp.lt.and.u32 %p0|%p1, %x0, %x1, !%p2;\n\
                \tselp.u64 %o0, 1, 0, %p0;\n\tselp.u64 %o1, 1, 0, %p1;";
    check(Case::body(body, &[32, 32, 3], 2), |a| {
        let (less, with) = (a[0] < a[1], a[2] <= 5);
        vec![u64::from(less && with), u64::from(!less && with)]
    });
    check(
        Case::body(
            "set.lt.u32.s32 %y0, %x0, %x1;\n\tcvt.u64.u32 %o0, %y0;",
            &[32, 32],
            1,
        ),
        |a| {
            let less = (a[0] as i32) < a[1] as i32;
            vec![if less { 0xFFFF_FFFF } else { 0 }]
        },
    );
    check(
        Case::body("slct.u64.s32 %o0, %a0, %a1, %x2;", &[64, 64, 32], 1),
        |a| vec![if a[2] as i32 >= 0 { a[0] } else { a[1] }],
    );
}

#[test]
fn packing_and_unpacking() {
    check(
        Case::body(
            "mov.b64 {%y0, %y1}, %a0;\n\tmov.b64 %o0, {%y1, %y0};",
            &[64],
            1,
        ),
        |a| vec![a[0].rotate_left(32)],
    );
    let body = "mov.b32 {%g0, %g1}, %x0;\n\tmov.b32 %y0, {%g1, %g0};\n\tcvt.u64.u32 %o0, %y0;";
    check(Case::body(body, &[32], 1), |a| {
        vec![u64::from((a[0] as u32).rotate_left(16))]
    });
    let body = "mov.b64 {%g0, %g1, %g2, %g3}, %a0;\n\tmov.b64 %o0, {%g3, %g2, %g1, %g0};";
    check(Case::body(body, &[64], 1), |a| {
        let [b0, b1, b2, b3, b4, b5, b6, b7] = a[0].to_le_bytes();
        vec![u64::from_le_bytes([b6, b7, b4, b5, b2, b3, b0, b1])]
    });
}

#[test]
fn guards_keep_lanes_out() {
    let body = "mov.u64 %o0, %a0;\n\tsetp.lt.u32 %p0, %x1, %x2;\n\
                \t@%p0 add.u64 %o0, %o0, 1;\n\t@!%p0 sub.u64 %o0, %o0, 1;";
    check(Case::body(body, &[64, 32, 32], 1), |a| {
        vec![if a[1] < a[2] {
            a[0].wrapping_add(1)
        } else {
            a[0].wrapping_sub(1)
        }]
    });
}

#[test]
fn a_pair_of_predicates_is_written_at_once() {
    // The first destination is what the comparison is combined with, or what guards
    // the instruction: the second must see it as it was.
    let combined = "setp.lt.and.s32 %p0|%p1, %x0, %x1, %p0;";
    let guarded = "@%p0 setp.lt.s32 %p0|%p1, %x0, %x1;";
    for (text, reference) in [
        (
            combined,
            (|less, p| (less && p, !less && p)) as fn(bool, bool) -> (bool, bool),
        ),
        (
            guarded,
            |less, p| if p { (less, !less) } else { (p, false) },
        ),
    ] {
        let body = format!(
            "setp.ne.u32 %p0, %x2, 0;\n\tsetp.ne.u32 %p1, %x2, %x2;\n\t{text}\n\t\
             selp.u64 %o0, 1, 0, %p0;\n\tselp.u64 %o1, 1, 0, %p1;"
        );
        check(Case::body(&body, &[32, 32, 1], 2), |a| {
            let (p, q) = reference((a[0] as i32) < a[1] as i32, a[2] != 0);
            vec![u64::from(p), u64::from(q)]
        });
    }
}

#[test]
fn comparisons_of_halves_flush_subnormals_where_they_say_so() {
    // A subnormal differs from the zero of its sign, unless it is flushed first.
    for (ftz, differs) in [("", true), (".ftz", false)] {
        let body = format!(
            "mov.b32 {{%h0, %h1}}, %x0;\n\tmov.b32 %y0, 0;\n\tmov.b32 {{%h2, %h3}}, %y0;\n\t\
             setp.ne{ftz}.f16 %p0, %h0, %h2;\n\tsetp.ne{ftz}.f16x2 %p1|%p2, %x0, %y0;\n\t\
             set.ne{ftz}.f16x2.f16x2 %y1, %x0, %y0;\n\tset.ne{ftz}.u32.f16 %y2, %h0, %h2;\n\t\
             selp.u64 %o0, 1, 0, %p0;\n\tselp.u64 %o1, 1, 0, %p1;\n\tselp.u64 %o2, 1, 0, %p2;\n\t\
             cvt.u64.u32 %o3, %y1;\n\tcvt.u64.u32 %o4, %y2;"
        );
        check(Case::body(&body, &[32], 5), |a| {
            let differ = |bits: u64| {
                let magnitude = bits & 0x7FFF;
                let is_subnormal = magnitude < 0x0400;
                // A NaN is unordered with zero: `ne` does not hold.
                magnitude != 0 && magnitude <= 0x7C00 && (differs || !is_subnormal)
            };
            let (low, high) = (differ(a[0]), differ(a[0] >> 16));
            let ones = (u64::from(low) * 0x3C00) | (u64::from(high) * 0x3C00_0000);
            let all = if low { 0xFFFF_FFFF } else { 0 };
            vec![low.into(), low.into(), high.into(), ones, all]
        });
    }
}

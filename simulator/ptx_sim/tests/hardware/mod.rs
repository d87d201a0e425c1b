//! Arithmetic compared with NVIDIA hardware, bit for bit.
//!
//! `h200.txt` holds what an H200 gave for some six hundred instructions on operands that
//! this test recomputes (`inputs`). To measure again, on a machine with a GPU: run the
//! ignored test `write_kernels`, launch every kernel of `arithmetic.ptx` on the operands
//! next to it, and write the results in the file's format.

mod inputs;
pub mod results;
pub mod table;

use std::fmt::Write as _;

use common::{Bench, words};
use inputs::{Kind, operand};
use ptx_sim::numeric::half::F16;
use results::measured;
use table::{Agreement, Case, cases, operands};

/// Operands measured for each case; the file keeps the first of them.
const N_MEASURED: usize = 2048;

/// Register prefix of a width.
fn register(n_bits: u32) -> &'static str {
    match n_bits {
        1 => "%p",
        16 => "%h",
        32 => "%r",
        _ => "%d",
    }
}

/// A kernel that applies one instruction to operands 64 bits apart.
fn kernel(index: usize, case: &Case) -> String {
    let (mut loads, mut operands) = (String::new(), String::new());
    for (i, (name, (_, n_bits))) in (1..).zip(["a", "b", "c"].iter().zip(&case.operands)) {
        loads += &format!(
            "ld.param.u64 %at{i}, [{name}];\nadd.u64 %at{i}, %at{i}, %at0;\n\
             ld.global.b64 %d{i}, [%at{i}];\n"
        );
        loads += &match n_bits {
            64 => String::new(),
            32 => format!("cvt.u32.u64 %r{i}, %d{i};\n"),
            _ => format!("cvt.u16.u64 %h{i}, %d{i};\n"),
        };
        operands += &format!(", {}{i}", register(*n_bits));
    }
    let widen = match case.result_bits {
        1 => "selp.u64 %d5, 1, 0, %p5;\n",
        16 => "cvt.u64.u16 %d5, %h5;\n",
        32 => "cvt.u64.u32 %d5, %r5;\n",
        _ => "",
    };
    let Case { opcode, suffix, .. } = case;
    let result = register(case.result_bits);
    format!(
        "// {opcode}
.visible .entry case_{index}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{{
.reg .pred %p<9>;
.reg .b16 %h<9>;
.reg .b32 %r<9>;
.reg .b64 %d<9>, %at<9>;
mov.u32 %r7, %ctaid.x;
mov.u32 %r8, %ntid.x;
mov.u32 %r6, %tid.x;
mad.lo.u32 %r7, %r7, %r8, %r6;
mul.wide.u32 %at0, %r7, 8;
{loads}{opcode} {result}5{operands}{suffix};
{widen}ld.param.u64 %at5, [out];
add.u64 %at5, %at5, %at0;
st.global.b64 [%at5], %d5;
ret;
}}
"
    )
}

fn module(cases: &[Case]) -> String {
    let mut text = ".version 8.6\n.target sm_90\n.address_size 64\n".to_owned();
    for (index, case) in cases.iter().enumerate() {
        text += &kernel(index, case);
    }
    text
}

/// Whether `found` is acceptable where the hardware has `measured`.
fn agrees(case: &Case, found: u64, measured: u64) -> bool {
    if found == measured {
        return true;
    }
    let number = |bits: u64| match case.result_bits {
        64 => f64::from_bits(bits),
        32 => f64::from(f32::from_bits(bits as u32)),
        _ if case.opcode.ends_with("bf16") => f64::from(f32::from_bits((bits as u32) << 16)),
        _ => f64::from(F16(bits as u16).to_f32()),
    };
    let (x, y) = (number(found), number(measured));
    match case.agreement {
        Agreement::Exact => false,
        // Twice the bound and a step: the hardware has an error of its own,
        // and the smallest numbers have fewer bits.
        Agreement::Relative(bound) => (x - y).abs() <= y.abs() * 2.0 * bound + smallest(case),
        Agreement::Logarithm => (x - y).abs() <= 2.0_f64.powi(-21) * y.abs().max(1.0),
        Agreement::Absolute(bound) => (x - y).abs() <= 2.0 * bound,
    }
}

/// The step between the smallest numbers of a result's format.
fn smallest(case: &Case) -> f64 {
    match case.result_bits {
        64 => f64::from_bits(1),
        32 => f64::from(f32::from_bits(1)),
        _ if case.opcode.ends_with("bf16") => 2.0_f64.powi(-133),
        _ => 2.0_f64.powi(-24),
    }
}

/// Runs each case on the simulator, on its first `n` operands; gives the results.
pub fn simulated(cases: &[Case], n: usize) -> Vec<Vec<u64>> {
    let bench = Bench::new(&module(cases));
    let run = |(index, case): (usize, &Case)| {
        let buffers = ["a", "b", "c", "out"].map(|name| bench.zeros::<u64>(n, name));
        for (place, (kind, _)) in (0..).zip(&case.operands) {
            let words: Vec<u64> = (0..n as u64).map(|i| operand(*kind, place, i)).collect();
            let overwritten = bench.device.overwrite(buffers[place as usize], &words);
            overwritten.unwrap();
        }
        let name = format!("case_{index}");
        let call = bench.call(&name).grid(n as u32 / 32).block(32);
        let done = buffers.iter().fold(call, |call, &b| call.arg(b)).run();
        done.unwrap_or_else(|error| panic!("{}: {error}", case.opcode));
        let out = bench.download(buffers[3]);
        for buffer in buffers {
            bench.device.free(buffer.address()).unwrap();
        }
        out
    };
    cases.iter().enumerate().map(run).collect()
}

/// Compares the simulator with what the file says of each case; gives the disagreements.
fn compare(results: &[Vec<u64>]) -> String {
    let cases = cases();
    assert_eq!(
        cases.len(),
        results.len(),
        "measure again: the table has changed"
    );
    let simulated = simulated(&cases, results[0].len());
    let mut report = String::new();
    for ((case, measured), found) in cases.iter().zip(results).zip(simulated) {
        let wrong: Vec<usize> = (0..measured.len())
            .filter(|&number| !agrees(case, found[number], measured[number]))
            .collect();
        if let Some(&first) = wrong.first() {
            let [a, b, c] = operands(case, first as u64);
            let _ = writeln!(
                report,
                "{}{}: {} of {}, first {a:x} {b:x} {c:x}: {:x}, hardware {:x}",
                case.opcode,
                case.suffix,
                wrong.len(),
                measured.len(),
                found[first],
                measured[first],
            );
        }
    }
    report
}

#[test]
fn the_simulator_agrees_with_the_h200() {
    let report = compare(&measured());
    assert!(report.is_empty(), "{report}");
}

#[test]
#[ignore = "compares with raw results of a new measurement, the file in RESULTS"]
fn it_agrees_with_a_new_measurement() {
    let bytes = std::fs::read(std::env::var_os("RESULTS").expect("RESULTS")).unwrap();
    let results: Vec<Vec<u64>> = words(&bytes)
        .chunks(N_MEASURED)
        .map(<[u64]>::to_vec)
        .collect();
    let report = compare(&results);
    assert!(report.is_empty(), "{report}");
}

#[test]
#[ignore = "writes the kernels and operands for a GPU to the directory in KERNELS_OUT"]
fn write_kernels() {
    let out = std::path::PathBuf::from(std::env::var_os("KERNELS_OUT").expect("KERNELS_OUT"));
    let cases = cases();
    std::fs::write(out.join("arithmetic.ptx"), module(&cases)).unwrap();
    let kinds = [
        Kind::Int,
        Kind::Count,
        Kind::F16,
        Kind::Bf16,
        Kind::F32,
        Kind::F64,
        Kind::Tiny,
        Kind::Huge,
        Kind::TinyF16,
        Kind::TinyF64,
    ];
    for kind in kinds {
        for place in 0..3 {
            let words: Vec<u8> = (0..N_MEASURED as u64)
                .flat_map(|number| operand(kind, place, number).to_le_bytes())
                .collect();
            std::fs::write(out.join(format!("{kind:?}_{place}.bin")), words).unwrap();
        }
    }
    let lines: Vec<String> = cases
        .iter()
        .map(|case| {
            let kinds: Vec<_> = case
                .operands
                .iter()
                .map(|(kind, _)| format!("{kind:?}"))
                .collect();
            kinds.join(" ")
        })
        .collect();
    std::fs::write(out.join("cases.txt"), lines.join("\n")).unwrap();
}

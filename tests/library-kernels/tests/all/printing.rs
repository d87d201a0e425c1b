//! `println!` prints what Rust would, except where `cuda_std` says otherwise.

use crate::bench::{Bench, ptx};
use cuda_std::launch::Kernel;
use library_kernels::printing as kernels;
use ptx_sim::Module;
use std::collections::BTreeSet;

#[test]
fn every_thread_prints_its_line() {
    let bench = Bench::of("library");
    let floats: Vec<f32> = (0..64).map(|i| i as f32 / 3.0).collect();
    let x = bench.input(&floats);
    let report = bench.launch(kernels::prints_a_line, 2, 32, (x.as_slice(),));
    let expected = (0..).zip(&floats);
    let expected = expected.map(|(i, x)| format!("thread {i} has {x:.2}\n"));
    // Blocks run in any order.
    let printed: BTreeSet<String> = report.printed().iter().cloned().collect();
    assert_eq!(printed, expected.collect());
    assert_eq!(report.printed().len(), 64);
}

#[test]
fn numbers_print_as_in_rust() {
    let bench = Bench::of("library");
    let (small, n, word, long) = (-5i8, -1234i32, 0xBEEFu32, i64::MIN);
    let (wide, x, y) = (u64::MAX, 0.1f32, -1.5e10f64);
    let args = (small, n, word, long, wide, x, y);
    let report = bench.launch(kernels::prints_numbers, 1, 1, args);
    let expected = [
        // Floats as C's `%g`.
        format!("{small} {n} {word} {long} {wide} 0.1 -1.5e+10\n"),
        format!("{small:x} {n:x} {word:X} {long:#x} {wide:#018x} {word:o}\n"),
        format!("{n:6}|{n:<6}|{n:06}|{n:>6}|{n:+}|{x:+.1}|-1.5e+10\n"),
        // Exponents as C writes them.
        format!("{x:.0} {y:10.3} {y:<10.3}| -1.500000e+10 -1.5E+10\n"),
        "255 -32768 255\n".to_owned(),
        format!("{} {}\n", usize::MAX, isize::MIN),
        format!("100% {{{}}}\n", n + 1),
    ];
    assert_eq!(report.printed(), expected);
}

#[test]
fn text_prints_as_in_rust() {
    let bench = Bench::of("library");
    let text = "Straße";
    let on_device = bench.input(text.as_bytes());
    let address = on_device.address();
    let args = (on_device.as_ptr(), text.len() as u32, 1);
    let report = bench.launch(kernels::prints_text, 1, 1, args);
    let expected = [
        "true false ß\n".to_owned(),
        format!("[{text:6}][{text:>6}][{text:.2}] C\n"),
        format!("{}\n", "x".repeat(255)),
        format!("{address:#x}\n"),
        "no ".to_owned(),
        "end".to_owned(),
        "\n".to_owned(),
    ];
    assert_eq!(report.printed(), expected);
}

#[test]
fn generic_functions_and_references_print() {
    let bench = Bench::of("library");
    let values = bench.input(&[7, 8]);
    let report = bench.launch(kernels::prints_generic, 1, 1, (values.as_slice(),));
    let expected = ["<1.5>\n", "<text>\n", "7   7\n", "8   8\n"];
    assert_eq!(report.printed(), expected);
}

#[test]
fn printing_costs_one_call() {
    let module = Module::parse(&ptx("library")).expect("rustc's PTX parses");
    let kernel = module.ir().function(kernels::prints_a_line::NAME);
    let (_, kernel) = kernel.expect("it is an entry");
    let calls = kernel.body.iter().flatten();
    let calls: Vec<_> = calls
        .filter(|instruction| instruction.opcode.starts_with("call"))
        .collect();
    // The other is the panic of `x[i]`.
    assert_eq!(calls.len(), 2, "{calls:?}");
}

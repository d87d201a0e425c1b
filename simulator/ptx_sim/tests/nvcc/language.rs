//! The language beyond arithmetic: calls, jump tables, recursion, local arrays, printing,
//! assertions.

use bytemuck::{Pod, Zeroable};

use common::numbers::{Numbers, singles};
use common::says;

use super::bench;

#[test]
fn a_stack_machine() {
    const NUMBERS: [&str; 16] = [
        "push", "add", "sub", "mul", "and", "or", "xor", "shift", "min", "max", "dup", "swap",
        "jump", "thread", "store", "halt",
    ];
    let assemble = |text: &str| -> Vec<i32> {
        text.split_whitespace()
            .map(|word| match NUMBERS.iter().position(|n| *n == word) {
                Some(code) => code as i32,
                None => word.parse().unwrap(),
            })
            .collect()
    };
    // Every operation once, on numbers that depend on the thread.
    let code = assemble(
        "push 1 thread push 7 and push 1 add \
         dup push -1 add swap push 0 add \
         push 3 shift push 8 xor push 2 max push 1000000 min push 1 or \
         mul push 5 sub thread add store halt",
    );
    let expected = |thread: i32| {
        let n = (thread & 7) + 1;
        let m = ((n << 3) ^ 8).clamp(2, 1_000_000) | 1;
        (n - 1) * m - 5 + thread
    };
    // Thread `t` counts down from t % 4 + 1, in steps of a loop.
    let countdown = assemble(
        "push 0 thread push 3 and push 1 add \
         swap push 10 add swap push -1 add dup jump 9 \
         add store halt",
    );
    for ptx in [
        include_str!("interpreter.ptx"),
        include_str!("interpreter.debug.ptx"),
    ] {
        let bench = bench(ptx);
        let out = bench.zeros::<i32>(96, "out");
        let program = bench.upload(&code, "code");
        bench.check("interpreter", 3, 32, &[&program, &out]);
        assert_eq!(
            bench.download(out),
            (0..96).map(expected).collect::<Vec<_>>()
        );
        let program = bench.upload(&countdown, "code");
        bench.check("interpreter", 3, 32, &[&program, &out]);
        let expected: Vec<i32> = (0..96).map(|t| 10 * ((t & 3) + 1)).collect();
        assert_eq!(bench.download(out), expected);
    }
}

/// As in `calls.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
struct Triple {
    a: i32,
    padding: i32,
    b: f64,
    c: [i16; 3],
    tail: i16,
}

#[test]
fn calls() {
    fn ackermann(m: u32, n: u32) -> u32 {
        match (m, n) {
            (0, _) => n + 1,
            (_, 0) => ackermann(m - 1, 1),
            _ => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    for ptx in [include_str!("calls.ptx"), include_str!("calls.debug.ptx")] {
        let bench = bench(ptx);
        let out = bench.zeros::<u32>(32, "out");
        bench.check("recursion", 1, 32, &[&out]);
        let expected: Vec<u32> = (0..32).map(|i| ackermann(i % 3, i / 3)).collect();
        assert_eq!(bench.download(out), expected);

        let which: Vec<i32> = Numbers(1).take(64).map(|r| (r % 3) as i32).collect();
        let values = singles(2, 64, 10.0);
        let on_device = bench.upload(&which, "which");
        let data = bench.upload(&values, "data");
        bench.check("pointers", 2, 32, &[&on_device, &data]);
        let expected: Vec<f32> = which
            .iter()
            .zip(values)
            .map(|(which, x)| [2.0 * x, x * x, -x][*which as usize])
            .collect();
        assert_eq!(bench.download(data), expected);

        let triple = |i: i16| Triple {
            a: i32::from(i),
            padding: 0,
            b: f64::from(i) / 4.0,
            c: [10 + i, 20 + i, 30 + i],
            tail: 0,
        };
        let turn = |t: Triple| Triple {
            a: i32::from(t.c[0]),
            b: t.b * 2.0,
            c: [t.c[1], t.c[2], t.a as i16],
            ..t
        };
        let triples: Vec<Triple> = (0..8).map(triple).collect();
        let input = bench.upload(&triples, "in");
        let out = bench.zeros::<Triple>(8, "out");
        // A structure by value as a parameter.
        bench.check("structures", 1, 8, &[&input, &out, &triple(100)]);
        let expected: Vec<Triple> = triples
            .iter()
            .map(|&t| {
                let mut t = turn(turn(t));
                t.b += 25.0;
                t.c[1] += 130;
                t
            })
            .collect();
        // The padding between and after the fields is arbitrary.
        let fields = |t: &Triple| (t.a, t.b, t.c);
        let found = bench.download(out);
        assert!(
            found.iter().map(fields).eq(expected.iter().map(fields)),
            "{found:?}"
        );

        let out = bench.zeros::<f32>(32, "out");
        bench.check("virtuals", 1, 32, &[&out]);
        let area = |i: usize| (if i % 2 == 1 { 1.0 } else { 3.0 }) * (i * i) as f32;
        assert_eq!(bench.download(out), (0..32).map(area).collect::<Vec<_>>());
    }
}

#[test]
fn local_arrays() {
    let data = singles(3, 64 * 20, 100.0);
    let mut expected = data.clone();
    expected
        .chunks_mut(20)
        .for_each(|part| part.sort_by(f32::total_cmp));
    for ptx in [
        include_str!("local_array.ptx"),
        include_str!("local_array.debug.ptx"),
    ] {
        let bench = bench(ptx);
        let on_device = bench.upload(&data, "data");
        let report = bench.check("sort", 2, 32, &[&on_device]);
        assert_eq!(bench.download(on_device), expected);
        assert!(report.counts.local_load_requests > 0);
    }
}

#[test]
fn printing() {
    let bench = bench(include_str!("print.ptx"));
    let report = bench.check("print", 1, 4, &[&3, &1.5_f64]);
    let expected = [
        "thread 0 of 4:  0.00 even a 1 %\n",
        "thread 1 of 4:  1.50 odd b 100 %\n",
        "thread 2 of 4:  3.00 even c 10000 %\n",
    ];
    assert_eq!(report.printed, expected);
}

#[test]
fn a_failed_assertion() {
    let bench = bench(include_str!("print.ptx"));
    let good = bench.upload(&[1; 32], "data");
    bench.check("check", 1, 32, &[&good]);
    let bad = bench.upload(&[[1; 31].as_slice(), &[-1]].concat(), "data");
    let error = bench
        .call("check")
        .block(32)
        .check(true)
        .arg(bad)
        .run()
        .unwrap_err()
        .to_string();
    says(&error, &["data[threadIdx.x] > 0", "thread (31, 0, 0)"]);
}

//! Structures and tensor maps arrive as the host has them.

use crate::bench::{Bench, ptx};
use cuda_std::launch::{DevicePtrMut, DeviceTensorMap, Kernel, KernelArgs};
use half::f16;
use library_kernels::parameters::{self as kernels, Map, Mixed, Pair, Table, Wrapped};
use ptx_sim::Module;

const PAIR: Pair = Pair { a: 7, b: -0.5 };
const MIXED: Mixed = Mixed {
    small: 200,
    wide: 1e-3,
    three: [1, 2, 65_535],
    pair: Pair { a: 9, b: 2.25 },
    half: f16::from_f32_const(1.5),
};

#[test]
fn structures_arrive_field_by_field() {
    let mut bench = Bench::of("library");
    let out = bench.output(13 * 8);
    let map = Map(std::array::from_fn(|i| 1 << (i + 10)));
    let args = (PAIR, 3, MIXED, map, Wrapped(-4), DevicePtrMut::new(out));
    bench.launch(kernels::takes_structures, 1, 1, args);
    let found: Vec<f64> = bench
        .read(out, 13)
        .into_iter()
        .map(f64::from_le_bytes)
        .collect();
    let half = f64::from(u32::from(MIXED.half.to_bits()));
    let expected = [
        7.0,
        -0.5,
        3.0,
        200.0,
        1e-3,
        1.0,
        65_535.0,
        9.0,
        2.25,
        half,
        1024.0,
        33_554_432.0,
        -4.0,
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_table_is_indexed() {
    let mut bench = Bench::of("library");
    let out = bench.output(1024 * 4);
    let table = Table {
        values: std::array::from_fn(|i| i as u32 * 3),
    };
    bench.launch(kernels::looks_up, 8, 128, (table, DevicePtrMut::new(out)));
    let expected: Vec<u32> = (0..1024).map(|i| i % 512 * 3).collect();
    assert_eq!(bench.read_words(out, 1024), expected);
}

#[test]
fn a_kernel_changes_only_its_own_copy() {
    let mut bench = Bench::of("library");
    let out = bench.output(64 * 8);
    let args = (MIXED, DevicePtrMut::new(out));
    let report = bench.launch(kernels::changes_its_copy, 2, 32, args);
    let found: Vec<f64> = bench
        .read(out, 64)
        .into_iter()
        .map(f64::from_le_bytes)
        .collect();
    let expected: Vec<f64> = (0..64)
        .map(|i| MIXED.wide * 2.0 + f64::from(2 + i))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(report.printed(), ["0.0\n"]);
}

#[test]
fn tensor_maps_are_read_where_the_launch_put_them() {
    let mut bench = Bench::of("library");
    let map = |first: u8| {
        let bytes = std::array::from_fn(|i| first + i as u8);
        DeviceTensorMap::new(bytes, 0x1000, |_, _| Err("it stays".into()))
    };
    let words = |map: &DeviceTensorMap| {
        let (words, _) = map.as_bytes().as_chunks::<8>();
        words
            .iter()
            .map(|word| u64::from_le_bytes(*word))
            .collect::<Vec<_>>()
    };
    let (a, b) = (map(1), map(100));
    let offsets = bench.words(&[8; 16]);
    let out = bench.output(35 * 8);
    let args = (offsets, a, PAIR, b, Map([9; 16]), DevicePtrMut::new(out));
    bench.launch(kernels::reads_maps, 1, 32, args);
    let found: Vec<u64> = bench
        .read(out, 35)
        .into_iter()
        .map(u64::from_le_bytes)
        .collect();
    assert_eq!(found, [words(&a), words(&b), vec![0, 0, 9]].concat());
}

#[test]
fn tensor_maps_are_not_copied_to_local_memory() {
    let text = ptx("library");
    let entry = text
        .split(".visible .entry ")
        .find(|entry| entry.starts_with("reads_maps("))
        .expect("it is an entry");
    let head = entry.split_once(')').expect("it has parameters").0;
    for index in [2, 4] {
        let map = format!(".param .align 64 .b8 reads_maps_param_{index}[128]");
        assert!(head.contains(&map), "{head}");
    }
    assert!(
        head.contains(".param .align 16 .b8 reads_maps_param_5[128]"),
        "{head}"
    );
    assert!(!entry.contains("__local_depot"), "{entry}");
}

#[test]
fn the_ptx_declares_what_the_host_passes() {
    let module = Module::parse(&ptx("library")).expect("rustc's PTX parses");
    fn declared<K: Kernel>(module: &Module, _: K) -> Vec<(u32, u32)> {
        let (_, kernel) = module.ir().function(K::NAME).expect("it is an entry");
        let declared: Vec<_> = kernel
            .params
            .iter()
            .map(|p| (p.size_bytes, p.align))
            .collect();
        let sizes: Vec<_> = declared.iter().map(|(size, _)| *size).collect();
        assert_eq!(
            sizes,
            K::Args::param_sizes().collect::<Vec<_>>(),
            "{}",
            K::NAME
        );
        declared
    }
    assert_eq!(
        declared(&module, kernels::takes_structures),
        [(8, 4), (1, 1), (40, 8), (128, 16), (4, 4), (8, 8)]
    );
    assert_eq!(declared(&module, kernels::looks_up), [(2048, 4), (8, 8)]);
    assert_eq!(
        declared(&module, kernels::reads_maps),
        [
            (8, 8),
            (8, 8),
            (128, 64),
            (8, 4),
            (128, 64),
            (128, 16),
            (8, 8)
        ]
    );
    assert_eq!(
        declared(&module, kernels::changes_its_copy),
        [(40, 8), (8, 8)]
    );
}

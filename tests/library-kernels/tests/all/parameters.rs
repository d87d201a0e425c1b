//! Structures and tensor maps arrive as the host has them.

use crate::bench::{Bench, ptx, read};
use cuda_std::launch::{DeviceTensorMap, Kernel, KernelArgs};
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
    let bench = Bench::of("library");
    let out = bench.output(13);
    let map = Map(std::array::from_fn(|i| 1 << (i + 10)));
    let args = (PAIR, 3, MIXED, map, Wrapped(-4), out.as_mut_ptr());
    bench.launch(kernels::takes_structures, 1, 1, args);
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
    assert_eq!(read(&out), expected);
}

#[test]
fn a_table_is_indexed() {
    let bench = Bench::of("library");
    let out = bench.output(1024);
    let table = Table {
        values: std::array::from_fn(|i| i as u32 * 3),
    };
    bench.launch(kernels::looks_up, 8, 128, (table, out.as_mut_ptr()));
    let expected: Vec<u32> = (0..1024).map(|i| i % 512 * 3).collect();
    assert_eq!(read(&out), expected);
}

#[test]
fn a_kernel_changes_only_its_own_copy() {
    let bench = Bench::of("library");
    let out = bench.output(64);
    let args = (MIXED, out.as_mut_ptr());
    let report = bench.launch(kernels::changes_its_copy, 2, 32, args);
    let expected: Vec<f64> = (0..64)
        .map(|i| MIXED.wide * 2.0 + f64::from(2 + i))
        .collect();
    assert_eq!(read(&out), expected);
    assert_eq!(report.printed(), ["0.0\n"]);
}

#[test]
fn tensor_maps_are_read_where_the_launch_put_them() {
    let bench = Bench::of("library");
    let map = |first: u8| {
        let bytes = std::array::from_fn(|i| first + i as u8);
        DeviceTensorMap::new(bytes, 0x1000, |_, _| Err("it stays".into()))
    };
    let words = |map: &DeviceTensorMap| {
        let (words, _) = map.as_bytes().as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        words.collect::<Vec<_>>()
    };
    let (a, b) = (map(1), map(100));
    let (offsets, out) = (bench.input(&[8; 16]), bench.output(35));
    let (offsets, table) = (offsets.as_slice(), Map([9; 16]));
    let args = (offsets, a, PAIR, b, table, out.as_mut_ptr());
    bench.launch(kernels::reads_maps, 1, 32, args);
    assert_eq!(read(&out), [words(&a), words(&b), vec![0, 0, 9]].concat());
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
    let table = ".param .align 16 .b8 reads_maps_param_5[128]";
    assert!(head.contains(table), "{head}");
    assert!(!entry.contains("__local_depot"), "{entry}");
}

#[test]
fn the_ptx_declares_what_the_host_passes() {
    let module = Module::parse(&ptx("library")).expect("rustc's PTX parses");
    fn declared<K: Kernel>(module: &Module, _: K) -> Vec<(u32, u32)> {
        let (_, kernel) = module.ir().function(K::NAME).expect("it is an entry");
        let sizes = kernel.params.iter().map(|p| p.size_bytes);
        assert!(sizes.eq(K::Args::param_sizes()), "{}", K::NAME);
        let declared = kernel.params.iter().map(|p| (p.size_bytes, p.align));
        declared.collect()
    }
    assert_eq!(
        declared(&module, kernels::takes_structures),
        [(8, 4), (1, 1), (40, 8), (128, 16), (4, 4), (8, 8)]
    );
    assert_eq!(declared(&module, kernels::looks_up), [(2048, 4), (8, 8)]);
    let maps = [(128, 64), (8, 4), (128, 64), (128, 16)];
    let declared_maps = declared(&module, kernels::reads_maps);
    assert_eq!(declared_maps, [&[(8, 8); 2][..], &maps, &[(8, 8)]].concat());
    assert_eq!(
        declared(&module, kernels::changes_its_copy),
        [(40, 8), (8, 8)]
    );
}

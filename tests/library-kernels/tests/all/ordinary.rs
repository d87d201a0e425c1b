//! Ordinary Rust gives the same bits on the host and on the device.

use crate::bench::Bench;
use cuda_std::launch::DevicePtrMut;
use library_kernels::ordinary::{self as kernels, NAMES};
use std::collections::HashSet;

const N_THREADS: usize = 128;

#[test]
fn host_and_device_give_the_same_bits() {
    let mut bench = Bench::of("ordinary");
    let out = bench.output(N_THREADS * NAMES.len() * 8);
    bench.launch(kernels::ordinary_rust, 2, 64, (DevicePtrMut::new(out),));
    let found = bench.read(out, N_THREADS * NAMES.len());
    for (i, found) in found.chunks(NAMES.len()).enumerate() {
        let expected = kernels::all(i as u32);
        for (k, name) in NAMES.iter().enumerate() {
            assert_eq!(u64::from_le_bytes(found[k]), expected[k], "{name}({i})");
        }
    }
}

#[test]
fn every_example_depends_on_its_thread() {
    let results: Vec<_> = (0..N_THREADS as u32).map(kernels::all).collect();
    for (k, name) in NAMES.iter().enumerate() {
        let different: HashSet<u64> = results.iter().map(|results| results[k]).collect();
        assert!(different.len() > 3, "{name} gives {different:?}");
    }
}

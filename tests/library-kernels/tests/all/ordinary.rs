//! Ordinary Rust gives the same bits on the host and on the device.

use crate::bench::{Bench, read};
use library_kernels::ordinary::{self as kernels, NAMES};
use std::collections::HashSet;

const N_THREADS: usize = 128;

#[test]
fn host_and_device_give_the_same_bits() {
    let bench = Bench::of("ordinary");
    let out = bench.output(N_THREADS * NAMES.len());
    bench.launch(kernels::ordinary_rust, 2, 64, (out.as_mut_ptr(),));
    for (i, found) in read(&out).chunks(NAMES.len()).enumerate() {
        let expected = kernels::all(i as u32);
        for (k, name) in NAMES.iter().enumerate() {
            assert_eq!(found[k], expected[k], "{name}({i})");
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

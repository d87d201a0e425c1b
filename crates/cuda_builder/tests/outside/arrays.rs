//! Arrays in registers, and the warning about those that are not.

use crate::Project;
use std::collections::BTreeSet;

const MANIFEST: &str = "[package]\nname = \"outside-arrays\"\nedition = \"2024\"\n\
     [lib]\nname = \"array_kernels\"\npath = \"src/kernels.rs\"\n\
     [dependencies]\ncuda_std = { package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }\n\
     [build-dependencies]\ncuda_builder = { package = \"lockstep-cuda-builder\", path = \"CRATES/cuda_builder\" }\n";

const KERNELS: &str = r#"//! Kernels with arrays.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]
use cuda_std::prelude::*;
use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, mma};
use cuda_std::println;

/// Arrays that are filled, and used, in loops with constant bounds.
#[kernel]
pub unsafe fn loops(input: *const f32, output: *mut f32, n_columns: u32) {
    let row = thread::block_idx_x() * n_columns;
    let columns = |k: usize| thread::thread_idx_x() + 32 * k as u32;
    let mut values = [f32::NEG_INFINITY; 32];
    for k in 0..32 {
        if columns(k) < n_columns {
            values[k] = *input.add((row + columns(k)) as usize);
        }
    }
    let mut max = f32::NEG_INFINITY;
    for k in 0..32 {
        max = max.max(values[k]);
    }
    let mut sum = 0.0;
    for k in 0..32 {
        values[k] = (values[k] - max) * values[k];
        sum += values[k];
    }
    for k in 0..32 {
        if columns(k) < n_columns {
            *output.add((row + columns(k)) as usize) = values[k] / sum;
        }
    }
}

/// An array that is consumed.
#[kernel]
pub unsafe fn consumed(input: *const u32, output: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let a: FragmentA<f16, M16N8K16> = FragmentA::new(core::array::from_fn(|i| *input.add(t + 32 * i)));
    let frags: [FragmentB<f16, M16N8K16>; 4] = core::array::from_fn(|h| {
        FragmentB::new(core::array::from_fn(|i| *input.add(t + 32 * (2 * h + i))))
    });
    let mut sums = [FragmentC::<f32>::zero(); 4];
    for (h, b) in frags.into_iter().enumerate() {
        sums[h] = mma(a, b, sums[h]);
    }
    for (h, sums) in sums.iter().enumerate() {
        for (i, sum) in sums.registers.iter().enumerate() {
            *output.add(t + 32 * (4 * h + i)) = *sum;
        }
    }
}

/// An array that is iterated over by reference, in a loop of run-time length.
#[kernel]
pub unsafe fn iterated(input: *const f32, output: *mut f32, n: u32) {
    let t = thread::thread_idx_x() as usize;
    let mut sums = [0.0; 8];
    for step in 0..n as usize {
        let values: [f32; 8] = core::array::from_fn(|i| *input.add(t + 256 * step + 32 * i));
        for (h, value) in values.iter().enumerate() {
            sums[h] += value * value;
        }
    }
    for h in 0..8 {
        *output.add(t + 32 * h) = sums[h];
    }
}

/// The same by value.
#[kernel]
pub unsafe fn adapted(input: *const f32, output: *mut f32, n: u32) {
    let t = thread::thread_idx_x() as usize;
    let mut sums = [0.0; 8];
    for step in 0..n as usize {
        let values: [f32; 8] = core::array::from_fn(|i| *input.add(t + 256 * step + 32 * i));
        for (h, value) in values.into_iter().enumerate() {
            sums[h] += value * value; // <- adapted
        }
    }
    for h in 0..8 {
        *output.add(t + 32 * h) = sums[h];
    }
}

/// An array of distances.
#[kernel]
pub unsafe fn distances(data: *mut f32) {
    let t = thread::thread_idx_x() as usize;
    let mut sum = *data.add(t);
    for lanes in [1, 2] {
        sum += warp::warp_shuffle_xor(!0, sum, lanes, 32).0;
    }
    *data.add(t) = sum;
}

/// The array is the library's.
#[kernel]
pub unsafe fn prints(data: *const f32) {
    println!("{} and {}", *data, thread::thread_idx_x());
}

/// How often each digit occurs.
#[inline(always)]
unsafe fn count(values: *const u32, counts: *mut u32) {
    let t = thread::thread_idx_x() as usize;
    let mut own = [0_u32; 4];
    for k in 0..16 {
        let digit = *values.add(t + 32 * k) % 4;
        own[digit as usize] += 1; // <- unnoticed
    }
    for digit in 0..4 {
        *counts.add(t + 32 * digit) = own[digit];
    }
}

/// An array with an index of run time.
#[kernel]
pub unsafe fn unnoticed(values: *const u32, counts: *mut u32) {
    count(values, counts);
}

/// The same on purpose.
#[kernel(local_memory)]
pub unsafe fn meant(values: *const u32, counts: *mut u32) {
    count(values, counts);
}
"#;

const PROGRAM: &str =
    "fn main() {\n    println!(\"{}\", include_str!(env!(\"KERNELS_PTX\")));\n}\n";

const BUILD_SCRIPT: &str =
    "fn main() {\n    cuda_builder::CudaBuilder::new(\".\").build_or_exit();\n}\n";

/// The kernels of a module that have local memory.
fn with_local_memory(ptx: &str) -> BTreeSet<&str> {
    let entries = ptx.split(".visible .entry ").skip(1);
    let with_depot = entries.filter(|entry| entry.contains("__local_depot"));
    with_depot
        .map(|entry| entry.split('(').next().unwrap())
        .collect()
}

/// What cargo shows of the builder's warnings.
fn warnings(said: &str) -> Vec<&str> {
    let warnings = said.lines().filter(|line| line.contains("local memory"));
    warnings.collect()
}

#[test]
fn arrays_are_in_registers_and_others_are_named() {
    let project = Project::new();
    project.write("Cargo.toml", MANIFEST);
    project.write("src/kernels.rs", KERNELS);
    project.write("src/main.rs", PROGRAM);
    project.write("build.rs", BUILD_SCRIPT);
    let (ptx, said) = project.build_and_run().unwrap();
    let local = with_local_memory(&ptx);
    let expected = BTreeSet::from(["adapted", "meant", "prints", "unnoticed"]);
    assert_eq!(local, expected, "{said}");

    let warnings = warnings(&said);
    assert_eq!(warnings.len(), 2, "{said}");
    for (kernel, warning) in ["adapted", "unnoticed"].into_iter().zip(warnings) {
        let mark = format!("// <- {kernel}");
        let line = KERNELS.lines().position(|line| line.ends_with(&mark));
        let begins = format!(
            "src/kernels.rs:{}: kernel `{kernel}` keeps",
            line.unwrap() + 1
        );
        assert!(warning.contains(&begins), "{warning}");
    }
}

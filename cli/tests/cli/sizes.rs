//! Shapes that do not fit in memory are refused before they are tried.

use super::support::{fails, limited, lockstep, passes};
use std::process::Output;

/// The program with this many kilobytes of address space.
fn with_memory(kilobytes: u32, words: &str) -> Output {
    limited(&format!("ulimit -v {kilobytes}"), words)
}

#[test]
fn a_shape_beyond_all_memory_is_a_usage_error() {
    for (kernel, shape) in [
        ("transpose_padded", "1000000x1000000"),
        ("transpose_padded", "4294967295x4294967295"),
        ("sgemm_naive", "4294967295x4294967295x4294967295"),
        ("multi_columns_plain", "4294967295"),
    ] {
        let output = lockstep(format!("profile {kernel} --shape {shape}"));
        fails(&output, 2, &[kernel, "of memory are needed", "are free"]);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn sizes_to_time_are_tried_before_the_gpu_is_looked_for() {
    let output = lockstep("bench transpose --sizes 1000000x1000000");
    fails(&output, 2, &["of memory are needed", "--sizes"]);
}

/// Half a gigabyte is too little for 8192×8192, but enough for small shapes.
#[test]
fn a_catalogue_that_does_not_fit_is_refused() {
    let run = "run-all --engine sim --filter transpose_padded";
    let output = with_memory(600_000, &format!("{run} --full"));
    let words = ["transpose_padded at 8192×8192", "ulimit", "--quick"];
    fails(&output, 2, &words);
    assert!(output.stdout.is_empty());
    passes(&with_memory(600_000, &format!("{run} --quick")));
}

#[test]
fn more_atoms_than_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atoms.txt");
    let atoms: String = (0..3_000_000).map(|atom| format!("{atom} 0\n")).collect();
    std::fs::write(&file, atoms).expect("a file");
    let words = format!("neighbors {} --engine sim", file.display());
    let output = with_memory(600_000, &words);
    fails(&output, 2, &["atoms.txt has too many atoms", "are free"]);
    assert!(output.stdout.is_empty());
}

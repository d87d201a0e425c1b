//! Shapes that do not fit in memory are refused before they are tried.

use super::support::{fails, lockstep, stderr};
use std::process::{Command, Output};

/// The program with this many kilobytes of address space.
fn with_memory(kilobytes: u32, arguments: &[&str]) -> Output {
    Command::new("sh")
        .args(["-c", &format!(r#"ulimit -v {kilobytes}; exec "$@""#), "sh"])
        .arg(env!("CARGO_BIN_EXE_lockstep"))
        .args(arguments)
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .expect("sh")
}

#[test]
fn a_shape_beyond_all_memory_is_a_usage_error() {
    for (kernel, shape) in [
        ("transpose_padded", "1000000x1000000"),
        ("transpose_padded", "4294967295x4294967295"),
        ("sgemm_naive", "4294967295x4294967295x4294967295"),
        ("multi_columns_plain", "4294967295"),
    ] {
        let output = lockstep(&["profile", kernel, "--shape", shape]);
        fails(&output, 2, &[kernel, "of memory are needed", "are free"]);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn sizes_to_time_are_tried_before_the_gpu_is_looked_for() {
    let output = lockstep(&["bench", "transpose", "--sizes", "1000000x1000000"]);
    fails(&output, 2, &["of memory are needed", "--sizes"]);
}

/// Half a gigabyte is too little for 8192×8192, but enough for small shapes.
#[test]
fn a_catalogue_that_does_not_fit_is_refused() {
    let run = ["run-all", "--engine", "sim", "--filter", "transpose_padded"];
    let output = with_memory(600_000, &[&run[..], &["--full"]].concat());
    fails(
        &output,
        2,
        &["transpose_padded at 8192×8192", "ulimit", "--quick"],
    );
    assert!(output.stdout.is_empty());
    let output = with_memory(600_000, &[&run[..], &["--quick"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

#[test]
fn more_atoms_than_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("atoms.txt");
    let atoms: String = (0..3_000_000).map(|atom| format!("{atom} 0\n")).collect();
    std::fs::write(&file, atoms).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let output = with_memory(600_000, &["neighbors", file, "--engine", "sim"]);
    fails(&output, 2, &["atoms.txt has too many atoms", "are free"]);
    assert!(output.stdout.is_empty());
}

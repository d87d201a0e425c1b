//! A driver that starts but finds no GPU: the error names the call, the code and the remedy.

use cuda_driver::load_from;
use std::process::Command;

#[test]
fn says_that_there_is_no_gpu() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let library = dir.path().join("libempty.so");
    let built = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "--cfg", "no_device", "-o"])
        .arg(&library)
        .arg("tests/fixtures/fake_driver.rs")
        .status()
        .expect("rustc runs");
    assert!(built.success());

    let driver = load_from(&library).expect("loads");
    let error = driver.init().expect_err("no device").to_string();
    assert!(
        error.starts_with("cuInit returned CUDA_ERROR_NO_DEVICE (100)"),
        "{error}"
    );
    assert!(error.contains("nvidia-smi -L"), "{error}");
}

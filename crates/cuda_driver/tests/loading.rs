//! The driver loads, or says why it does not. A process loads only one driver, so everything that
//! must not load is tried before the one that does.

use cuda_driver::symbols::CUDA_ERROR_STUB_LIBRARY;
use cuda_driver::{DriverVersion, LoadError, load_from};
use std::path::{Path, PathBuf};
use std::process::Command;

fn fake_driver(dir: &Path, name: &str, cfgs: &[&str]) -> PathBuf {
    let library = dir.join(name);
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(["--edition", "2024", "-o"]).arg(&library);
    rustc.arg("tests/fixtures/fake_driver.rs");
    for cfg in cfgs {
        rustc.args(["--cfg", cfg]);
    }
    assert!(rustc.status().expect("rustc runs").success());
    library
}

fn required_symbol() -> i32 {
    unsafe extern "C" {
        fn cuCtxSynchronize() -> i32;
    }
    // SAFETY: takes nothing and returns its code, in the stub and in the fake.
    unsafe { cuCtxSynchronize() }
}

fn optional_symbol() -> i32 {
    unsafe extern "C" {
        fn cuGraphDestroy(graph: usize) -> i32;
    }
    // SAFETY: the stub ignores its arguments, and the fake driver has no such function.
    unsafe { cuGraphDestroy(0) }
}

#[test]
fn loads_a_driver_and_says_why_not() {
    let dir = tempfile::tempdir().expect("a temporary folder");

    let absent = load_from(&dir.path().join("libnothing.so")).expect_err("no such file");
    assert!(matches!(absent, LoadError::Library { .. }));
    let text = absent.to_string();
    assert!(
        text.contains("libnothing.so") && text.contains("LOCKSTEP_LIBCUDA"),
        "{text}"
    );

    let text_file = dir.path().join("libtext.so");
    std::fs::write(&text_file, "not a library").expect("a file");
    let broken = load_from(&text_file)
        .expect_err("not a library")
        .to_string();
    assert!(broken.contains("libtext.so"), "{broken}");

    let lacking = fake_driver(dir.path(), "liblacking.so", &["lacking"]);
    let error = load_from(&lacking).expect_err("a function is missing");
    assert!(
        matches!(
            error,
            LoadError::Symbol {
                symbol: "cuModuleUnload",
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("liblacking.so"));

    // Nothing has been loaded so far: every symbol is still a stub.
    assert_eq!(required_symbol(), CUDA_ERROR_STUB_LIBRARY);

    let fake = fake_driver(dir.path(), "libfake.so", &[]);
    let driver = load_from(&fake).expect("a complete driver");
    assert_eq!(required_symbol(), 801, "the call must reach the library");
    assert_eq!(
        optional_symbol(),
        CUDA_ERROR_STUB_LIBRARY,
        "the fake driver lacks it"
    );

    driver.init().expect("the fake driver starts");
    assert_eq!(
        driver.version().expect("version"),
        DriverVersion {
            major: 13,
            minor: 0
        }
    );
    let devices = driver.devices().expect("devices");
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].name, "Fake GPU");
    assert_eq!(devices[0].compute_capability, (75, 76));
    assert_eq!(devices[0].n_multiprocessors, 16);
    assert_eq!(devices[0].shared_per_block_optin_bytes, 97);
    assert_eq!(devices[0].memory_bytes, 1 << 30);

    assert!(
        load_from(&fake).is_ok(),
        "the same library again is not an error"
    );
    assert!(matches!(load_from(&lacking), Err(LoadError::Already(_))));
}

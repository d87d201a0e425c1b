//! The kernels of `tests/fail/bulk.ptx` with their seeded defect removed: nothing is found.
//!
//! In those texts a line after `//right` is missing, and a line that ends in `//wrong` is
//! superfluous.

use std::path::Path;

use common::expected::{self, Case};
use ptx_sim::{Device, LaunchOptions, Module};

/// The kernel as it should be; none if the text does not say.
fn right(text: &str) -> Option<String> {
    let is_marked = text.contains("//right ") || text.contains("//wrong");
    let lines = text.lines().filter(|line| !line.ends_with("//wrong"));
    let lines = lines.map(|line| line.strip_prefix("//right ").unwrap_or(line));
    is_marked.then(|| lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn without_its_defect_each_kernel_is_right() {
    let mut n_corrected = 0;
    for Case { name, text, .. } in expected::cases(Path::new("fail/bulk.ptx")) {
        let Some(text) = right(&text) else { continue };
        let module = Module::parse(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        for check in [false, true] {
            let device = Device::new();
            let loaded = device.load(&module).expect("a module");
            let buffer = device.zeros::<u64>(64, "buffer").expect("memory");
            let options = LaunchOptions {
                check,
                fuel: Some(100_000),
                ..LaunchOptions::default()
            };
            let call = device.call(&loaded, "k").block(64).options(options);
            let outcome = call.arg(buffer).run();
            outcome.unwrap_or_else(|error| panic!("{name}, check {check}: {error}"));
        }
        n_corrected += 1;
    }
    assert!(n_corrected >= 14, "{n_corrected} corrected kernels");
}

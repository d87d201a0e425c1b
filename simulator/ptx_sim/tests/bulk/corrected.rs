//! The kernels of `tests/fail/bulk.ptx` with their seeded defect removed: nothing is found.
//!
//! In those texts a line after `//right` is missing, and a line that ends in `//wrong` is
//! superfluous.

use std::path::Path;

use common::Bench;
use common::expected::{self, Case};
use ptx_sim::{DeviceConfig, Module};

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
            let bench = Bench::of(&module, DeviceConfig::default());
            let buffer = bench.zeros::<u64>(64, "buffer");
            let call = bench.call("k").block(64).arg(buffer);
            let outcome = call.check(check).fuel(100_000).run();
            outcome.unwrap_or_else(|error| panic!("{name}, check {check}: {error}"));
        }
        n_corrected += 1;
    }
    assert!(n_corrected >= 14, "{n_corrected} corrected kernels");
}

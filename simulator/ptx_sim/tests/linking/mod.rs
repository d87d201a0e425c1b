//! Several PTX texts linked into one module.
//!
//! Each case of `errors.ptx` has texts that cannot be linked, after lines `//// NAME`, each
//! without its header; the message is at its end. After a change of the wording, `BLESS=1 cargo
//! test -p ptx_sim-tests --test plain linking` rewrites the messages: read the diff before
//! committing it.

mod names;
mod reports;

use std::path::Path;

use common::{Bench, expected};
use ptx_sim::{DeviceConfig, LinkError, Linker, Module};

/// A text with its header, in one line, so that lines stay as they are.
pub fn ptx(text: &str) -> String {
    format!(".version 8.0 .target sm_90 .address_size 64 {text}")
}

/// Links texts, each with its name, without headers.
pub fn link(texts: &[(&str, &str)]) -> Result<Module, LinkError> {
    let mut linker = Linker::new();
    for (name, text) in texts {
        linker.add(name, &ptx(text))?;
    }
    linker.link()
}

/// What the kernel `k` writes to its first argument, a word per thread.
pub fn run(module: &Module, n_threads: u32) -> Vec<u32> {
    let bench = Bench::of(module, DeviceConfig::default());
    let out = bench.zeros::<u32>(n_threads as usize, "out");
    let call = bench.call("k").block(n_threads).arg(out);
    call.run().expect("a kernel without faults");
    bench.download(out)
}

/// The texts of a case, with their names.
fn texts(case: &str) -> Vec<(&str, &str)> {
    let parts = case.split("//// ").filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('\n').expect("a name"))
        .collect()
}

#[test]
fn every_error_is_told() {
    let file = Path::new("linking/errors.ptx");
    let mut n_cases = 0;
    let wrong = expected::differences(file, |case| {
        n_cases += 1;
        let error = link(&texts(&case.text)).err();
        format!("{}\n", error.expect(&case.name))
    });
    assert!(n_cases > 12, "only {n_cases} cases");
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn nothing_cannot_be_linked() {
    let error = Linker::new().link().err();
    assert_eq!(error, Some(LinkError::Empty));
}

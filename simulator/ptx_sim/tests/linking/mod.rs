//! Several PTX texts linked into one module.
//!
//! Each case of `errors.ptx` has texts that cannot be linked, after lines `//// NAME`, each
//! without its header; the message is at its end. After a change of the wording, `BLESS=1 cargo
//! test -p ptx_sim-tests --test plain linking` rewrites the messages: read the diff before
//! committing it.

mod names;
mod reports;

use std::path::Path;

use common::expected;
use ptx_sim::{Device, LinkError, Linker, Module};

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
    let device = Device::new();
    let loaded = device.load(module).expect("enough memory");
    let out = device
        .zeros::<u32>(n_threads as usize, "out")
        .expect("enough memory");
    let call = device.call(&loaded, "k").block(n_threads).arg(out);
    call.run().expect("a kernel without faults");
    device.download(out).expect("the buffer")
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
    let mut cases = expected::cases(file);
    assert!(cases.len() > 12, "only {} cases", cases.len());
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for case in &mut cases {
        let error = link(&texts(&case.text)).err();
        let said = error.map_or("no error\n".to_owned(), |error| format!("{error}\n"));
        if bless {
            case.expected.clone_from(&said);
        }
        let expected = &case.expected;
        if said != *expected || said == "no error\n" {
            let name = case.name.as_deref().unwrap_or_default();
            wrong += &format!("{name}\n--- expected\n{expected}--- said\n{said}");
        }
    }
    if bless {
        expected::write_cases(file, &cases);
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn nothing_cannot_be_linked() {
    let error = Linker::new().link().err();
    assert_eq!(error, Some(LinkError::Empty));
}

//! PTX that is wrong or not simulated, and its error messages.
//!
//! Each text in the files of `errors/` has one thing wrong with it; the message is at its end.
//! After a change of the wording, `BLESS=1 cargo test -p ptx_sim-tests --test checked errors`
//! rewrites the messages: read the diff before committing it.

use std::fs;
use std::path::PathBuf;

use common::expected;
use ptx_sim::{Device, Launch, LaunchOptions, Module};

/// All messages about a text.
fn messages(text: &str) -> String {
    let module = match Module::parse(text) {
        Ok(module) => module,
        Err(error) => return format!("{error}\n"),
    };
    let mut said = String::new();
    for unknown in module.unsupported() {
        said += &format!(
            "PTX line {}, column {}: not supported: {} ({})\n{}\n",
            unknown.ptx_line, unknown.ptx_column, unknown.opcode, unknown.reason, unknown.excerpt
        );
    }
    if let Err(error) = Device::new().load(&module) {
        said += &format!("{error}\n");
    }
    if said.is_empty() {
        said += "no error\n";
    }
    said
}

/// The files of `errors/`.
fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir("errors").expect("a folder");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "ptx"));
    files.sort();
    files
}

#[test]
fn every_error_is_told() {
    let mut wrong = String::new();
    let mut n_texts = 0;
    for file in files() {
        wrong += &expected::differences(&file, |case| {
            n_texts += 1;
            let said = messages(&case.text);
            // Those that PTX allows and this simulator accepts say so in their names.
            let is_accepted = case.name.starts_with("accepted_");
            assert_eq!(is_accepted, said == "no error\n", "{}: {said}", case.name);
            said
        });
    }
    assert!(n_texts > 140, "only {n_texts} texts");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Accepted text may still fail when it runs: that is reported, and nothing else happens,
/// with or without overflow checks.
#[test]
fn what_is_accepted_can_be_launched() {
    let mut n_launched = 0;
    for case in files().iter().flat_map(|file| expected::cases(file)) {
        let name = case.name;
        if !name.starts_with("accepted_") || name.ends_with("gib") {
            continue;
        }
        let module = Module::parse(&case.text).expect("it is accepted");
        let device = Device::new();
        let loaded = device.load(&module).expect("enough memory");
        let buffer = device.alloc(256, "buffer").expect("enough memory");
        for kernel in module.kernels() {
            let bytes = buffer.to_le_bytes();
            let params: Vec<&[u8]> = kernel
                .params
                .iter()
                .map(|param| &bytes[..param.size_bytes as usize])
                .collect();
            for check in [false, true] {
                let launch = Launch {
                    grid: [1, 1, 1],
                    block: [8, 1, 1],
                    dynamic_shared_bytes: 0,
                    params: &params,
                    options: LaunchOptions {
                        fuel: Some(100_000),
                        threads: Some(1),
                        check,
                        ..Default::default()
                    },
                };
                if let Err(error) = device.launch(&loaded, kernel.name, &launch) {
                    let text = error.to_string();
                    assert!(!text.contains("internal error"), "{name}: {text}");
                }
                n_launched += 1;
            }
        }
    }
    assert!(n_launched >= 16, "only {n_launched} launches");
}

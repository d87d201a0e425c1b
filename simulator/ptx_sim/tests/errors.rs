//! PTX that is wrong or not simulated, and its error messages.
//!
//! Each text in the files of `errors/` has one thing wrong with it; the message is at its end.
//! After a change of the wording, `BLESS=1 cargo test -p ptx_sim-tests --test checked errors`
//! rewrites the messages: read the diff before committing it.

use std::fs;
use std::path::{Path, PathBuf};

use common::expected::{self, Case};
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

/// Its own name, or that of the file that it has to itself.
fn name_of(case: &Case, file: &Path) -> String {
    let stem = || file.file_stem().expect("a name").to_string_lossy();
    case.name.clone().unwrap_or_else(|| stem().into_owned())
}

#[test]
fn every_error_is_told() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    let mut n_texts = 0;
    for file in files() {
        let mut cases = expected::cases(&file);
        n_texts += cases.len();
        for case in &mut cases {
            let said = messages(&case.text);
            if bless {
                case.expected.clone_from(&said);
            }
            // Those that PTX allows and this simulator accepts say so in their names.
            let name = name_of(case, &file);
            let is_accepted = name.starts_with("accepted_");
            let expected = &case.expected;
            if said != *expected || is_accepted != (said == "no error\n") {
                let file = file.display();
                wrong += &format!("{file}, {name}\n--- expected\n{expected}--- said\n{said}");
            }
        }
        if bless {
            expected::write_cases(&file, &cases);
        }
    }
    assert!(n_texts > 140, "only {n_texts} texts");
    assert!(wrong.is_empty(), "{wrong}");
}

/// Accepted text may still fail when it runs: that is reported, and nothing else happens,
/// with or without overflow checks.
#[test]
fn what_is_accepted_can_be_launched() {
    let mut n_launched = 0;
    let cases = files().into_iter().flat_map(|file| {
        let cases = expected::cases(&file).into_iter();
        cases.map(move |case| (name_of(&case, &file), case.text))
    });
    for (name, text) in cases {
        if !name.starts_with("accepted_") || name.ends_with("gib") {
            continue;
        }
        let module = Module::parse(&text).expect("it is accepted");
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

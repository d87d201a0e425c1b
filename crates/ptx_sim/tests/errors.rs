//! PTX that is wrong or not simulated, and what is said of it.
//!
//! Each file of `errors/` has one thing wrong with it; the message stands beside it.
//! After a change of the wording, `BLESS=1 cargo test -p ptx_sim --test errors` writes
//! the messages anew: read the difference before committing it.

use std::fs;
use std::path::Path;

use ptx_sim::{Device, Module};

/// Everything that is said of a text.
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

#[test]
fn every_error_is_told() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut files: Vec<_> = fs::read_dir("tests/errors")
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    files.sort();
    assert!(files.len() > 60, "only {} files", files.len());
    let mut wrong = String::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        let said = messages(&text);
        let beside = file.with_extension("txt");
        if bless {
            fs::write(&beside, &said).expect("a writable folder");
        }
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        // Those that PTX allows and this simulator accepts say so in their names.
        let is_accepted = Path::new(&file)
            .file_stem()
            .is_some_and(|name| name.to_string_lossy().starts_with("accepted_"));
        if said != expected || is_accepted != (said == "no error\n") {
            wrong += &format!(
                "{}\n--- expected\n{expected}--- said\n{said}",
                file.display()
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

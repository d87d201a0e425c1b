//! Lists the driver's functions: those that `sim_driver` has, found in its source, and those
//! that it does not simulate.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let api = root.join("../sim_driver/src/api");
    let others = root.join("functions.txt");
    println!("cargo::rerun-if-changed={}", api.display());
    println!("cargo::rerun-if-changed={}", others.display());

    let mut simulated = BTreeSet::new();
    for entry in std::fs::read_dir(&api).expect("the functions' source") {
        let path = entry.expect("a file").path();
        simulated.extend(functions_in(&path));
    }
    assert!(simulated.len() > 100, "functions are found in the source");
    let others = std::fs::read_to_string(&others).expect("the other functions' names");
    let mut text = String::from("exports! {\n    simulated:");
    for (module, name) in &simulated {
        write!(text, " {module}::{name}").expect("text");
    }
    text.push_str(";\n    others:");
    for name in others.split_whitespace() {
        if !simulated.iter().any(|(_, own)| own == name) {
            write!(text, " {name}").expect("text");
        }
    }
    text.push_str(";\n}\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says it"));
    std::fs::write(out.join("exports.rs"), text).expect("a file can be written");
}

/// Module and name of the functions that a file declares, alone or in pairs.
fn functions_in(path: &Path) -> Vec<(String, String)> {
    let module = path.file_stem().expect("a file").to_string_lossy();
    let text = std::fs::read_to_string(path).expect("the source can be read");
    let declared = text.lines().filter_map(|line| {
        let (names, _) = line.trim_start().strip_prefix("fn ")?.split_once('(')?;
        let capital = names.strip_prefix("cu")?.chars().next()?;
        capital.is_uppercase().then_some(names)
    });
    let names = declared.flat_map(|names| names.split(", "));
    names
        .map(|name| (module.to_string(), name.to_owned()))
        .collect()
}

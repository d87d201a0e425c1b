//! Lists the runtime's functions of a version: those that `sim_runtime` has, found in its
//! source, and those that it does not simulate.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let version = root.file_name().expect("the folder of a version");
    let version = version.to_str().expect("a number");
    link(version);

    let api = root.join("../../sim_runtime/src/api");
    let all = root.join("functions.txt");
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed={}", api.display());
    println!("cargo::rerun-if-changed={}", all.display());
    let all = std::fs::read_to_string(&all).expect("the functions' names");
    let all: BTreeSet<&str> = all.split_whitespace().collect();

    let mut simulated = BTreeSet::new();
    for entry in std::fs::read_dir(&api).expect("the functions' source") {
        let path = entry.expect("a file").path();
        let module = path.file_stem().expect("a file").to_string_lossy();
        // What another version has otherwise.
        let is_other = module.strip_prefix('v').is_some_and(|v| v != version);
        if !is_other {
            simulated.extend(functions_in(&path));
        }
    }
    assert!(simulated.len() > 100, "functions are found in the source");
    let mut text = String::from("exports! {\n    simulated:");
    for (module, name) in &simulated {
        assert!(all.contains(&**name), "{name} is none of version {version}");
        write!(text, " {module}::{name}").expect("text");
    }
    text.push_str(";\n    others:");
    for name in all {
        if !simulated.iter().any(|(_, own)| own == name) {
            write!(text, " {name}").expect("text");
        }
    }
    text.push_str(";\n}\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says it"));
    std::fs::write(out.join("exports.rs"), text).expect("a file can be written");
}

/// Gives the library its name, and its symbols a version of that name: programs that were
/// linked with NVIDIA's ask for it. Of the usual linkers only GNU's does so by itself.
fn link(version: &str) {
    for argument in [
        "-fuse-ld=bfd".to_owned(),
        format!("-Wl,-soname,libcudart.so.{version}"),
        "-Wl,--default-symver".to_owned(),
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

/// Module and name of the functions that a file declares, alone or in pairs.
fn functions_in(path: &Path) -> Vec<(String, String)> {
    let module = path.file_stem().expect("a file").to_string_lossy();
    let text = std::fs::read_to_string(path).expect("the source can be read");
    let declared = text.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line
            .strip_prefix("pub unsafe extern \"C\" ")
            .unwrap_or(line);
        let (names, _) = line.strip_prefix("fn ")?.split_once('(')?;
        (names.starts_with("cuda") || names.starts_with("__cuda")).then_some(names)
    });
    let names = declared.flat_map(|names| names.split(", "));
    names
        .map(|name| (module.to_string(), name.to_owned()))
        .collect()
}

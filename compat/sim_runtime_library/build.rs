//! Lists the runtime's functions of a version: those that `sim_runtime` has, and those that it
//! does not simulate.

#[path = "../sim_driver_library/list.rs"]
mod list;

use std::path::PathBuf;

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let version = root.file_name().expect("the folder of a version");
    let version = version.to_str().expect("a number");
    link(version);
    println!("cargo::rerun-if-changed=../build.rs");
    println!("cargo::rerun-if-changed=../../sim_driver_library/list.rs");
    let library = list::Library {
        krate: "sim_runtime",
        reference: "runtime",
        api: root.join("../../sim_runtime/src/api"),
        prefixes: &["cuda", "__cuda"],
        all: root.join("functions.txt"),
    };
    // What another version has otherwise.
    let is_other = |module: &str| module.strip_prefix('v').is_some_and(|v| v != version);
    let simulated = library.simulated(is_other);
    let all = library.all();
    for (_, name) in &simulated {
        assert!(all.contains(name), "{name} is none of version {version}");
    }
    library.write(&simulated);
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

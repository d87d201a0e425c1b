//! Lists the runtime's functions of one version: those that `sim_runtime` contains, and those that
//! it does not simulate.

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
    // What only another version has, or has in another form.
    let is_other = |module: &str| module.strip_prefix('v').is_some_and(|v| v != version);
    let simulated = library.simulated(is_other);
    let all = library.all();
    for (_, name) in &simulated {
        assert!(all.contains(name), "version {version} has no {name}");
    }
    library.write(&simulated);
}

/// Gives the library its name, and its symbols a version of that name, which programs linked with
/// NVIDIA's ask for. Of the usual linkers, only GNU's does so by default.
fn link(version: &str) {
    for argument in [
        "-fuse-ld=bfd".to_owned(),
        format!("-Wl,-soname,libcudart.so.{version}"),
        "-Wl,--default-symver".to_owned(),
    ] {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}

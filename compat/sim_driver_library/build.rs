//! Lists the driver's functions: those that `sim_driver` contains, and those that it does not
//! simulate.

mod list;

use std::path::PathBuf;

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    println!("cargo::rerun-if-changed=list.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let library = list::Library {
        krate: "sim_driver",
        reference: "driver",
        api: root.join("../sim_driver/src/api"),
        prefixes: &["cu", "lockstep"],
        all: root.join("functions.txt"),
    };
    library.write(&library.simulated(|_| false));
}

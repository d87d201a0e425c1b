//! Compiles the kernels of the tests' own: the broken ones, and those that try
//! out the device library.

use std::path::PathBuf;

fn main() {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for (kernels, ptx) in [
        ("broken-kernels", "broken.ptx"),
        ("library-kernels", "library.ptx"),
    ] {
        cuda_builder::CudaBuilder::new(kernels)
            .arch("sm_80")
            .copy_to(out_dir.join(ptx))
            .build_or_exit();
    }
    println!("cargo::rerun-if-changed=build.rs");
}

//! Compiles the broken kernels.

use std::path::PathBuf;

fn main() {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    cuda_builder::CudaBuilder::new("broken-kernels")
        .arch("sm_80")
        .copy_to(out_dir.join("broken.ptx"))
        .build_or_exit();
    println!("cargo::rerun-if-changed=build.rs");
}

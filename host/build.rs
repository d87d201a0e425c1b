//! Compiles the kernels to PTX, to be embedded, and notes the commit.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    cuda_builder::CudaBuilder::new("../gpu-kernels")
        .arch("sm_80")
        .extra_arch("sm_90a")
        .copy_to(out_dir.join("kernels.ptx"))
        .build_or_exit();

    println!(
        "cargo::rustc-env=LOCKSTEP_COMMIT={}",
        commit().as_deref().unwrap_or("unknown")
    );
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit that is checked out. Cargo is told to ask again when it moves;
/// the kernels are then found up to date.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
    };
    // HEAD changes when another branch is checked out, its log with every commit.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

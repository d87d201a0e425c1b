//! Compiles the kernels to PTX, to be embedded with their sources, and notes the
//! commit.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    cuda_builder::CudaBuilder::new("../gpu-kernels")
        .arch("sm_80")
        .extra_arch("sm_90a")
        .copy_to(out_dir.join("kernels.ptx"))
        .build_or_exit();

    let sources = sources(&["gpu-kernels/src", "crates/cuda_std/src"]);
    std::fs::write(out_dir.join("sources.rs"), sources).expect("OUT_DIR can be written");

    println!(
        "cargo::rustc-env=LOCKSTEP_COMMIT={}",
        commit().as_deref().unwrap_or("unknown")
    );
    println!("cargo::rerun-if-changed=build.rs");
}

/// Rust code for a table of all sources in folders of the repository: path and
/// text. The kernels' builder has told cargo to watch them.
fn sources(folders: &[&str]) -> String {
    let root = std::env::current_dir().expect("a build script has a folder");
    let root = root.parent().expect("the repository");
    let mut todo: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources can be read") {
            let path = entry.expect("the sources can be read").path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut table = String::from("const SOURCES: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(root).expect("it is below the repository");
        let name = name.to_string_lossy().replace('\\', "/");
        table += &format!("    ({name:?}, include_str!({file:?})),\n");
    }
    table + "];\n"
}

/// The commit that is checked out, with `-dirty` after it if files differ from it.
/// Cargo is told to ask again when it moves and when what the program is made of
/// changes; the kernels are then found up to date.
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
    for folder in ["src", "../crates", "../Cargo.lock"] {
        println!("cargo::rerun-if-changed={folder}");
    }
    // No tag is called "": always the whole hash.
    git(&["describe", "--always", "--abbrev=40", "--match=", "--dirty"])
}

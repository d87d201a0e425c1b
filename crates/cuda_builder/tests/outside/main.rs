//! Projects outside this repository, as a user would have them: only a manifest, three lines of
//! `build.rs`, kernels, and a program that has their PTX. No toolchain file, no feature lines, no
//! configuration of cargo.
//!
//! They are built by the same cargo as this test, offline, with the versions of this repository's
//! `Cargo.lock`, in this repository's target folder: what is already compiled there is not compiled
//! again.
#![cfg(unix)]

mod arrays;
mod copies;

use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const KERNELS: &str = r#"//! Kernels.
use cuda_std::prelude::*;

/// Doubles each of `n` numbers.
///
/// # Safety
///
/// `data` points to `n` numbers.
#[kernel]
pub unsafe fn double(data: *mut f32, n: u32) {
    let index = thread::index_1d();
    if index < n {
        unsafe { *data.add(index as usize) *= factor() };
    }
}

/// Used on both sides.
pub fn factor() -> f32 {
    2.0
}
"#;

/// What a kernel crate once had to state.
const OLD_LINES: &str = "\
#![no_std]
#![cfg_attr(target_arch = \"nvptx64\", feature(abi_ptx, asm_experimental_arch))]
#![deny(warnings)]
";

/// A program that prints the PTX below a line that only host code could write.
fn program(library: &str) -> String {
    format!(
        "use cuda_std::launch::Kernel;\n\
         const PTX: &str = include_str!(env!(\"KERNELS_PTX\"));\n\
         fn main() {{\n\
         \x20   println!(\"{{}} by {{}}\", {library}::double::NAME, {library}::factor());\n\
         \x20   println!(\"{{PTX}}\");\n\
         }}\n"
    )
}

/// A folder outside the repository.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::copy(
            repository().join("Cargo.lock"),
            project.0.path().join("Cargo.lock"),
        )
        .unwrap();
        project
    }

    /// Writes a file; `CRATES` in it is the folder of this repository's crates.
    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        let crates = repository().join("crates");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace("CRATES", crates.to_str().unwrap())).unwrap();
    }

    /// What `cargo run` prints, or its error output.
    fn run(&self) -> Result<String, String> {
        self.build_and_run().map(|(printed, _)| printed)
    }

    /// What the program prints, and what cargo says; or only that.
    fn build_and_run(&self) -> Result<(String, String), String> {
        let output = Command::new(env!("CARGO"))
            // This makes the packages of build scripts the same as this repository's.
            .args(["--config", "profile.dev.package.\"*\".debug=false"])
            .args(["run", "--offline"])
            .current_dir(self.0.path())
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("RUSTC_BOOTSTRAP")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = text(&output.stderr);
        match output.status.success() {
            true => Ok((text(&output.stdout), said)),
            false => Err(said),
        }
    }

    /// Runs the program, whose kernel must be in the PTX that it prints.
    fn assert_runs(&self) {
        let printed = self.run().unwrap_or_else(|said| panic!("{said}"));
        assert!(printed.starts_with("double by 2\n"), "{printed}");
        assert!(printed.contains(".target sm_80"), "{printed}");
        assert!(printed.contains(".visible .entry double("), "{printed}");
    }
}

/// This repository's target folder.
fn target() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap()
}

fn repository() -> &'static Path {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.parent().unwrap()
}

#[test]
fn kernels_in_a_package_of_their_own() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"kernels\", \"app\"]\n",
    );
    project.write(
        "kernels/Cargo.toml",
        "[package]\nname = \"outside-kernels\"\nedition = \"2024\"\n\
         [dependencies]\ncuda_std = { package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }\n",
    );
    project.write("kernels/src/lib.rs", KERNELS);
    project.write(
        "app/Cargo.toml",
        "[package]\nname = \"outside-app\"\nedition = \"2024\"\n\
         [dependencies]\ncuda_std = { package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }\n\
         outside-kernels = { path = \"../kernels\" }\n\
         [build-dependencies]\ncuda_builder = { package = \"lockstep-cuda-builder\", path = \"CRATES/cuda_builder\" }\n",
    );
    project.write(
        "app/build.rs",
        "fn main() {\n    cuda_builder::CudaBuilder::new(\"../kernels\").build_or_exit();\n}\n",
    );
    project.write("app/src/main.rs", &program("outside_kernels"));
    project.assert_runs();

    project.write("kernels/src/lib.rs", &format!("{OLD_LINES}{KERNELS}"));
    project.assert_runs();

    let with_mistake = KERNELS.replace("factor() }", "factor }");
    project.write("kernels/src/lib.rs", &with_mistake);
    let said = project.run().unwrap_err();
    assert!(said.contains("cannot multiply-assign `f32`"), "{said}");
}

#[test]
fn kernels_and_program_in_one_package() {
    let manifest = |tools: &str| {
        format!(
            "[package]\nname = \"outside-single\"\nedition = \"2024\"\n\
             [lib]\nname = \"single_kernels\"\npath = \"src/kernels.rs\"\n\
             [dependencies]\ncuda_std = {{ package = \"lockstep-cuda-std\", path = \"CRATES/cuda_std\" }}\n\
             {tools}\nhost-tools = {{ path = \"tools\" }}\n\
             [build-dependencies]\ncuda_builder = {{ package = \"lockstep-cuda-builder\", path = \"CRATES/cuda_builder\" }}\n"
        )
    };
    let project = Project::new();
    project.write("src/kernels.rs", KERNELS);
    project.write("src/main.rs", &program("single_kernels"));
    project.write(
        "build.rs",
        "fn main() {\n    cuda_builder::CudaBuilder::new(\".\").build_or_exit();\n}\n",
    );
    project.write(
        "tools/Cargo.toml",
        "[package]\nname = \"host-tools\"\nedition = \"2024\"\n",
    );
    project.write("tools/src/lib.rs", "pub fn tool() {\n    println!();\n}\n");

    project.write("Cargo.toml", &manifest(""));
    let said = project.run().unwrap_err();
    assert!(
        said.contains("`host-tools` is compiled for the GPU, which has no standard library"),
        "{said}"
    );
    assert!(
        said.contains("[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]"),
        "{said}"
    );

    let for_the_host = "[target.'cfg(not(target_arch = \"nvptx64\"))'.dependencies]";
    project.write("Cargo.toml", &manifest(for_the_host));
    project.assert_runs();
}

#[test]
fn a_package_without_a_library_is_told_where_kernels_go() {
    let project = Project::new();
    project.write(
        "Cargo.toml",
        "[package]\nname = \"outside-program\"\nedition = \"2024\"\n",
    );
    project.write("src/main.rs", "fn main() {}\n");
    let error = cuda_builder::CudaBuilder::new(project.0.path())
        .target_dir(project.0.path().join("target"))
        .build()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("has no library") && error.contains("[lib]"),
        "{error}"
    );
}

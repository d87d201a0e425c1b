//! Rust-CUDA's programs on our libraries: its [`examples`] and its [`compile_tests`], with other
//! dependency lines. Everything else is as in its repository.
//!
//! Left out: its library `cust` from the same commit, whose bindings are made from the headers of
//! a CUDA toolkit; programs get the published one.

pub mod compile_tests;
pub mod examples;

use crate::fetch::Home;
use crate::run::repository;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::{Table, Value};

/// The time limit of building something.
const PATIENCE: Duration = Duration::from_secs(1800);

/// The folder with Rust-CUDA's sources, or why there is none.
fn sources(home: &Home) -> anyhow::Result<PathBuf> {
    if let Some(why) = &home.lacking {
        bail!("{why}");
    }
    Ok(home.source())
}

/// A folder next to the sources, for what is made of them.
fn work(home: &Home, name: &str) -> PathBuf {
    home.dir.join("work").join(name)
}

/// A dependency on a package by its folder.
fn by_path(package: &str, folder: &Path) -> Value {
    let folder = folder.to_string_lossy().into_owned();
    Value::Table(Table::from_iter([
        ("package".to_owned(), package.into()),
        ("path".to_owned(), folder.into()),
    ]))
}

/// A dependency on one of our packages.
fn own(package: &str, folder: &str) -> Value {
    by_path(package, &repository().join("crates").join(folder))
}

fn our_cuda_std() -> Value {
    own("lockstep-rust-cuda-std", "rust_cuda_std")
}

fn our_cuda_builder() -> Value {
    own("lockstep-cuda-builder", "cuda_builder")
}

/// Writes a small package of our own with one dependency: a library, or a program if the file is
/// `main.rs`.
fn write_package(
    folder: &Path,
    file: &str,
    source: &str,
    name: &str,
    (dependency, needed): (&str, Value),
) -> anyhow::Result<()> {
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependency} = {needed}\n"
    );
    write(&folder.join("src").join(file), source)?;
    write(&folder.join("Cargo.toml"), &manifest)
}

/// Writes a file, and the folders for it.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("{} cannot be written", path.display()))
}

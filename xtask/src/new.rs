//! `cargo xtask new NAME`: a user's own project, outside the repository.
//!
//! It is copied from the folder `template`, which is such a project itself. The name and the path
//! to this repository's crates are filled in.

use crate::ending::{print, usage};
use crate::{folder, workspace};
use anyhow::{Context, ensure};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// Make a project with a kernel, a program and a test, outside this repository.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Its name, for a folder next to this repository, or the path of its folder
    #[arg(value_name = "NAME|PATH")]
    path: PathBuf,
}

/// The template's own name, as a package and as a crate.
const PACKAGE: &str = "my-kernels";
const CRATE: &str = "my_kernels";
/// The path from the template to the repository's crates.
const CRATES: &str = "../crates/";

/// Makes it, and says what to do next.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let root = &workspace::root();
    let dir = place(&options.path, root)?;
    let name = dir
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| usage("the folder's name is not valid Unicode"))?
        .to_owned();
    check_name(&name)?;
    let is_empty = |dir: &Path| dir.read_dir().is_ok_and(|mut files| files.next().is_none());
    if dir.exists() && !is_empty(&dir) {
        return Err(usage(format!(
            "{} already exists; name another folder",
            dir.display()
        )));
    }
    folder::check(&dir)?;
    let template = root.join("template");
    for file in files(&template)? {
        fill_in(&template.join(&file), &dir.join(&file), &name, root)?;
    }
    // The versions that are tested here, and downloaded already; cargo removes what is not needed.
    let (from, to) = (root.join("Cargo.lock"), dir.join("Cargo.lock"));
    std::fs::copy(from, &to).with_context(|| format!("{} cannot be written", to.display()))?;
    print(|out| {
        writeln!(
            out,
            "{0} is a project with a kernel, a program and a test:

    cd {0}
    cargo run     on the GPU, or on the simulator if there is none
    cargo test    without a GPU

Its Cargo.toml names this repository by its path: {1}.",
            dir.display(),
            root.display()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The folder to make: a bare name goes next to the repository.
fn place(path: &Path, root: &Path) -> anyhow::Result<PathBuf> {
    let is_name = path.components().count() == 1
        && matches!(path.components().next(), Some(Component::Normal(_)));
    let dir = match (is_name, root.parent()) {
        (true, Some(parent)) => parent.join(path),
        _ => std::path::absolute(path).context("the folder has no path")?,
    };
    let mut clean = PathBuf::new();
    for part in dir.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    if clean.starts_with(root) {
        return Err(usage(format!(
            "{} is inside this repository; your own project belongs outside, such as in {}",
            clean.display(),
            root.with_file_name("my-kernels").display()
        )));
    }
    Ok(clean)
}

/// Checks that cargo accepts it as a package's name.
fn check_name(name: &str) -> anyhow::Result<()> {
    let is_known = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.chars().all(is_known) || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(usage(format!(
            "`{name}` is not a package name: use letters, digits, `-` and `_`, with a letter first"
        )));
    }
    if KEYWORDS.contains(&name) {
        return Err(usage(format!(
            "`{name}` is a keyword of Rust; choose another name"
        )));
    }
    // Names that the standard library, cargo or the project's own dependencies use.
    const TAKEN: [&str; 14] = [
        "core",
        "std",
        "alloc",
        "test",
        "build",
        "deps",
        "examples",
        "incremental",
        "lockstep",
        "cuda_std",
        "cuda_builder",
        "lockstep_cuda",
        "lockstep_cuda_std",
        "lockstep_cuda_builder",
    ];
    if TAKEN.contains(&name.replace('-', "_").as_str()) {
        return Err(usage(format!("`{name}` is taken; choose another name")));
    }
    Ok(())
}

/// Keywords, which cannot name a crate, including reserved ones.
#[rustfmt::skip]
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The template's files, by their paths in it; build outputs are left out.
fn files(template: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let dir = template.join(&folder);
        let unreadable = || format!("{} cannot be read", dir.display());
        for entry in dir.read_dir().with_context(unreadable)? {
            let entry = entry.with_context(unreadable)?;
            let path = folder.join(entry.file_name());
            match entry.file_type().with_context(unreadable)?.is_dir() {
                true if path == Path::new("target") => {}
                true => folders.push(path),
                false if path == Path::new("Cargo.lock") => {}
                false => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Writes a file of the template with the project's name and the repository's path.
fn fill_in(from: &Path, to: &Path, name: &str, root: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(from)
        .with_context(|| format!("{} cannot be read", from.display()))?;
    // A path in TOML, where backslashes and quotes are special.
    let crates = format!("{}/crates/", root.display()).replace('\\', "/");
    ensure!(
        !crates.contains('"'),
        "this repository's path has a quotation mark in it, which Cargo.toml cannot express"
    );
    let text = text
        .replace(PACKAGE, name)
        .replace(CRATE, &name.replace('-', "_"))
        .replace(CRATES, &crates);
    let unwritable = || format!("{} cannot be written", to.display());
    if let Some(folder) = to.parent() {
        std::fs::create_dir_all(folder).with_context(unwritable)?;
    }
    std::fs::write(to, text).with_context(unwritable)
}

#[cfg(test)]
mod tests {
    use super::{KEYWORDS, check_name, place};
    use std::path::Path;

    #[test]
    fn a_name_is_beside_the_repository_and_a_path_is_a_path() {
        let root = Path::new("/home/me/lockstep");
        let of = |path: &str| place(Path::new(path), root);
        assert_eq!(
            of("fast").expect("it is outside"),
            Path::new("/home/me/fast")
        );
        assert_eq!(
            of("/tmp/fast").expect("it is outside"),
            Path::new("/tmp/fast")
        );
        assert_eq!(
            of("/home/me/lockstep/../fast").expect("it is outside"),
            Path::new("/home/me/fast")
        );
        let error = of("/home/me/lockstep/fast")
            .expect_err("it is inside")
            .to_string();
        assert!(error.contains("inside this repository"), "{error}");
    }

    #[test]
    fn names_are_those_of_packages() {
        for name in ["fast", "my-kernels", "a_1"] {
            check_name(name).expect("cargo takes it");
        }
        for name in [
            "1st",
            "größer",
            "a b",
            "",
            "test",
            "cuda-std",
            "lockstep-cuda",
        ] {
            check_name(name).expect_err("cargo does not");
        }
        for name in KEYWORDS {
            check_name(name).expect_err("the language does not");
        }
    }
}

//! The crates that exercises are compiled as.

use crate::error::{Error, write, write_if_different};
use std::fmt::Write;
use std::path::Path;

/// A crate's manifest and library.
pub(super) struct Package {
    manifest: String,
    library: String,
}

/// Lints of both kinds of crate. Of a gap in the code, rustc would say much that does not help.
const LINTS: &str = "\
[lints.rust]
unsafe_op_in_unsafe_fn = \"allow\"
unused = \"allow\"
unreachable_pub = \"allow\"
";

impl Package {
    /// A workplace. Each of its features has the name of a file; the device compiler enables one,
    /// an editor all of them.
    pub fn of_workplace(root: &Path, dir: &Path, names: &[&str]) -> Self {
        let mut manifest = head(root, &of_workplace(dir));
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let _ = writeln!(manifest, "[features]\ndefault = [{}]", quoted.join(", "));
        let mut library = String::from(
            "//! Open this folder in an editor with rust-analyzer: it finds all exercises through this file.\n\
             //! Made by `cargo xtask learn`; the exercises are the files next to it.\n",
        );
        for name in names {
            let _ = writeln!(manifest, "\"{name}\" = []");
            let _ = write!(
                library,
                "\n#[cfg(feature = \"{name}\")]\n#[path = \"{name}.rs\"]\npub mod _{name};\n"
            );
        }
        Self { manifest, library }
    }

    /// A batch: all files, whatever their exercise.
    pub fn of_batch<'a>(root: &Path, name: &str, files: impl Iterator<Item = &'a str>) -> Self {
        let module = |(n, file)| format!("#[path = \"{file}\"]\npub mod v{n};\n");
        Self {
            manifest: head(root, &of_batch(name)),
            library: files.enumerate().map(module).collect(),
        }
    }

    /// Writes both into a folder, unless they are there; with the repository's versions of
    /// packages, so that no registry is consulted.
    pub fn write(&self, dir: &Path, root: &Path) -> Result<(), Error> {
        let lock = root.join("Cargo.lock");
        let lock = std::fs::read_to_string(&lock).map_err(|e| Error::io("read", &lock, e))?;
        // cargo removes unneeded packages from the copy, so the copy itself cannot be compared.
        let manifest = format!(
            "# Made with versions {:08x}.\n{}",
            hash(&lock),
            self.manifest
        );
        let path = dir.join("Cargo.toml");
        let is_same = std::fs::read(&path).is_ok_and(|old| old == manifest.as_bytes());
        if !is_same || !dir.join("Cargo.lock").exists() {
            write(&dir.join("Cargo.lock"), &lock)?;
            write(&path, &manifest)?;
        }
        write_if_different(&dir.join("lib.rs"), &self.library)
    }
}

/// The name of a workplace's package: PTX of several has one folder.
pub(super) fn of_workplace(dir: &Path) -> String {
    format!("exercises_{:08x}", hash(dir))
}

/// The name of a batch's package.
pub(super) fn of_batch(name: &str) -> String {
    format!("learn_{name}")
}

fn head(root: &Path, name: &str) -> String {
    // A path in TOML, where backslashes are escapes.
    let root = root.display().to_string().replace('\\', "/");
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [workspace]\n\n[lib]\npath = \"lib.rs\"\n\n{LINTS}\n\
         [dependencies]\ncuda_std = {{ package = \"lockstep-cuda-std\", path = \"{root}/crates/cuda_std\" }}\n\n"
    )
}

/// FNV-1a: the same in every build.
fn hash(value: impl AsRef<std::ffi::OsStr>) -> u32 {
    let bytes = value.as_ref().as_encoded_bytes();
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    (hash >> 32 ^ hash) as u32
}

//! The home of this program, where it finds the kernels that it runs: a bundle's folder, or a
//! checkout of the repository.
//!
//! The place is not fixed when the program is built, so either can be moved or copied.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The file that marks a folder as a bundle.
pub const BUNDLE_MARK: &str = "lockstep-bundle.json";

/// Names the checkout, in preference to any other.
pub const ROOT_VARIABLE: &str = "LOCKSTEP_ROOT";

/// A folder with kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Home {
    /// The repository: kernels are compiled on demand.
    Checkout {
        /// Its root.
        root: PathBuf,
    },
    /// The output of `cargo xtask bundle`: kernels exist as PTX.
    Bundle {
        /// The folder.
        dir: PathBuf,
        /// The contents of its mark.
        mark: BundleMark,
    },
}

/// A bundle's description of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleMark {
    /// Version of the mark's format.
    pub schema: u32,
    /// Version of the program.
    pub lockstep: String,
    /// The commit it was made from.
    pub commit: String,
    /// Its kernels' topics, in reading order.
    pub topics: Vec<String>,
}

impl BundleMark {
    /// The format that this program reads and writes.
    pub const SCHEMA: u32 = 2;
}

/// There is no folder with kernels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHome {
    /// No folder was found.
    #[error(
        "no kernels are here: {} is neither in a bundle's folder nor in a checkout of the repository; \
         LOCKSTEP_ROOT can name a checkout",
        .program.display()
    )]
    Nowhere {
        /// This program.
        program: PathBuf,
    },
    /// The variable names something else.
    #[error("LOCKSTEP_ROOT names {}, which is not a checkout of the repository: it has no gpu-kernels/Cargo.toml", .root.display())]
    NoCheckout {
        /// The folder that it names.
        root: PathBuf,
    },
    /// The bundle was made by another version.
    #[error("{} was not made by this version of the program: make the bundle again", .mark.display())]
    OtherBundle {
        /// The bundle's mark.
        mark: PathBuf,
    },
}

/// The folder of this process; searched for once.
///
/// # Errors
///
/// There is none.
pub fn home() -> Result<&'static Home, NoHome> {
    static HOME: OnceLock<Result<Home, NoHome>> = OnceLock::new();
    let found = HOME.get_or_init(|| {
        let program = std::env::current_exe().unwrap_or_else(|_| "lockstep".into());
        let variable = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        find(
            &program,
            variable(ROOT_VARIABLE),
            variable("CARGO_MANIFEST_DIR"),
        )
    });
    found.as_ref().map_err(Clone::clone)
}

/// The search, from the program's path, the root that is named, and the package that cargo runs.
fn find(program: &Path, named: Option<PathBuf>, package: Option<PathBuf>) -> Result<Home, NoHome> {
    let dir = program.parent().unwrap_or(program);
    let mark = dir.join(BUNDLE_MARK);
    if mark.exists() {
        return read_bundle(dir, mark);
    }
    if let Some(root) = named {
        return match checkout_above(&root) {
            Some(home) => Ok(home),
            None => Err(NoHome::NoCheckout { root }),
        };
    }
    package
        .as_deref()
        .and_then(checkout_above)
        .or_else(|| checkout_above(program))
        .ok_or_else(|| NoHome::Nowhere {
            program: program.into(),
        })
}

fn read_bundle(dir: &Path, mark: PathBuf) -> Result<Home, NoHome> {
    let read = std::fs::read(&mark).ok();
    let read = read.and_then(|text| serde_json::from_slice::<BundleMark>(&text).ok());
    match read.filter(|mark| mark.schema == BundleMark::SCHEMA) {
        Some(mark) => Ok(Home::Bundle {
            dir: dir.into(),
            mark,
        }),
        None => Err(NoHome::OtherBundle { mark }),
    }
}

fn checkout_above(path: &Path) -> Option<Home> {
    let root = path
        .ancestors()
        .find(|dir| dir.join("gpu-kernels/Cargo.toml").is_file())?;
    Some(Home::Checkout { root: root.into() })
}

impl Home {
    /// The path of a file of the repository, by its path from the root; a bundle has only
    /// the kernels' sources.
    pub fn source(&self, path: &str) -> PathBuf {
        match self {
            Self::Checkout { root } => root.join(path),
            Self::Bundle { dir, .. } => dir.join("sources").join(path),
        }
    }

    /// The commit of the sources, with `-dirty` after it if files differ from it, or
    /// `unknown`.
    pub fn commit(&self) -> String {
        match self {
            Self::Bundle { mark, .. } => mark.commit.clone(),
            Self::Checkout { root } => commit_of(root).unwrap_or_else(|| "unknown".to_owned()),
        }
    }
}

/// The commit of the home's sources, or `unknown`.
pub fn commit() -> String {
    home().map_or_else(|_| "unknown".to_owned(), Home::commit)
}

fn commit_of(root: &Path) -> Option<String> {
    let output = Command::new("git")
        // No tag is called "", so this is always the whole hash.
        .args(["describe", "--always", "--abbrev=40", "--match=", "--dirty"])
        .current_dir(root)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{BUNDLE_MARK, BundleMark, Home, NoHome, find};
    use std::fs;
    use std::path::{Path, PathBuf};

    fn checkout(root: &Path) -> Home {
        fs::create_dir_all(root.join("gpu-kernels")).expect("a folder");
        fs::write(root.join("gpu-kernels/Cargo.toml"), "").expect("a file");
        Home::Checkout { root: root.into() }
    }

    #[test]
    fn a_checkout_is_found_by_name_by_package_and_by_program() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        let (named, package, own) = (
            checkout(&at("named")),
            checkout(&at("package")),
            checkout(&at("own")),
        );
        let program = at("own/target/debug/lockstep");
        let found = |name: Option<PathBuf>, package| find(&program, name, package);
        assert_eq!(
            found(Some(at("named")), Some(at("package/host"))),
            Ok(named)
        );
        assert_eq!(found(None, Some(at("package/host"))), Ok(package));
        assert_eq!(found(None, Some(at("elsewhere"))), Ok(own));
        let wrong = found(Some(at("wrong")), None).expect_err("it is none");
        assert!(wrong.to_string().contains("wrong"), "{wrong}");
        assert!(matches!(
            find(&at("lockstep"), None, None),
            Err(NoHome::Nowhere { .. })
        ));
    }

    #[test]
    fn a_bundle_is_found_beside_the_program_and_nowhere_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let program = dir.path().join("lockstep");
        let mark = BundleMark {
            schema: BundleMark::SCHEMA,
            lockstep: "0.1.0".to_owned(),
            commit: "c0ffee".to_owned(),
            topics: vec!["copy".to_owned()],
        };
        let write = |mark: &BundleMark| {
            let text = serde_json::to_string(mark).expect("JSON");
            fs::write(dir.path().join(BUNDLE_MARK), text).expect("a file");
        };
        write(&mark);
        let home = find(&program, Some("/nowhere".into()), None).expect("the bundle");
        assert_eq!(home.commit(), "c0ffee");
        assert_eq!(
            home.source("gpu-kernels/src/01_copy.rs"),
            dir.path().join("sources/gpu-kernels/src/01_copy.rs")
        );
        write(&BundleMark { schema: 1, ..mark });
        let error = find(&program, None, None).expect_err("another version's");
        assert!(
            error.to_string().contains("make the bundle again"),
            "{error}"
        );
    }
}

//! A machine to set up: a search path with stand-ins, an archive, an apt
//! configuration, an empty cache.

use crate::standins::{APT_GET, COMPILER, DPKG, DPKG_DEB, PROLOGUE};
use device_toolchain::{Locator, Progress, Toolchain, ToolchainError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// The packages of the archive, and the file in each.
const PACKAGES: [(&str, &str); 3] = [
    ("rustc", "usr/bin/rustc"),
    ("rust-src", "usr/src/rustc-1.97.1/library/core/src/lib.rs"),
    ("libc6", "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"),
];

/// The machine; nothing of it remains.
pub struct Machine {
    dir: tempfile::TempDir,
    pub locator: Locator,
}

impl Machine {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in ["bin", "archive"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let machine = Self {
            locator: locator(root, &root.join("cache")),
            dir,
        };
        for (package, file) in PACKAGES {
            machine.package(package, file);
        }
        machine.archives(&["http://archive.invalid/debian/dists/bookworm"]);
        machine.hooks("");
        machine.standins();
        machine
    }

    /// Working stand-ins for apt and dpkg.
    pub fn standins(&self) {
        self.program("apt-get", APT_GET);
        self.program("dpkg", DPKG);
        self.program("dpkg-deb", DPKG_DEB);
    }

    /// Puts a package into the archive.
    fn package(&self, name: &str, file: &str) {
        let archive = self.root().join("archive");
        let tree = archive.join(name);
        let path = tree.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, COMPILER).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let mut tar = Command::new("tar");
        tar.args(["--owner=0", "--group=0", "-cf"])
            .arg(archive.join(format!("{name}.deb")))
            .arg("-C")
            .arg(&tree)
            .arg(".");
        assert!(tar.status().unwrap().success());
    }

    /// Makes the system's settings name these suites of archives.
    pub fn archives(&self, suites: &[&str]) {
        let line = |suite: &&str| format!("'{suite}/InRelease' a_file 0\n");
        let lines: String = suites.iter().map(line).collect();
        fs::write(self.root().join("uris"), lines).unwrap();
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn cache(&self) -> &Path {
        &self.locator.cache_dir
    }

    /// The compiler's future path.
    pub fn entry(&self) -> PathBuf {
        self.cache().join("rustc-1.97.1-amd64")
    }

    /// Puts a program on the search path.
    pub fn program(&self, name: &str, script: &str) {
        let prologue = PROLOGUE
            .replace("ROOT", &self.root().display().to_string())
            .replace("PROGRAM", name);
        let text = self.root().join("program.sh");
        fs::write(&text, prologue + script).unwrap();
        self.install(&text, &format!("bin/{name}"));
    }

    /// Makes a program from a file. Another process writes it: a program that this
    /// process writes cannot be run while one of its threads is starting another.
    pub fn install(&self, from: &Path, to: &str) -> PathBuf {
        let to = self.root().join(to);
        let mut install = Command::new("install");
        install.args(["-m", "755"]).arg(from).arg(&to);
        assert!(install.status().unwrap().success());
        to
    }

    /// Changes the behaviour of the stand-ins; see [`PROLOGUE`].
    pub fn hooks(&self, functions: &str) {
        let new = self.root().join("hooks.new");
        fs::write(&new, functions).unwrap();
        fs::rename(new, self.root().join("hooks")).unwrap();
    }

    /// The calls so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.root().join("log")).unwrap_or_default()
    }

    pub fn forget_log(&self) {
        let _ = fs::remove_file(self.root().join("log"));
    }

    /// The contents of the cache folder.
    pub fn listing(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Fails unless there is a compiler that works and nothing else.
    pub fn assert_ready(&self, when: &str) {
        assert!(self.locator.locate().unwrap().is_some(), "{when}");
        assert_eq!(self.listing(), ["lock", "rustc-1.97.1-amd64"], "{when}");
    }

    pub fn ensure(&self) -> Result<Toolchain, ToolchainError> {
        self.locator.ensure(&Told::default())
    }

    /// The messages meanwhile, and the result.
    pub fn ensure_aloud(&self) -> (Vec<String>, Result<Toolchain, ToolchainError>) {
        let told = Told::default();
        let made = self.locator.ensure(&told);
        (told.0.into_inner().unwrap(), made)
    }
}

/// The search on the machine in `root`, with a cache in `cache`.
pub fn locator(root: &Path, cache: &Path) -> Locator {
    Locator {
        channel: "1.97.1".into(),
        rustc_override: None,
        cache_dir: cache.into(),
        rustup_home: Some(root.join("rustup")),
        may_install: true,
        path: format!("{}:/usr/bin:/bin", root.join("bin").display()).into(),
    }
}

/// Records the messages.
#[derive(Default)]
pub struct Told(pub Mutex<Vec<String>>);

impl Progress for Told {
    fn step(&self, text: &str) {
        self.0.lock().unwrap().push(text.into());
    }

    fn bytes(&self, _: u64, _: u64) {}
}

//! The list of a library's exports: shared by the build scripts of the driver's library and the
//! runtime's.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A library.
pub struct Library<'a> {
    /// The crate that contains its functions, in modules of `api`.
    pub krate: &'a str,
    /// The CUDA reference that documents them.
    pub reference: &'a str,
    /// The folder of their source.
    pub api: PathBuf,
    /// The prefixes of their names, before a capital letter.
    pub prefixes: &'a [&'a str],
    /// A file with the names of all existing functions.
    pub all: PathBuf,
}

impl Library<'_> {
    /// Module and name of the functions that it contains, found in their source, except those of
    /// some modules.
    pub fn simulated(&self, is_left_out: impl Fn(&str) -> bool) -> BTreeSet<(String, String)> {
        println!("cargo::rerun-if-changed={}", self.api.display());
        let files = std::fs::read_dir(&self.api).expect("the functions' source");
        let mut simulated = BTreeSet::new();
        for file in files {
            let path = file.expect("a file").path();
            let module = path.file_stem().expect("a file").to_string_lossy();
            if !is_left_out(&module) {
                simulated.extend(self.functions_in(&path, &module));
            }
        }
        assert!(simulated.len() > 100, "functions are found in the source");
        simulated
    }

    /// Module and name of the functions that a file declares, alone or in pairs.
    fn functions_in(&self, path: &Path, module: &str) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(path).expect("the source can be read");
        let is_one = |name: &str| {
            let rests = self.prefixes.iter().filter_map(|p| name.strip_prefix(p));
            rests
                .into_iter()
                .any(|rest| rest.starts_with(char::is_uppercase))
        };
        let declared = text.lines().filter_map(|line| {
            let line = line.trim_start();
            let line = line
                .strip_prefix("pub unsafe extern \"C\" ")
                .unwrap_or(line);
            let (names, _) = line.strip_prefix("fn ")?.split_once('(')?;
            is_one(names).then_some(names)
        });
        let names = declared.flat_map(|names| names.split(", "));
        names
            .map(|name| (module.to_owned(), name.to_owned()))
            .collect()
    }

    /// The names of all existing functions.
    pub fn all(&self) -> BTreeSet<String> {
        println!("cargo::rerun-if-changed={}", self.all.display());
        let all = std::fs::read_to_string(&self.all).expect("the functions' names");
        all.split_whitespace().map(str::to_owned).collect()
    }

    /// Writes the list for the library's code to include.
    pub fn write(&self, simulated: &BTreeSet<(String, String)>) {
        let mut text = format!("exports! {{\n    {}, {:?};", self.krate, self.reference);
        text.push_str("\n    simulated:");
        for (module, name) in simulated {
            write!(text, " {module}::{name}").expect("text");
        }
        text.push_str(";\n    others:");
        for name in self.all() {
            if !simulated.iter().any(|(_, own)| *own == name) {
                write!(text, " {name}").expect("text");
            }
        }
        text.push_str(";\n}\n");
        let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says it"));
        std::fs::write(out.join("exports.rs"), text).expect("a file can be written");
    }
}

//! The catalogue of clients, and how each is fetched and run: `catalogue.toml`.

use anyhow::Context;
use serde::Deserialize;
use std::collections::BTreeMap;

/// All clients.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    home: BTreeMap<String, Packages>,
    client: Vec<Entry>,
}

/// A client: what is run of it, and what is fetched for it.
#[derive(Clone, Copy)]
pub struct Client<'c> {
    /// What is run.
    pub entry: &'c Entry,
    /// What is fetched.
    pub packages: &'c Packages,
}

/// What is fetched into one folder of the cache; several clients may use it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Packages {
    /// The crate whose source is fetched.
    pub cargo: Option<String>,
    /// The Python package whose source distribution is fetched.
    pub sdist: Option<String>,
    /// The version of that crate or distribution, or of the client's own Python package.
    pub version: String,
    /// The repository that has tests, or those that the source distribution lacks.
    pub repository: Option<Repository>,
    /// Python packages, with versions, as pip takes them.
    #[serde(default)]
    pub packages: Vec<String>,
    /// Python packages that are removed again: others depend on them, but must not find them.
    #[serde(default)]
    pub without: Vec<String>,
    /// Folders with shared libraries; `{packages}` is the folder of the Python packages.
    #[serde(default)]
    pub libraries: Vec<String>,
}

/// How a client's tests are run.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// Those of a crate by cargo, others by pytest.
    #[default]
    Usual,
    /// Rust-CUDA's example programs.
    RustCudaExamples,
    /// Rust-CUDA's compile tests.
    RustCudaCompileTests,
}

/// What is run. In folders and variables `{packages}` is the folder of the client's Python
/// packages, and `{home}` its folder in the cache.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The client's name here.
    pub name: String,
    /// What it is, and which of its tests are run.
    pub about: String,
    /// Its folder in the cache.
    pub home: String,
    /// How its tests are run.
    #[serde(default)]
    pub runner: Runner,
    /// Features of a crate, without default ones.
    #[serde(default)]
    pub features: String,
    /// The folder of Python tests.
    #[serde(default)]
    pub folder: String,
    /// Files with tests, as patterns; each file runs in its own process. For a crate, parts of
    /// the tests' names; for programs, their folders.
    pub tests: Vec<String>,
    /// As `tests`, for the small part that runs with every commit; none if it is empty.
    #[serde(default)]
    pub quick: Vec<String>,
    /// Fixtures that Python tests expect from their repository: a module that is loaded first.
    #[serde(default)]
    pub plugin: String,
    /// Variables of the environment; in them `{driver}` is the folder with the simulator's driver.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Seconds that a process may take.
    pub limit: u64,
}

/// A repository that has tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repository {
    /// Its address for git.
    pub url: String,
    /// The tag or the commit of the version.
    pub tag: String,
    /// The folder that is taken from it.
    pub folder: String,
}

impl Packages {
    /// Whether nothing of Python is needed.
    pub fn is_without_python(&self) -> bool {
        self.packages.is_empty() && self.sdist.is_none() && self.cargo.is_none()
    }
}

impl Client<'_> {
    /// The tests that are run.
    pub fn tests(&self, is_quick: bool) -> &[String] {
        if is_quick {
            &self.entry.quick
        } else {
            &self.entry.tests
        }
    }
}

impl Catalogue {
    /// The one in this repository.
    ///
    /// # Errors
    /// It has an invalid entry, or lacks one.
    pub fn read() -> anyhow::Result<Self> {
        let read: Self =
            toml::from_str(include_str!("catalogue.toml")).context("catalogue.toml")?;
        for entry in &read.client {
            let has_home = read.home.contains_key(&entry.home);
            anyhow::ensure!(has_home, "catalogue.toml has no home `{}`", entry.home);
        }
        Ok(read)
    }

    /// All clients, in the order in which they are run and shown.
    pub fn clients(&self) -> impl Iterator<Item = Client<'_>> {
        self.client.iter().map(|entry| Client {
            entry,
            packages: &self.home[&entry.home],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_pinned_and_folders_named_after_them() {
        let catalogue = Catalogue::read().unwrap();
        for client in catalogue.clients() {
            let Client { entry, packages } = client;
            for package in &packages.packages {
                assert!(package.contains("=="), "{}: {package}", entry.name);
            }
            assert!(entry.home.ends_with(&packages.version), "{}", entry.name);
        }
    }

    #[test]
    fn a_name_is_one_clients() {
        let catalogue = Catalogue::read().unwrap();
        let names: Vec<_> = catalogue.clients().map(|c| &c.entry.name).collect();
        let mut different = names.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), names.len());
    }
}

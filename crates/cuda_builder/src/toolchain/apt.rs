//! Asking apt, without root and without touching the system's own lists.
//!
//! apt is given a state folder of its own and one source: the system's archive
//! with another suite. It checks the archive's signature as always; proxies and
//! credentials in the system's settings hold too.

use super::control::{Paragraph, paragraphs};
use super::process::{Patience, run_well};
use super::progress::Progress;
use super::sources::Archive;
use super::stamp::sha256;
use super::{Locator, MINIMUM, Release};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Patience = Patience {
    total: Duration::from_secs(1200),
    silence: None,
};

/// apt with its own state in a folder, for one suite.
pub(super) struct Apt<'a> {
    locator: &'a Locator,
    dir: PathBuf,
    config: PathBuf,
}

/// A package to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub name: String,
    pub version: String,
}

/// A set of packages that make a compiler.
#[derive(Debug)]
pub(super) struct Selection {
    pub release: Release,
    pub packages: Vec<Package>,
}

impl<'a> Apt<'a> {
    /// Prepares a state folder in `dir` for `suite` of `archive`.
    pub fn new(
        locator: &'a Locator,
        dir: &Path,
        archive: &Archive,
        suite: &str,
        architecture: &str,
    ) -> Result<Self, String> {
        let apt = Self {
            locator,
            dir: dir.join(suite),
            config: dir.join(suite).join("apt.conf"),
        };
        apt.prepare(archive, suite, architecture)
            .map_err(|e| format!("{} cannot be written: {e}", apt.dir.display()))?;
        Ok(apt)
    }

    fn prepare(&self, archive: &Archive, suite: &str, architecture: &str) -> std::io::Result<()> {
        for folder in ["state", "lists/partial", "cache/archives/partial", "debs"] {
            fs::create_dir_all(self.dir.join(folder))?;
        }
        fs::write(self.dir.join("status"), "")?;
        fs::write(self.dir.join("archive.sources"), archive.paragraph(suite))?;
        let dir = self.dir.display();
        fs::write(
            &self.config,
            format!(
                r##"#clear APT::Architectures;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Default-Release "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Dir::State "{dir}/state";
Dir::State::Lists "{dir}/lists";
Dir::State::status "{dir}/status";
Dir::Cache "{dir}/cache";
Dir::Etc::SourceList "{dir}/archive.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
"##
            ),
        )
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .arg("-c")
            .arg(&self.config)
            .env("PATH", &self.locator.path)
            .env("LC_ALL", "C")
            .current_dir(self.dir.join("debs"));
        command
    }

    /// Fetches the suite's list of packages.
    pub fn update(&self) -> Result<(), String> {
        run_well(self.command("apt-get").arg("update"), &PATIENCE, || {}).map(drop)
    }

    /// The packages that make a compiler in this suite.
    pub fn select(&self) -> Result<Selection, String> {
        select(|names| {
            let mut show = self.command("apt-cache");
            show.args(["show", "--no-all-versions"]).args(names);
            // Fails if any of the names is unknown; what it printed counts.
            let shown = super::process::run(&mut show, &PATIENCE, || {})?;
            Ok(paragraphs(&shown.stdout))
        })
    }

    /// Downloads `packages` and returns the files, each with the hash that the
    /// archive's signed list has for it. What is there already is not fetched again.
    pub fn download(
        &self,
        packages: &[Package],
        progress: &dyn Progress,
    ) -> Result<Vec<PathBuf>, String> {
        let names: Vec<String> = packages
            .iter()
            .map(|package| format!("{}={}", package.name, package.version))
            .collect();
        let listed = run_well(
            self.command("apt-get")
                .args(["download", "--print-uris"])
                .args(&names),
            &PATIENCE,
            || {},
        )?;
        let files: Vec<Listed> = listed
            .lines()
            .filter_map(|line| self.listed(line))
            .collect();
        if files.len() != packages.len() {
            return Err(format!(
                "apt-get knows {} of {} packages",
                files.len(),
                packages.len()
            ));
        }
        // apt takes a file of the right size for the right file.
        for file in &files {
            if file.path.exists() && !file.is_whole() {
                fs::remove_file(&file.path)
                    .map_err(|e| format!("{} cannot be removed: {e}", file.path.display()))?;
            }
        }
        let total = files.iter().map(|file| file.size).sum();
        let partial = self.dir.join("cache/archives/partial");
        run_well(
            self.command("apt-get").arg("download").args(&names),
            &PATIENCE,
            || {
                progress.bytes(
                    folder_size(&self.dir.join("debs")) + folder_size(&partial),
                    total,
                );
            },
        )?;
        match files.iter().find(|file| !file.is_whole()) {
            Some(file) => Err(format!(
                "{} arrived damaged; try again",
                file.path.display()
            )),
            None => Ok(files.into_iter().map(|file| file.path).collect()),
        }
    }

    /// Reads a line of `--print-uris`: `'URI' FILE SIZE SHA256:SUM`.
    fn listed(&self, line: &str) -> Option<Listed> {
        let mut words = line.rsplit(' ');
        let sha256 = words.next()?.strip_prefix("SHA256:")?.to_string();
        let size = words.next()?.parse().ok()?;
        Some(Listed {
            path: self.dir.join("debs").join(words.next()?),
            size,
            sha256,
        })
    }
}

/// A file that apt will download.
struct Listed {
    path: PathBuf,
    size: u64,
    sha256: String,
}

impl Listed {
    fn is_whole(&self) -> bool {
        sha256(&self.path).is_ok_and(|sum| sum == self.sha256)
    }
}

fn folder_size(dir: &Path) -> u64 {
    fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.metadata().ok())
        .map(|data| data.len())
        .sum()
}

/// rustc, the sources of the same version, and the shared libraries that rustc
/// loads, theirs too. Names of libraries change with the suite, so they are
/// found by following dependencies.
fn select(
    mut show: impl FnMut(&[String]) -> Result<Vec<Paragraph>, String>,
) -> Result<Selection, String> {
    let mut found: BTreeMap<String, Package> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    let mut todo: Vec<String> = vec!["rust-src".into(), "rustc".into()];
    while !todo.is_empty() {
        asked.extend(todo.iter().cloned());
        let mut next = BTreeSet::new();
        for record in show(&todo)? {
            let (Some(name), Some(version)) = (record.get("Package"), record.get("Version")) else {
                continue;
            };
            if name != "rust-src" {
                next.extend(needed(record.get("Depends").unwrap_or_default()));
                next.extend(needed(record.get("Pre-Depends").unwrap_or_default()));
            }
            found.insert(
                name.into(),
                Package {
                    name: name.into(),
                    version: version.into(),
                },
            );
        }
        todo = next
            .into_iter()
            .filter(|name| !asked.contains(name))
            .collect();
    }
    let version_of = |name: &str| {
        found
            .get(name)
            .map(|p| p.version.clone())
            .ok_or_else(|| format!("it has no {name}"))
    };
    let (rustc, sources) = (version_of("rustc")?, version_of("rust-src")?);
    let release = Release::parse(&rustc).ok_or_else(|| format!("rustc's version is {rustc}"))?;
    if release < MINIMUM {
        return Err(format!(
            "its rustc is {rustc}; {MINIMUM} or newer is needed"
        ));
    }
    // A rebuild for one architecture adds "+b1"; sources have none.
    if rustc.split("+b").next() != sources.split("+b").next() {
        return Err(format!(
            "its rustc is {rustc} but its rust-src {sources}: try again in a day"
        ));
    }
    Ok(Selection {
        release,
        packages: found.into_values().collect(),
    })
}

/// The shared libraries in a `Depends` field; the first of alternatives.
/// Compilers, headers and tools are not: rustc runs without them, and what
/// links is the host's.
fn needed(depends: &str) -> impl Iterator<Item = String> {
    depends
        .split(',')
        .filter_map(|clause| clause.split('|').next())
        .filter_map(|first| first.split_whitespace().next())
        .map(|name| name.split(':').next().unwrap_or(name))
        .filter(|name| {
            let library = name.starts_with("lib") && !name.ends_with("-dev");
            library || ["zlib1g", "libstd-rust-dev"].contains(name)
        })
        .filter(|name| !["libc-dev", "libc6-dev"].contains(name))
        .map(Into::into)
        .collect::<Vec<_>>()
        .into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive in which rustc and its sources have these versions.
    fn archive(rustc: &str, sources: &str) -> String {
        format!(
            "Package: rustc\nVersion: {rustc}\nDepends: libc6 (>= 2.34), libstd-rust-dev (= 1), gcc, libc-dev, binutils\n\n\
             Package: rust-src\nVersion: {sources}\nDepends: libnothing1\n\n\
             Package: libstd-rust-dev\nVersion: 1\nDepends: libstd-rust-1.99 (= 1)\n\n\
             Package: libstd-rust-1.99\nVersion: 1\nDepends: libllvm30:any, zlib1g (>= 1)\n\n\
             Package: libllvm30\nVersion: 1\nPre-Depends: libnew1 | libold1\n\n\
             Package: libc6\nVersion: 1\nDepends: libgcc-s1\n\n\
             Package: libgcc-s1\nVersion: 1\nDepends: gcc-16-base, libc6\n\n\
             Package: zlib1g\nVersion: 1\n\n\
             Package: libnew1\nVersion: 1\n"
        )
    }

    fn select_in(text: &str) -> Result<Selection, String> {
        let all = paragraphs(text);
        select(|names| {
            let is_wanted = |p: &&Paragraph| names.iter().any(|n| p.get("Package") == Some(n));
            Ok(all.iter().filter(is_wanted).cloned().collect())
        })
    }

    #[test]
    fn libraries_are_found_by_following_dependencies() {
        let selection = select_in(&archive("1.99.0+dfsg1-1+b2", "1.99.0+dfsg1-1")).unwrap();
        let names: Vec<_> = selection.packages.iter().map(|p| p.name.as_str()).collect();
        let expected = [
            "libc6",
            "libgcc-s1",
            "libllvm30",
            "libnew1",
            "libstd-rust-1.99",
            "libstd-rust-dev",
            "rust-src",
            "rustc",
            "zlib1g",
        ];
        assert_eq!(names, expected);
        assert_eq!(selection.release.to_string(), "1.99.0");
    }

    #[test]
    fn an_old_or_mismatched_compiler_is_refused() {
        let old = select_in(&archive("1.85.0+dfsg3-1", "1.85.0+dfsg3-1")).unwrap_err();
        assert!(old.contains("1.97.0 or newer"), "{old}");
        let mixed = select_in(&archive("1.97.1+dfsg1-1", "1.98.0+dfsg1-1")).unwrap_err();
        assert!(mixed.contains("rust-src 1.98.0"), "{mixed}");
        assert_eq!(
            select_in("Package: zlib1g\nVersion: 1\n").unwrap_err(),
            "it has no rustc"
        );
    }
}

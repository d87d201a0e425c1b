//! Which packages make a compiler.
//!
//! What it leaves out: where the records come from, which is apt's matter.

use super::control::Paragraph;
use super::{MINIMUM, Release};
use std::collections::{BTreeMap, BTreeSet};

/// A package, as the archive's signed list describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub name: String,
    pub version: String,
    /// Bytes of its file.
    pub size: u64,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
    /// Bytes of what is in it.
    pub unpacked: u64,
}

/// A set of packages that make a compiler.
#[derive(Debug)]
pub(super) struct Selection {
    pub release: Release,
    pub packages: Vec<Package>,
}

/// The package of the standard library's sources.
pub(super) const SOURCES: &str = "rust-src";

/// Folders, and the unused rest of each file's last block.
const OVERHEAD: u64 = 32_000_000;

impl Selection {
    /// Bytes that the unpacked compiler takes while it is made.
    pub fn unpacked_bytes(&self) -> u64 {
        let packages = self.packages.iter();
        // The library is less than a quarter of the sources.
        let share = |package: &Package| match package.name.as_str() {
            SOURCES => package.unpacked / 4,
            _ => package.unpacked,
        };
        packages.map(share).sum::<u64>() + OVERHEAD
    }
}

impl Package {
    /// Reads a record of the list.
    fn of(record: &Paragraph) -> Result<Self, String> {
        let text = |field| {
            let name = record.get("Package").unwrap_or("a package");
            let missing = || format!("its list does not tell the {field} of {name}");
            record.get(field).ok_or_else(missing)
        };
        let number = |field| record.get(field).and_then(|text| text.parse::<u64>().ok());
        Ok(Self {
            name: text("Package")?.into(),
            version: text("Version")?.into(),
            sha256: text("SHA256")?.into(),
            size: number("Size").ok_or("its list does not tell the sizes of packages")?,
            // In units of 1024 bytes.
            unpacked: number("Installed-Size").unwrap_or(0).saturating_mul(1024),
        })
    }
}

/// rustc, the sources of the same version, and the shared libraries that rustc
/// loads, theirs too. Names of libraries change with the suite, so they are
/// found by following dependencies.
pub(super) fn select(
    mut show: impl FnMut(&[String]) -> Result<Vec<Paragraph>, String>,
) -> Result<Selection, String> {
    let mut found: BTreeMap<String, Package> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    let mut todo: Vec<String> = vec![SOURCES.into(), "rustc".into()];
    while !todo.is_empty() {
        asked.extend(todo.iter().cloned());
        let mut next = BTreeSet::new();
        for record in show(&todo)? {
            let package = Package::of(&record)?;
            if package.name != SOURCES {
                next.extend(needed(record.get("Depends").unwrap_or_default()));
                next.extend(needed(record.get("Pre-Depends").unwrap_or_default()));
            }
            found.insert(package.name.clone(), package);
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
    let (rustc, sources) = (version_of("rustc")?, version_of(SOURCES)?);
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
    use super::super::control::paragraphs;
    use super::*;

    /// An archive in which rustc and its sources have these versions.
    fn archive(rustc: &str, sources: &str) -> String {
        let records = format!(
            "Package: rustc\nVersion: {rustc}\nDepends: libc6 (>= 2.34), libstd-rust-dev (= 1), gcc, libc-dev, binutils\n\n\
             Package: rust-src\nVersion: {sources}\nDepends: libnothing1\n\n\
             Package: libstd-rust-dev\nVersion: 1\nDepends: libstd-rust-1.99 (= 1)\n\n\
             Package: libstd-rust-1.99\nVersion: 1\nDepends: libllvm30:any, zlib1g (>= 1)\n\n\
             Package: libllvm30\nVersion: 1\nPre-Depends: libnew1 | libold1\n\n\
             Package: libc6\nVersion: 1\nDepends: libgcc-s1\n\n\
             Package: libgcc-s1\nVersion: 1\nDepends: gcc-16-base, libc6\n\n\
             Package: zlib1g\nVersion: 1\n\n\
             Package: libnew1\nVersion: 1\n"
        );
        records.replace(
            "\nVersion",
            "\nSize: 10\nInstalled-Size: 1000\nSHA256: 00\nVersion",
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
        let empty = archive("1", "1").replace("Package: rustc", "Package: other");
        assert_eq!(select_in(&empty).unwrap_err(), "it has no rustc");
    }

    #[test]
    fn a_package_without_a_hash_is_refused() {
        let text = archive("1.97.1", "1.97.1").replace("SHA256", "MD5sum");
        let reason = select_in(&text).unwrap_err();
        assert!(
            reason.starts_with("its list does not tell the SHA256 of ru"),
            "{reason}"
        );
    }

    #[test]
    fn of_the_sources_a_quarter_is_unpacked() {
        let selection = select_in(&archive("1.97.1", "1.97.1")).unwrap();
        assert_eq!(selection.packages.len(), 9);
        assert_eq!(
            selection.unpacked_bytes() - OVERHEAD,
            8 * 1_024_000 + 256_000
        );
    }
}

//! Queries to apt, without root and without touching the system's own lists.
//!
//! apt gets its own state folder and one source: the system's archive
//! with another suite. It checks the archive's signature as always; proxies and
//! credentials in the system's settings apply too.
//!
//! The folder must be new: apt assumes that existing lists are complete, and that a
//! package of the right size is the right one, whatever they contain.

use crate::{Locator, MINIMUM, Progress, Release, process, room};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// apt's settings. The folder is named as apt's working directory, so
/// its path may contain characters that these settings cannot quote.
const SETTINGS: &str = r##"#clear APT::Architectures;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
APT::Architecture "ARCHITECTURE";
APT::Architectures { "ARCHITECTURE"; };
APT::Default-Release "";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Dir::State "/proc/self/cwd/state";
Dir::State::Lists "/proc/self/cwd/lists";
Dir::State::status "/proc/self/cwd/status";
Dir::Cache "/proc/self/cwd/cache";
Dir::Cache::pkgcache "pkgcache.bin";
Dir::Cache::srcpkgcache "";
Dir::Etc::SourceList "/proc/self/cwd/archive.sources";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
"##;

/// The suites of Debian that have a new compiler.
const SUITES: [&str; 2] = ["sid", "testing"];

/// The keys of Debian's archive; those of other archives are among the keys that apt trusts.
const DEBIAN_KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Packages fetched with rustc itself: the sources of the same version, and the standard library.
/// The latter depends on the shared libraries that rustc loads, and on nothing that it does not
/// need: linking is done by the host.
const BESIDE_RUSTC: [&str; 2] = ["rust-src", "libstd-rust-dev"];

/// Time limit for apt.
const PATIENCE: Duration = Duration::from_secs(1200);

/// A package, as described by the archive's signed list.
pub(crate) struct Package {
    name: String,
    version: String,
    /// The name of its file.
    file: String,
    /// Bytes of its file.
    pub size: u64,
    /// SHA-256 of its file, in hexadecimal.
    sha256: String,
}

/// A set of packages that make up a compiler.
pub(crate) struct Selection {
    pub release: Release,
    pub packages: Vec<Package>,
}

/// The addresses from which the system gets its packages, those that look like Debian's main
/// archive first; never empty.
pub(crate) fn archives(locator: &Locator) -> Result<Vec<String>, String> {
    let mut ask = Command::new("apt-get");
    ask.args(["update", "--print-uris"])
        .env("PATH", &locator.path)
        .env("LC_ALL", "C");
    let said = process::run(&mut ask, PATIENCE, || {})?;
    let mut found: Vec<String> = Vec::new();
    for (uri, suite) in said.lines().filter_map(|line| line.split_once("/dists/")) {
        let uri = uri.trim_start_matches('\'');
        // Security updates are in separate archives, which have no compiler.
        let may_serve = !suite.contains("security") && !uri.starts_with("cdrom:");
        if may_serve && !found.iter().any(|known| known == uri) {
            found.push(uri.into());
        }
    }
    found.sort_by_key(|uri| !uri.ends_with("/debian"));
    if found.is_empty() {
        return Err("apt's settings name no archive of packages".into());
    }
    Ok(found)
}

/// apt with its own state in a folder, for one suite of one archive.
pub(crate) struct Apt<'a> {
    locator: &'a Locator,
    dir: PathBuf,
}

impl<'a> Apt<'a> {
    /// The first offer of the pinned release in `archives`, or else of any suitable one. Uses `dir`.
    pub fn search(
        locator: &'a Locator,
        archives: &[String],
        dir: &Path,
        architecture: &str,
    ) -> Result<(Self, Selection), String> {
        let mut offers = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for (number, uri) in archives.iter().enumerate() {
            for suite in SUITES {
                let dir = dir.join(format!("apt-{number}-{suite}"));
                let apt = Self { locator, dir };
                let offer = apt
                    .prepare(uri, suite, architecture)
                    .map_err(|e| format!("{} cannot be written: {e}", apt.dir.display()))
                    .and_then(|()| apt.run(&["update"], || {}))
                    .and_then(|_| apt.select());
                match offer {
                    Ok(offer) if offer.release.to_string() == locator.channel => {
                        return Ok((apt, offer));
                    }
                    Ok(offer) => offers.push((apt, offer)),
                    Err(reason) if room::ran_out(&reason) => return Err(reason),
                    // A reason that holds for both suites is given once.
                    Err(reason) => reasons.push(reason.replace(suite, "SUITE")),
                }
            }
            if !offers.is_empty() {
                break;
            }
        }
        reasons.dedup();
        let none = || format!("sid and testing: {}", reasons.join("\n  "));
        offers.into_iter().next().ok_or_else(none)
    }

    fn prepare(&self, uri: &str, suite: &str, architecture: &str) -> io::Result<()> {
        for folder in ["state", "lists/partial", "cache/archives/partial", "tmp"] {
            fs::create_dir_all(self.dir.join(folder))?;
        }
        fs::write(self.dir.join("status"), "")?;
        let mut source = format!("Types: deb\nURIs: {uri}\nSuites: {suite}\nComponents: main\n");
        if Path::new(DEBIAN_KEYS).exists() {
            source += &format!("Signed-By: {DEBIAN_KEYS}\n");
        }
        fs::write(self.dir.join("archive.sources"), source)?;
        let settings = SETTINGS.replace("ARCHITECTURE", architecture);
        fs::write(self.dir.join("apt.conf"), settings)
    }

    fn run(&self, arguments: &[&str], tick: impl FnMut()) -> Result<String, String> {
        let mut command = Command::new("apt-get");
        command
            .args(["-c", "./apt.conf"])
            .args(arguments)
            .env("PATH", &self.locator.path)
            .env("LC_ALL", "C")
            .env("TMPDIR", "/proc/self/cwd/tmp")
            .current_dir(&self.dir);
        process::run(&mut command, PATIENCE, tick)
    }

    /// The packages that make up a compiler in this suite.
    fn select(&self) -> Result<Selection, String> {
        // As if the system had no packages yet, so that all dependencies are listed.
        let mut install = vec![
            "install",
            "--print-uris",
            "-qq",
            "-y",
            "--no-install-recommends",
        ];
        install.extend(BESIDE_RUSTC);
        let beside = self.run(&install, || {})?;
        // The description of an installation lacks the SHA-256.
        let mut download = vec!["download", "--print-uris", "rustc"];
        let file = |line| str::split_whitespace(line).nth(1);
        download.extend(
            beside
                .lines()
                .filter_map(file)
                .filter_map(|file| file.split('_').next()),
        );
        let packages: Vec<Package> = self
            .run(&download, || {})?
            .lines()
            .map(|line| {
                Package::of(line).ok_or_else(|| format!("no package with a SHA-256: {line}"))
            })
            .collect::<Result<_, _>>()?;
        Ok(Selection {
            release: release(&packages)?,
            packages,
        })
    }

    /// Downloads `packages`. Files that arrive damaged are fetched a second time.
    pub fn download(&self, packages: &[Package], progress: &dyn Progress) -> Result<(), String> {
        let total = packages.iter().map(|package| package.size).sum();
        let mut missing: Vec<&Package> = packages.iter().collect();
        for _ in 0..2 {
            let mut download = vec!["download"];
            download.extend(missing.iter().map(|package| &*package.name));
            self.run(&download, || {
                let arrived = packages.iter().filter_map(|p| self.file(p).metadata().ok());
                progress.bytes(arrived.map(|data| data.len()).sum(), total);
            })?;
            missing.retain(|p| !sha256(&self.file(p)).is_ok_and(|sum| sum == p.sha256));
            for package in &missing {
                progress.note(&format!("{} arrived damaged", package.name));
                // apt would accept any file of the right size.
                let _ = fs::remove_file(self.file(package));
            }
            if missing.is_empty() {
                return Ok(());
            }
        }
        Err(format!(
            "{} {} arrived damaged twice: its SHA-256 is not the one in the archive's signed list",
            missing[0].name, missing[0].version
        ))
    }

    /// The path at which the file of `package` arrives.
    pub fn file(&self, package: &Package) -> PathBuf {
        self.dir.join(&package.file)
    }
}

impl Package {
    /// Reads a line of `apt-get download --print-uris`:
    /// `'http://…/rustc_1.97.1%2bdfsg1-1_amd64.deb' rustc_1.97.1+dfsg1-1_amd64.deb 4494600 SHA256:83…`.
    fn of(line: &str) -> Option<Self> {
        let [_, file, size, sum] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let (name, rest) = file.split_once('_')?;
        Some(Self {
            name: name.into(),
            version: rest.split('_').next()?.into(),
            file: file.into(),
            size: size.parse().ok()?,
            sha256: sum.strip_prefix("SHA256:")?.into(),
        })
    }
}

/// The release of rustc among `packages`, which must include its sources.
fn release(packages: &[Package]) -> Result<Release, String> {
    let version = |name: &str| {
        let package = packages.iter().find(|package| package.name == name);
        package
            .map(|package| &*package.version)
            .ok_or_else(|| format!("it has no {name}"))
    };
    let (rustc, sources) = (version("rustc")?, version("rust-src")?);
    let release = Release::parse(rustc).ok_or_else(|| format!("rustc's version is {rustc}"))?;
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
    Ok(release)
}

/// The SHA-256 of a file, in hexadecimal.
fn sha256(path: &Path) -> io::Result<String> {
    Ok(Sha256::digest(fs::read(path)?)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release_of(rustc: &str, sources: &str) -> Result<String, String> {
        let package = |name: &str, version: &str| {
            Package::of(&format!("'u' {name}_{version}_amd64.deb 10 SHA256:00"))
        };
        let packages = [package("rustc", rustc), package("rust-src", sources)];
        let packages: Vec<Package> = packages.into_iter().flatten().collect();
        release(&packages).map(|release| release.to_string())
    }

    #[test]
    fn an_old_or_mismatched_compiler_is_refused() {
        let good = release_of("1.99.0+dfsg1-1+b2", "1.99.0+dfsg1-1").unwrap();
        assert_eq!(good, "1.99.0");
        let old = release_of("1.85.0+dfsg3-1", "1.85.0+dfsg3-1").unwrap_err();
        assert!(old.contains("1.97.0 or newer"), "{old}");
        let mixed = release_of("1.97.1+dfsg1-1", "1.98.0+dfsg1-1").unwrap_err();
        assert!(mixed.contains("rust-src 1.98.0"), "{mixed}");
        assert_eq!(release(&[]).unwrap_err(), "it has no rustc");
    }

    #[test]
    fn a_package_without_a_sha256_is_none() {
        assert!(Package::of("'u' rustc_1_amd64.deb 10 MD5Sum:00").is_none());
    }
}

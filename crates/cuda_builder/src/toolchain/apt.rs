//! Asking apt, without root and without touching the system's own lists.
//!
//! apt is given a state folder of its own and one source: the system's archive
//! with another suite. It checks the archive's signature as always; proxies and
//! credentials in the system's settings hold too.
//!
//! The folder must be new. apt takes lists that it finds for whole ones, and a
//! package of the right size for the right one, whatever is in them; and of a
//! package that is in the folder already it tells nothing.

use super::Locator;
use super::control::paragraphs;
use super::process::{self, Patience, run_well};
use super::select::{self, Package, Selection};
use super::sources::Archive;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PATIENCE: Patience = Patience {
    total: Duration::from_secs(1200),
    silence: None,
};

/// apt's settings. The folder is named as the one that apt is started in: so
/// its path may hold characters that these settings have no way to quote.
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

/// apt with its own state in a folder, for one suite.
pub(super) struct Apt<'a> {
    locator: &'a Locator,
    dir: PathBuf,
}

impl<'a> Apt<'a> {
    /// Makes a state folder `dir` for `suite` of `archive`.
    pub fn new(
        locator: &'a Locator,
        dir: PathBuf,
        archive: &Archive,
        suite: &str,
        architecture: &str,
    ) -> Result<Self, String> {
        let apt = Self { locator, dir };
        apt.prepare(archive, suite, architecture)
            .map_err(|e| format!("{} cannot be written: {e}", apt.dir.display()))?;
        Ok(apt)
    }

    fn prepare(&self, archive: &Archive, suite: &str, architecture: &str) -> std::io::Result<()> {
        fs::create_dir(&self.dir)?;
        for folder in ["state", "lists/partial", "cache/archives/partial", "tmp"] {
            fs::create_dir_all(self.dir.join(folder))?;
        }
        fs::write(self.dir.join("status"), "")?;
        fs::write(self.dir.join("archive.sources"), archive.paragraph(suite))?;
        let settings = SETTINGS.replace("ARCHITECTURE", architecture);
        fs::write(self.dir.join("apt.conf"), settings)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .args(["-c", "./apt.conf"])
            .env("PATH", &self.locator.path)
            .env("LC_ALL", "C")
            .env("TMPDIR", "/proc/self/cwd/tmp")
            .current_dir(&self.dir);
        command
    }

    /// Fetches the suite's list of packages.
    pub fn update(&self) -> Result<(), String> {
        run_well(self.command("apt-get").arg("update"), &PATIENCE, || {}).map(drop)
    }

    /// The packages that make a compiler in this suite.
    pub fn select(&self) -> Result<Selection, String> {
        select::select(|names| {
            let mut show = self.command("apt-cache");
            show.args(["show", "--no-all-versions"]).args(names);
            // Fails if any of the names is unknown; what it printed counts.
            let shown = process::run(&mut show, &PATIENCE, || {})?;
            Ok(paragraphs(&shown.stdout))
        })
    }

    /// Downloads `packages` into [`Apt::dir`].
    pub fn download(&self, packages: &[&Package], tick: impl FnMut()) -> Result<(), String> {
        let names = packages
            .iter()
            .map(|package| format!("{}={}", package.name, package.version));
        let mut download = self.command("apt-get");
        download.arg("download").args(names);
        run_well(&mut download, &PATIENCE, tick).map(drop)
    }

    /// Its folder, where downloads arrive.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

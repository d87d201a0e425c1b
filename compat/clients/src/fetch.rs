//! Fetching a client into the cache: Python packages by pip, into an environment of its own, and
//! the source of its tests by pip, cargo or git.
//!
//! ```text
//! CACHE/clients/tinygrad-0.14.0/venv/      Python and packages
//! CACHE/clients/tinygrad-0.14.0/source/    the source with the tests
//! CACHE/clients/tinygrad-0.14.0/fetched    what was asked for, written last
//! ```

use crate::catalogue::{Client, Packages, Repository};
use crate::process;
use crate::run::Run;
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The time limit of a package tool.
const PATIENCE: Duration = Duration::from_secs(1800);

/// A client that can be run.
pub struct Home {
    /// Its folder in the cache.
    pub dir: PathBuf,
    /// The folder of its Python packages.
    pub packages: PathBuf,
    /// Why the repository with further tests is missing.
    pub lacking: Option<String>,
}

impl Home {
    pub fn python(&self) -> PathBuf {
        self.dir.join("venv/bin/python")
    }

    /// The source with the tests.
    pub fn source(&self) -> PathBuf {
        self.dir.join("source")
    }

    /// A text of the catalogue, with this machine's folders filled in.
    pub fn text(&self, text: &str) -> String {
        text.replace("{packages}", &self.packages.to_string_lossy())
            .replace("{home}", &self.dir.to_string_lossy())
    }
}

/// The client, fetched if it is not in the cache.
///
/// # Errors
/// Why it cannot be fetched.
pub fn ready(client: Client, run: &Run) -> anyhow::Result<Home> {
    let dir = run.cache.join(&client.entry.home);
    let mark = dir.join("fetched");
    let wanted = format!("{:#?}\n", client.packages);
    if !fs::read_to_string(&mark).is_ok_and(|fetched| fetched == wanted) {
        eprintln!("  fetching it into {}", dir.display());
        make(client.packages, &dir)?;
        fs::write(&mark, &wanted).with_context(|| unwritten(&mark))?;
    }
    let repository = client.packages.repository.as_ref();
    let taken = repository.map(|repository| take_tests(repository, &dir, run.checkout));
    let lacking = taken.and_then(Result::err);
    let is_without_python = client.packages.is_without_python();
    Ok(Home {
        packages: match is_without_python {
            true => dir.clone(),
            false => packages(&dir)?,
        },
        lacking: lacking.map(|error| error.to_string()),
        dir,
    })
}

fn unwritten(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// Fetches all but the repository, into a new folder.
fn make(packages: &Packages, dir: &Path) -> anyhow::Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| format!("{} is in the way", dir.display()))?;
    }
    let source = dir.join("source");
    fs::create_dir_all(&source).with_context(|| unwritten(dir))?;
    let log = dir.join("fetch.log");
    let tool = |command: &mut Command| process::tool(command, &log, PATIENCE);
    if packages.is_without_python() {
        return Ok(());
    }
    tool(
        Command::new("python3")
            .args(["-m", "venv"])
            .arg(dir.join("venv")),
    )
    .context("a Python environment cannot be created (python3 with venv is needed)")?;
    let pip = || {
        let mut pip = Command::new(dir.join("venv/bin/python"));
        pip.args(["-m", "pip", "--quiet"]);
        pip
    };
    tool(pip().arg("install").args(&packages.packages))
        .context("its Python packages cannot be installed")?;
    if !packages.without.is_empty() {
        tool(pip().args(["uninstall", "--yes"]).args(&packages.without))?;
    }
    if let Some(name) = &packages.sdist {
        let wanted = format!("{name}=={}", packages.version);
        let options = ["download", "--no-deps", "--no-binary=:all:", "--dest"];
        tool(pip().args(options).arg(dir).arg(wanted))
            .context("its source distribution cannot be fetched")?;
        let archive = dir.join(format!("{name}-{}.tar.gz", packages.version));
        let mut tar = Command::new("tar");
        tar.arg("--extract").arg("--file").arg(archive);
        tool(
            tar.arg("--strip-components=1")
                .arg("--directory")
                .arg(&source),
        )?;
    }
    if let Some(name) = &packages.cargo {
        take_crate(name, &packages.version, dir, &source)?;
    }
    Ok(())
}

/// Copies a crate's source out of cargo's own cache, where a package that depends on it puts it.
fn take_crate(name: &str, version: &str, dir: &Path, source: &Path) -> anyhow::Result<()> {
    let needing = dir.join("needing");
    let manifest = format!(
        "[package]\nname = \"needing\"\nversion = \"0.0.0\"\n\n[workspace]\n\n\
         [dependencies]\n{name} = {{ version = \"={version}\", default-features = false }}\n"
    );
    fs::create_dir_all(needing.join("src")).with_context(|| unwritten(&needing))?;
    fs::write(needing.join("src/lib.rs"), "").with_context(|| unwritten(&needing))?;
    fs::write(needing.join("Cargo.toml"), manifest).with_context(|| unwritten(&needing))?;
    let told = dir.join("metadata.json");
    let mut cargo = cargo();
    cargo.args(["metadata", "--quiet", "--format-version=1"]);
    process::tool(cargo.current_dir(&needing), &told, PATIENCE)
        .context("its crate cannot be fetched")?;
    let text = fs::read_to_string(&told).context("cargo's output cannot be read")?;
    let metadata = text.lines().find(|line| line.starts_with('{'));
    let metadata: serde_json::Value = serde_json::from_str(metadata.unwrap_or_default())?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let from = manifest.and_then(|path| Path::new(path).parent());
    copy(from.context("cargo does not have its source")?, source)
}

/// The cargo that started this program.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Takes the folder with tests from a repository: from the checkout that the user names, else as
/// taken before, else by git.
fn take_tests(repository: &Repository, dir: &Path, checkout: Option<&Path>) -> anyhow::Result<()> {
    let mark = dir.join("tests-taken");
    let to = dir.join("source").join(&repository.folder);
    if let Some(checkout) = checkout {
        let from = checkout.join(&repository.folder);
        if !from.is_dir() {
            bail!("{} has no folder {}", checkout.display(), repository.folder);
        }
        copy(&from, &to)?;
    } else if mark.exists() {
        return Ok(());
    } else {
        let clone = tempfile::tempdir_in(dir).with_context(|| unwritten(dir))?;
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.arg("-C").arg(clone.path()).args(arguments);
            // No prompt for a name and a password.
            git.env("GIT_TERMINAL_PROMPT", "0");
            process::tool(&mut git, &dir.join("git.log"), PATIENCE)
        };
        let Repository { url, tag, .. } = repository;
        git(&["init", "--quiet"])
            .and_then(|()| git(&["fetch", "--quiet", "--depth=1", url, tag]))
            .and_then(|()| git(&["checkout", "--quiet", "FETCH_HEAD"]))
            .context("its repository cannot be cloned; --source takes a checkout of it")?;
        copy(&clone.path().join(&repository.folder), &to)?;
    }
    fs::write(&mark, &repository.tag).with_context(|| unwritten(&mark))
}

/// Copies a folder.
///
/// # Errors
/// It cannot be read, or its copy not be written.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| unwritten(to))?;
    let copied = Command::new("cp")
        .arg("-RL")
        .arg(from.join("."))
        .arg(to)
        .status();
    let copied = copied.is_ok_and(|status| status.success()).then_some(());
    copied.with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))
}

/// The folder of the environment's packages.
fn packages(dir: &Path) -> anyhow::Result<PathBuf> {
    let lib = dir.join("venv/lib");
    let mut versions = fs::read_dir(&lib).into_iter().flatten().flatten();
    let found = versions.find_map(|version| {
        let packages = version.path().join("site-packages");
        packages.is_dir().then_some(packages)
    });
    found.with_context(|| format!("{} has no packages", lib.display()))
}

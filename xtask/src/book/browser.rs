//! Browser tests of the book's pages: `book/browser/pages.mjs`, run by node, with a Chromium on
//! this machine.
//!
//! Left out: other browsers.

use crate::workspace;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How the test ended.
pub enum Outcome {
    Passed,
    Failed,
    /// Why it could not be run.
    NotRun(String),
}

/// Names the browser, if it is not on the path.
const VARIABLE: &str = "LOCKSTEP_BROWSER";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
const SCRIPTS: [&str; 2] = ["package.json", "pages.mjs"];

/// Tests the pages in `out`.
pub fn test(out: &Path, has_simulator: bool) -> anyhow::Result<Outcome> {
    let Some(browser) = browser() else {
        let names = BROWSERS.join(", ");
        return Ok(Outcome::NotRun(format!(
            "no browser is here (none of {names} is on the path, and {VARIABLE} names none)"
        )));
    };
    for program in ["node", "npm"] {
        if on_path(program).is_none() {
            return Ok(Outcome::NotRun(format!("{program} is not on the path")));
        }
    }
    let dir = workspace::own_folder("book-browser");
    std::fs::create_dir_all(&dir)?;
    for script in SCRIPTS {
        let from = workspace::root().join("book/browser").join(script);
        std::fs::copy(&from, dir.join(script))
            .with_context(|| format!("{} is missing", from.display()))?;
    }
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--prefer-offline",
        "--silent",
    ])
    .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
    .current_dir(&dir);
    if !npm.status().context("cannot run npm")?.success() {
        return Ok(Outcome::NotRun(
            "npm could not install playwright-core and axe-core".to_owned(),
        ));
    }
    let status = Command::new("node")
        .arg(dir.join("pages.mjs"))
        .arg(out)
        .arg(&browser)
        .arg(if has_simulator { "live" } else { "computed" })
        .arg(dir.join("screenshots"))
        .status()
        .context("cannot run node")?;
    Ok(match status.success() {
        true => Outcome::Passed,
        false => Outcome::Failed,
    })
}

fn browser() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    named.or_else(|| BROWSERS.iter().find_map(|name| on_path(name)))
}

fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH")?;
    let files = std::env::split_paths(&path).map(|folder| folder.join(&name));
    let mut files = files.filter(|file| file.is_file());
    files.next()
}

//! Trying a page in a browser: a Chromium installed on the machine, driven by Node.js.
//!
//! If something is missing, that is reported and does not count as success.

use super::exit::{Exit, Stop};
use super::progress::say;
use host::home::{Home, home};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder with the test, in a checkout, and its files.
const TEST: &str = "tests/browser";
const FILES: [&str; 3] = ["package.json", "package-lock.json", "report.mjs"];
/// Names the browser, if it is not on the path.
const VARIABLE: &str = "LOCKSTEP_BROWSER";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Tests a report's page, and writes screenshots to a folder.
pub(super) fn test(page: &Path, pictures: Option<&Path>) -> Result<Exit, Stop> {
    let Ok(Home::Checkout { root }) = home() else {
        return Err(not_run("it is in a checkout of the repository only"));
    };
    let Some(browser) = browser() else {
        let names = BROWSERS.join(", ");
        return Err(not_run(&format!(
            "no browser is here (none of {names} is on the path, and {VARIABLE} names none)"
        )));
    };
    let folder = prepared(root)?;
    let absolute = |path: &Path| {
        let absolute = std::path::absolute(path);
        absolute.map_err(|error| not_run(&format!("{}: {error}", path.display())))
    };
    let mut node = Command::new("node");
    node.arg("report.mjs").arg(absolute(page)?).arg(browser);
    if let Some(pictures) = pictures {
        node.arg(absolute(pictures)?);
    }
    let status = node.current_dir(&folder).status();
    let status = status.map_err(|error| not_run(&format!("node: {error}")))?;
    Ok(if status.success() {
        Exit::Passed
    } else {
        Exit::Failed
    })
}

fn not_run(what: &str) -> Stop {
    Stop::Because(
        Exit::NotAllRan,
        format!("the page was written; it was not tried in a browser: {what}"),
    )
}

/// The browser that the variable names, else the first that answers.
fn browser() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        return Some(named.into());
    }
    let folders = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    let mut candidates = BROWSERS
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    candidates.find(|path| path.is_file())
}

/// The test with its dependencies, below `target`, so that the sources stay unchanged.
fn prepared(root: &Path) -> Result<PathBuf, Stop> {
    let folder = root.join("target/browser");
    let copied = std::fs::create_dir_all(&folder).and_then(|()| {
        let mut files = FILES.iter();
        files.try_for_each(|file| {
            std::fs::copy(root.join(TEST).join(file), folder.join(file)).map(drop)
        })
    });
    copied.map_err(|error| not_run(&format!("{}: {error}", folder.display())))?;
    say("installing the browser driver: npm ci");
    let npm = Command::new("npm")
        .args([
            "ci",
            "--no-audit",
            "--no-fund",
            "--prefer-offline",
            "--silent",
        ])
        .stdout(Stdio::null())
        .current_dir(&folder)
        .status();
    match npm {
        Ok(status) if status.success() => Ok(folder),
        Ok(_) => Err(not_run("npm could not fetch playwright-core and axe-core")),
        Err(error) => Err(not_run(&format!("npm, which comes with Node.js: {error}"))),
    }
}

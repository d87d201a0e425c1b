//! A page tried in a browser: Chromium, driven by Node.js.

use super::exit::{Exit, Stop};
use super::progress::say;
use crate::home::{Home, home};
use std::path::Path;
use std::process::Command;

/// The folder with the tests, in a checkout.
const TESTS: &str = "tests/browser";

/// Drives the page of a report. What is missing is said, and is no success.
pub(super) fn test(page: &Path) -> Result<Exit, Stop> {
    let not_run = |what: &str| {
        Stop::Because(
            Exit::NotAllRan,
            format!("the page was written; the browser's test was not run: {what}"),
        )
    };
    let root = match home() {
        Ok(Home::Checkout { root }) => root,
        _ => return Err(not_run("it is in a checkout of the repository only")),
    };
    let folder = root.join(TESTS);
    let npm = |arguments: &[&str]| {
        let status = Command::new("npm").args(arguments).current_dir(&folder).status();
        status.map_err(|error| not_run(&format!("npm, which comes with Node.js: {error}")))
    };
    if !folder.join("node_modules").is_dir() {
        say("fetching the browser's driver: npm ci");
        if !npm(&["ci", "--no-audit", "--no-fund"])?.success() {
            return Err(not_run("npm could not fetch what drives the browser"));
        }
    }
    let page = std::path::absolute(page)
        .map_err(|error| not_run(&format!("{}: {error}", page.display())))?;
    let status = Command::new("node")
        .arg("report.mjs")
        .arg(page)
        .current_dir(&folder)
        .status()
        .map_err(|error| not_run(&format!("node: {error}")))?;
    match status.code() {
        Some(0) => Ok(Exit::Passed),
        // As the script says when there is no browser.
        Some(4) => Err(not_run("there is no browser")),
        _ => Ok(Exit::Failed),
    }
}

//! Which of the system's archives has the compiler, and in which suite.

use super::apt::Apt;
use super::process::{self, Patience};
use super::run::Run;
use super::select::Selection;
use super::{Locator, sources, space};
use std::fmt;
use std::process::Command;
use std::time::Duration;

/// Where the compilers are looked for: the suites of Debian that have a new one.
const SUITES: [&str; 2] = ["sid", "testing"];

/// The first offer of the pinned release, or else of any that serves.
pub(super) fn search<'a>(
    locator: &'a Locator,
    run: &Run,
    architecture: &str,
) -> Result<(Apt<'a>, Selection), String> {
    let mut offers: Vec<(Apt<'_>, Selection)> = Vec::new();
    let mut reasons = Reasons::default();
    let mut n_asked = 0;
    for archive in sources::archives(&locator.apt_dir) {
        for suite in SUITES {
            let dir = run.path(&format!("apt-{n_asked}"));
            n_asked += 1;
            let apt = Apt::new(locator, dir, &archive, suite, architecture)?;
            match apt.update().and_then(|()| apt.select()) {
                Ok(selection) if selection.release.to_string() == locator.pin.channel => {
                    return Ok((apt, selection));
                }
                Ok(selection) => offers.push((apt, selection)),
                Err(reason) if space::ran_out(&reason) => return Err(reason),
                Err(reason) => reasons.add(suite, reason),
            }
        }
        if !offers.is_empty() {
            break;
        }
    }
    let first = offers.into_iter().next();
    first.ok_or_else(|| reasons.to_string())
}

/// Why suites do not serve; what holds for several is said once.
#[derive(Default)]
struct Reasons(Vec<(Vec<&'static str>, String)>);

impl Reasons {
    fn add(&mut self, suite: &'static str, reason: String) {
        let general = |suite: &str, reason: &str| reason.replace(suite, "");
        let same = |(suites, known): &&mut (Vec<&'static str>, String)| {
            general(suites[0], known) == general(suite, &reason)
        };
        match self.0.iter_mut().find(same) {
            Some((suites, _)) if suites.contains(&suite) => {}
            Some((suites, _)) => suites.push(suite),
            None => self.0.push((vec![suite], reason)),
        }
    }
}

impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line =
            |(suites, reason): &(Vec<&str>, String)| format!("{}: {reason}", suites.join(" and "));
        let lines: Vec<String> = self.0.iter().map(line).collect();
        f.write_str(&lines.join("\n  "))
    }
}

/// Debian's name of this machine's architecture.
pub(super) fn architecture(locator: &Locator) -> Result<String, String> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg("--print-architecture").env("PATH", &locator.path);
    let patience = Patience {
        total: Duration::from_secs(30),
        silence: None,
    };
    Ok(process::run_well(&mut dpkg, &patience, || {})?
        .trim()
        .to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_for_both_suites_is_said_once() {
        let mut reasons = Reasons::default();
        let unreachable =
            |suite: &str| format!("E: Failed to fetch http://a/dists/{suite}/InRelease");
        reasons.add("sid", unreachable("sid"));
        reasons.add("testing", unreachable("testing"));
        reasons.add("sid", unreachable("sid"));
        assert_eq!(
            reasons.to_string(),
            "sid and testing: E: Failed to fetch http://a/dists/sid/InRelease"
        );
        reasons.add("testing", "it has no rustc".into());
        assert!(
            reasons
                .to_string()
                .ends_with("\n  testing: it has no rustc")
        );
    }
}

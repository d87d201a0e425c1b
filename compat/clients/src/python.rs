//! Python tests, by pytest: each file in a process of its own, because a faulty kernel leaves its
//! process without a device, as on a GPU.
//!
//! pytest-reportlog writes each test's result as it happens, so a process that crashes or hangs
//! loses only its current test: the others go on in a new process. So do those that failed after a
//! faulty kernel.

use crate::catalogue::Client;
use crate::fetch::Home;
use crate::kept::Kept;
use crate::process::{self, End};
use crate::run::Run;
use crate::runner::{self, Files, Ran, Test, Verdict};
use anyhow::{Context, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs the tests, file by file.
///
/// # Errors
/// They cannot be started.
pub fn run(client: Client, home: &Home, run: &Run) -> anyhow::Result<Ran> {
    let folder = PathBuf::from(home.text(&client.entry.folder));
    if !client.entry.plugin.is_empty() {
        let plugin = home.dir.join(PLUGIN).with_extension("py");
        std::fs::write(&plugin, &client.entry.plugin).context("the plugin cannot be written")?;
    }
    let mut ran = Ran {
        lacking: home.lacking.clone(),
        ..Ran::default()
    };
    let selections = selections(client.tests(run.is_quick), &folder)?;
    let begun = Instant::now();
    let is_late = || run.patience.is_some_and(|limit| begun.elapsed() > limit);
    let mut n_left = 0;
    for selected in &selections {
        let name = selected.first().map_or("", |name| name);
        let is_wanted = run.files.is_none_or(|files| files.matches(name));
        let kept = Kept::new(client, home, run, name);
        let file = File {
            client,
            home,
            run,
            folder: &folder,
        };
        if is_wanted && !is_late() {
            let one = file.timed(name, selected)?;
            kept.keep(&one)?;
            ran.add(one);
        } else if let Some(one) = kept.read() {
            ran.add(one);
        } else {
            n_left += 1;
        }
    }
    if n_left > 0 {
        let n = selections.len();
        ran.lacking = Some(format!("{n_left} of its {n} files skipped to save time"));
    }
    if ran.tests.is_empty() {
        let reason = ran.lacking.take();
        bail!(reason.unwrap_or_else(|| "its tests are not there".to_owned()));
    }
    Ok(ran)
}

/// pytest's status if all passed, some failed, a file could not be loaded, or there are no tests.
const ORDINARY: [i32; 4] = [0, 1, 2, 5];

/// The module with the fixtures that tests expect.
const PLUGIN: &str = "lockstep_fixtures";

/// What each process runs: one file, or named tests of one file.
fn selections(patterns: &[String], folder: &Path) -> anyhow::Result<Vec<Vec<String>>> {
    let mut selections: BTreeMap<(usize, PathBuf), Vec<String>> = BTreeMap::new();
    for (number, pattern) in patterns.iter().enumerate() {
        if let Some((file, _)) = pattern.split_once("::") {
            let first = patterns.iter().position(|p| p.starts_with(file));
            let key = (first.unwrap_or(number), PathBuf::from(file));
            selections.entry(key).or_default().push(pattern.clone());
            continue;
        }
        let paths = glob::glob(&folder.join(pattern).to_string_lossy())
            .with_context(|| format!("`{pattern}` is not a pattern of files"))?;
        for path in paths.flatten() {
            let file = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            let name = file.to_string_lossy().into_owned();
            selections.insert((number, file), vec![name]);
        }
    }
    Ok(selections.into_values().collect())
}

/// One file's tests.
struct File<'f> {
    client: Client<'f>,
    home: &'f Home,
    run: &'f Run<'f>,
    folder: &'f Path,
}

impl File<'_> {
    /// Runs what is selected, and prints how it went.
    fn timed(&self, name: &str, selected: &[String]) -> anyhow::Result<Ran> {
        let started = Instant::now();
        let mut ran = Ran::default();
        self.run(selected.to_vec(), &mut ran)?;
        ran.seconds = started.elapsed().as_secs_f64();
        let n = ran.tests.len();
        let n_failed = ran.tests.iter().filter_map(Test::complaint).count();
        eprintln!(
            "  {name}: {n} tests, {n_failed} failed, {:.1} s",
            ran.seconds
        );
        Ok(ran)
    }

    /// Runs what is selected, in as many processes as it takes.
    fn run(&self, mut selected: Vec<String>, ran: &mut Ran) -> anyhow::Result<()> {
        let file = selected.first().map_or("", |name| name).to_owned();
        let files = Files::new(self.home, self.client, &file)?;
        loop {
            let end = self.pytest(&selected, &files)?;
            let told = std::fs::read_to_string(&files.tests).unwrap_or_default();
            let mut told = Told::read(&told);
            let is_without_device = ran.add_report(&files.report)?;
            let bad_end = end.complaint(&ORDINARY, self.limit(), &files.log);
            let was_at = told.unfinished.take();
            let done: BTreeSet<String> = told.tests.iter().map(|t| t.name.clone()).collect();
            let victims = match is_without_device && bad_end.is_none() {
                true => told.take_victims(),
                false => Vec::new(),
            };
            ran.tests.append(&mut told.tests);
            if !victims.is_empty() {
                selected = victims;
                continue;
            }
            let Some(said) = bad_end else { return Ok(()) };
            let Some(was_at) = was_at else {
                ran.tests.push(Test::failed(file, said));
                return Ok(());
            };
            ran.tests.push(Test::failed(was_at.clone(), said));
            selected = self.collected(&selected, &files)?;
            selected.retain(|name| !done.contains(name) && *name != was_at);
            if selected.is_empty() {
                return Ok(());
            }
        }
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(self.client.entry.limit)
    }

    fn pytest(&self, selected: &[String], files: &Files) -> anyhow::Result<End> {
        let mut command = self.command(selected, files);
        command.arg("--report-log").arg(&files.tests);
        let _ = std::fs::remove_file(&files.tests);
        process::run(&mut command, &files.log, self.limit())
    }

    fn command(&self, selected: &[String], files: &Files) -> Command {
        let mut command = Command::new(self.home.python());
        command
            .args(["-m", "pytest", "-q", "--import-mode=importlib"])
            .args(["-p", "no:cacheprovider", "--rootdir=."])
            .args(selected)
            .current_dir(self.folder)
            .env("PYTHONPATH", &self.home.dir);
        if !self.client.entry.plugin.is_empty() {
            command.args(["-p", PLUGIN]);
        }
        runner::prepare(&mut command, self.client, self.home, self.run, files);
        command
    }

    /// The names of all tests among those selected.
    fn collected(&self, selected: &[String], files: &Files) -> anyhow::Result<Vec<String>> {
        let mut command = self.command(selected, files);
        process::run(command.arg("--collect-only"), &files.log, self.limit())?;
        let said = std::fs::read_to_string(&files.log).unwrap_or_default();
        let names = said.lines().take_while(|line| !line.is_empty());
        Ok(names.map(str::to_owned).collect())
    }
}

/// What pytest has reported.
#[derive(Default)]
struct Told {
    tests: Vec<Test>,
    /// The test that has begun, but not ended.
    unfinished: Option<String>,
}

impl Told {
    /// Reads pytest-reportlog's lines.
    fn read(lines: &str) -> Self {
        let mut told = Self::default();
        let mut verdict = Verdict::Passed;
        for line in lines.lines() {
            let Ok(event) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            let name = event["nodeid"].as_str().unwrap_or_default();
            match event["$report_type"].as_str() {
                // A failing part of a test fails the test: pytest reports it before the whole.
                Some("TestReport" | "SubTestReport") => {
                    if event["when"] == "setup" {
                        verdict = Verdict::Passed;
                        told.unfinished = Some(name.to_owned());
                    }
                    match event["outcome"].as_str() {
                        Some("failed") => verdict = Verdict::Failed(said(&event["longrepr"])),
                        Some("skipped") => verdict = Verdict::Skipped,
                        _ => {}
                    }
                    if event["when"] == "teardown" {
                        told.unfinished = None;
                        told.tests.push(Test::new(name, verdict.clone()));
                    }
                }
                // A file that cannot be loaded, or is left out as a whole.
                Some("CollectReport") => match event["outcome"].as_str() {
                    Some("failed") => {
                        let said = said(&event["longrepr"]);
                        told.tests.push(Test::failed(name, said));
                    }
                    Some("skipped") => told.tests.push(Test::new(name, Verdict::Skipped)),
                    _ => {}
                },
                _ => {}
            }
        }
        told
    }

    /// Removes the tests that failed after another had: they may have had no device. Returns
    /// their names.
    fn take_victims(&mut self) -> Vec<String> {
        let mut n_failed = 0;
        let is_victim = |test: &mut Test| {
            n_failed += usize::from(test.complaint().is_some());
            test.complaint().is_some() && n_failed > 1
        };
        let victims = self.tests.extract_if(.., is_victim);
        victims.map(|test| test.name).collect()
    }
}

/// The message of a failed test.
fn said(told: &Value) -> String {
    let crash = told["reprcrash"]["message"].as_str();
    let long = crash.or_else(|| told["longrepr"].as_str());
    let text = long.or_else(|| told.as_str());
    text.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pytests_lines_are_read() {
        let mut lines = vec![
            json!({"$report_type": "SessionStart"}),
            json!({"$report_type": "CollectReport", "nodeid": "b.py", "outcome": "failed",
                "longrepr": "no module"}),
        ];
        for (kind, name, stages) in [
            (
                "TestReport",
                "a.py::one",
                "setup passed, call failed, teardown passed",
            ),
            ("TestReport", "a.py::two", "setup skipped, teardown passed"),
            (
                "TestReport",
                "a.py::three",
                "setup passed, call passed, teardown passed",
            ),
            ("TestReport", "a.py::parts", "setup passed"),
            ("SubTestReport", "a.py::parts", "call failed"),
            ("TestReport", "a.py::parts", "call passed, teardown passed"),
            ("TestReport", "a.py::four", "setup passed"),
        ] {
            let stages = stages.split(", ").filter_map(|stage| stage.split_once(' '));
            lines.extend(stages.map(|(when, outcome)| {
                json!({"$report_type": kind, "nodeid": name, "when": when, "outcome": outcome,
                    "longrepr": {"reprcrash": {"message": "it is 2"}}})
            }));
        }
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        let told = Told::read(&lines.join("\n"));
        let expected = [
            Test::failed("b.py", "no module"),
            Test::failed("a.py::one", "it is 2"),
            Test::new("a.py::two", Verdict::Skipped),
            Test::new("a.py::three", Verdict::Passed),
            Test::failed("a.py::parts", "it is 2"),
        ];
        assert_eq!(told.tests, expected);
        assert_eq!(told.unfinished.as_deref(), Some("a.py::four"));
    }

    #[test]
    fn who_fails_after_another_may_have_had_no_device() {
        let passed = |name: &str| Test::new(name, Verdict::Passed);
        let failed = |name: &str| Test::failed(name, "illegal address");
        let mut told = Told {
            tests: vec![passed("a"), failed("b"), failed("c"), passed("d")],
            unfinished: None,
        };
        assert_eq!(told.take_victims(), ["c"]);
        assert_eq!(told.tests, [passed("a"), failed("b"), passed("d")]);
        assert!(told.take_victims().is_empty());
    }

    #[test]
    fn single_tests_of_a_file_share_a_process() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.py", "b.py"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        let patterns = ["*.py", "c.py::one", "c.py::two"].map(str::to_owned);
        let selections = selections(&patterns, dir.path()).unwrap();
        let expected = [vec!["a.py"], vec!["b.py"], vec!["c.py::one", "c.py::two"]];
        assert_eq!(selections, expected);
    }
}

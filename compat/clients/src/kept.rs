//! The last result of each file of tests, in the cache: with `--files` a client is run in parts,
//! whose results are combined.
//!
//! Left out: the commit of each result. A part that was run before the simulator changed is kept
//! until it, or the client as a whole, is run again.

use crate::catalogue::Client;
use crate::fetch::Home;
use crate::run::Run;
use crate::runner::{self, Ran};
use anyhow::Context;
use std::fs;
use std::path::PathBuf;

/// The place of a file's result.
pub struct Kept {
    path: PathBuf,
    /// Whether all of the file is run, so that its result is worth keeping.
    is_whole: bool,
    /// Whether earlier runs count.
    is_part: bool,
}

impl Kept {
    /// For the file of that name.
    pub fn new(client: Client, home: &Home, run: &Run, name: &str) -> Self {
        let how = if run.is_checked { "checked" } else { "plain" };
        let name = format!("{}.{how}.ran.json", runner::plain(name));
        Self {
            path: runner::folder(home, client).join(name),
            is_whole: !run.is_quick,
            is_part: run.files.is_some(),
        }
    }

    /// Saves the new result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, ran: &Ran) -> anyhow::Result<()> {
        if !self.is_whole {
            return Ok(());
        }
        let text = serde_json::to_string(ran)?;
        fs::write(&self.path, text)
            .with_context(|| format!("{} cannot be written", self.path.display()))
    }

    /// The result of an earlier run, if this one is of a part only.
    pub fn read(&self) -> Option<Ran> {
        if !self.is_part {
            return None;
        }
        let text = fs::read_to_string(&self.path).ok()?;
        serde_json::from_str(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Finding, Test, Verdict};

    #[test]
    fn what_was_kept_counts_only_where_a_part_is_run() {
        let dir = tempfile::tempdir().unwrap();
        let kept = |is_whole, is_part| Kept {
            path: dir.path().join("a-py.plain.ran.json"),
            is_whole,
            is_part,
        };
        let ran = Ran {
            tests: vec![
                Test::failed("a.py::one", "it is 2"),
                Test::new("a.py::two", Verdict::Skipped),
            ],
            seconds: 1.5,
            n_launches: 3,
            findings: vec![Finding {
                kernel: "k".to_owned(),
                text: "a race".to_owned(),
            }],
            ..Ran::default()
        };
        kept(false, true).keep(&ran).unwrap();
        assert_eq!(kept(true, true).read(), None);
        kept(true, false).keep(&ran).unwrap();
        assert_eq!(kept(true, false).read(), None);
        assert_eq!(kept(true, true).read(), Some(ran));
    }
}

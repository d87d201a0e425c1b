//! The learner's progress (exercises solved, and the current one): a file in the workplace.

use crate::error::{Error, read, write};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A learner's progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// The current exercise; the first one by default.
    pub current: Option<String>,
    /// Exercises that have passed once.
    #[serde(default)]
    pub solved: BTreeSet<String>,
    /// How many hints were given, by exercise.
    #[serde(default)]
    pub hints: BTreeMap<String, usize>,
}

/// The file's name.
const FILE: &str = "progress.toml";

impl Progress {
    /// Reads the progress kept in a workplace; none yet if there is no file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not ours.
    pub fn read(workplace: &Path) -> Result<Self, Error> {
        let path = workplace.join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        toml::from_str(&read(&path)?).map_err(|e| {
            let message = format!("{e}\ndelete the file to start over; your exercises are kept");
            Error::format(&path, message)
        })
    }

    /// Saves it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, workplace: &Path) -> Result<(), Error> {
        let path = workplace.join(FILE);
        let text = toml::to_string(self).map_err(|e| Error::format(&path, e))?;
        // All or nothing: a learner may end the program at any time.
        let new = path.with_extension("new");
        write(&new, &text)?;
        std::fs::rename(&new, &path).map_err(|e| Error::io("write", &path, e))
    }
}

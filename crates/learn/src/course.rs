//! A course: a folder of exercises, in the order of their names.

use crate::error::Error;
use crate::exercise::Exercise;
use ptx::suggest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Exercises in teaching order.
#[derive(Clone, Debug)]
pub struct Course {
    /// Their folder.
    pub dir: PathBuf,
    /// At least one.
    pub exercises: Vec<Exercise>,
    /// Folders with a broken exercise, by name, and why it is broken. The others remain usable.
    pub broken: BTreeMap<String, String>,
}

impl Course {
    /// All exercises in a folder: its subfolders with an `exercise.toml`.
    ///
    /// # Errors
    ///
    /// The folder has no valid exercise.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let entries = std::fs::read_dir(dir).map_err(|e| Error::io("read the folder", dir, e))?;
        let mut dirs: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        dirs.retain(|dir| dir.join("exercise.toml").is_file());
        dirs.sort();
        let (mut exercises, mut broken) = (Vec::new(), BTreeMap::new());
        for dir in &dirs {
            match Exercise::open(dir) {
                Ok(exercise) => exercises.push(exercise),
                Err(error) => {
                    let name = dir.file_name().unwrap_or_default().to_string_lossy();
                    broken.insert(name.into_owned(), error.to_string());
                }
            }
        }
        if exercises.is_empty() {
            let none = "there is no exercise here: no subfolder has an exercise.toml";
            let why = broken.into_values().next();
            return Err(why.map_or_else(|| Error::format(dir, none), Error::NoExercise));
        }
        let dir = dir.canonicalize().map_err(|e| Error::io("find", dir, e))?;
        Ok(Self {
            dir,
            exercises,
            broken,
        })
    }

    /// The place of the exercise that a learner names: by its name, its number, or a part of its
    /// name that no other has.
    ///
    /// # Errors
    ///
    /// There is none, there are several, or it is broken.
    pub fn find(&self, words: &str) -> Result<usize, Error> {
        let words = words.trim().trim_end_matches(".rs").to_lowercase();
        let place = |is_meant: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let all = self.exercises.iter().enumerate();
            all.filter(|(_, exercise)| is_meant(&exercise.name))
                .map(|(place, _)| place)
                .collect()
        };
        let number = words.parse::<u32>().ok();
        let number_of = |name: &str| name.split('_').next().and_then(|n| n.parse::<u32>().ok());
        let attempts: [&dyn Fn(&str) -> bool; 3] = [
            &|name| name == words,
            &|name| number.is_some() && number_of(name) == number,
            &|name| number.is_none() && !words.is_empty() && name.contains(&words),
        ];
        for attempt in attempts {
            match place(attempt).as_slice() {
                [] => {}
                [one] => return Ok(*one),
                several => {
                    let names: Vec<&str> = several
                        .iter()
                        .map(|&place| self.exercises[place].name.as_str())
                        .collect();
                    return Err(Error::NoExercise(format!(
                        "`{words}` is part of several names: {}",
                        names.join(", ")
                    )));
                }
            }
        }
        let is_meant = |name: &str| attempts.iter().any(|attempt| attempt(name));
        let mut broken = self.broken.iter().filter(|(name, _)| is_meant(name));
        let why = broken.next().map(|(_, why)| why.clone());
        Err(Error::NoExercise(why.unwrap_or_else(|| {
            let meant = suggest::question(self.near(&words));
            format!(
                "there is no exercise `{words}`{meant} (`cargo xtask learn list` shows them all)"
            )
        })))
    }

    /// The exercise whose name, or a word of it, is spelt most like this.
    fn near(&self, words: &str) -> Option<&str> {
        let all = self.exercises.iter().map(|exercise| exercise.name.as_str());
        let parts = all.clone().flat_map(|name| name.split('_'));
        let part = suggest::nearest(words, parts.chain(all.clone()))?;
        all.clone().find(|name| name.contains(part))
    }
}

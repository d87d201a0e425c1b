//! A new exercise, which works at once: to be changed bit by bit into another one.

use crate::error::{Error, write};
use std::path::Path;

/// What is made, by path in the exercise's folder.
pub const FILES: [(&str, &str); 5] = [
    (
        "exercise.toml",
        "what is asked, the launch, what is right and what it may cost",
    ),
    ("exercise.rs", "the kernel with the gap"),
    ("solution.rs", "one that passes"),
    (
        "reference.rs",
        "one that is plainly right, for the expected results",
    ),
    ("cheats/one_thread.rs", "one that must not pass"),
];

const TEXTS: [&str; 5] = [
    include_str!("scaffold/exercise.toml"),
    include_str!("scaffold/exercise.rs"),
    include_str!("scaffold/solution.rs"),
    include_str!("scaffold/reference.rs"),
    include_str!("scaffold/cheat.rs"),
];

/// Makes an exercise in a folder, which must be new or empty.
///
/// # Errors
///
/// Something is there, or the folder's name is none for an exercise; files that cannot be
/// written.
pub fn make(dir: &Path) -> Result<(), Error> {
    crate::exercise::check_name(dir)?;
    let is_empty = |dir: &Path| dir.read_dir().is_ok_and(|mut files| files.next().is_none());
    if dir.exists() && !is_empty(dir) {
        return Err(Error::NotNow(format!(
            "{} is there already; name another folder",
            dir.display()
        )));
    }
    for ((file, _), text) in FILES.iter().zip(TEXTS) {
        write(&dir.join(file), text)?;
    }
    Ok(())
}

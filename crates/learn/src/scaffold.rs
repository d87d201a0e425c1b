//! A new exercise that works at once, to be changed step by step into another one.

use crate::error::{Error, write};
use std::path::Path;

/// What is made, by path in the exercise's folder.
pub const FILES: [(&str, &str); 5] = [
    (
        "exercise.toml",
        "the task, the launch, what is right and what it may cost",
    ),
    ("exercise.rs", "the kernel with the gap"),
    ("solution.rs", "a kernel that passes"),
    (
        "reference.rs",
        "a plainly correct kernel, for the expected results",
    ),
    ("cheats.rs", "kernels that must not pass"),
];

const TEXTS: [&str; 5] = [
    include_str!("scaffold/exercise.toml"),
    include_str!("scaffold/exercise.rs"),
    include_str!("scaffold/solution.rs"),
    include_str!("scaffold/reference.rs"),
    include_str!("scaffold/cheats.rs"),
];

/// Makes an exercise in a folder, which must be new or empty.
///
/// # Errors
///
/// The folder is not empty, its name does not suit an exercise, or a file cannot be written.
pub fn make(dir: &Path) -> Result<(), Error> {
    crate::exercise::check_name(dir)?;
    let is_empty = |dir: &Path| dir.read_dir().is_ok_and(|mut files| files.next().is_none());
    if dir.exists() && !is_empty(dir) {
        return Err(Error::NotNow(format!(
            "{} already exists; name another folder",
            dir.display()
        )));
    }
    for ((file, _), text) in FILES.iter().zip(TEXTS) {
        write(&dir.join(file), text)?;
    }
    Ok(())
}

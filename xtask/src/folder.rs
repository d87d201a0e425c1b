//! Check of an output folder that the user names, before the work begins.

use crate::ending::usage;
use anyhow::Context;
use std::path::Path;

/// Checks that the folder can be written to, or created. Changes nothing.
///
/// # Errors
///
/// It cannot, so the command line is wrong.
pub fn check(dir: &Path) -> anyhow::Result<()> {
    let dir = std::path::absolute(dir).context("the folder has no path")?;
    let existing = dir.ancestors().find(|dir| dir.exists());
    let existing = existing.unwrap_or(Path::new("/"));
    if !existing.is_dir() {
        return Err(usage(format!(
            "{} is not a folder; name another one",
            existing.display()
        )));
    }
    let mut trial = tempfile::Builder::new();
    match trial.prefix(".lockstep-").tempfile_in(existing) {
        Ok(_) => Ok(()),
        Err(_) if existing == dir => Err(usage(format!(
            "{} cannot be written to; name another folder",
            dir.display()
        ))),
        Err(_) => Err(usage(format!(
            "{} cannot be created: {} cannot be written to; name another folder",
            dir.display(),
            existing.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_folder_is_looked_at_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        check(dir.path()).unwrap();
        check(&dir.path().join("new/and/newer")).unwrap();
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        for wrong in [&file, &file.join("below")] {
            let error = check(wrong).unwrap_err().to_string();
            assert!(error.contains("file is not a folder"), "{error}");
        }
    }
}

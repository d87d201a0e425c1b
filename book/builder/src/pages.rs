//! mdBook's run.

use anyhow::{Context, bail};
use mdbook_driver::MDBook;
use std::fs;
use std::path::{Path, PathBuf};

/// The file by which a folder is known to be a book that was made before.
const MARK: &str = "book.js";

/// Puts the book together in a folder beside the chapters, and makes pages of it in `out`. `parts`
/// are files for the theme, by their names there.
pub fn make(
    book: &Path,
    chapters: &Path,
    parts: &[(PathBuf, &str)],
    out: &Path,
) -> anyhow::Result<()> {
    let is_empty =
        |dir: &Path| fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_none());
    let is_ours = fs::read_dir(out).is_ok_and(|entries| {
        let names = entries.flatten().map(|entry| entry.file_name());
        names.into_iter().any(|name| {
            let name = name.to_string_lossy().into_owned();
            name == MARK || name.starts_with("book-") && name.ends_with(".js")
        })
    });
    if !is_empty(out) && !is_ours {
        // mdBook empties it.
        bail!(
            "{} is not empty, and no book: name a new folder",
            out.display()
        );
    }
    let stage = chapters.with_extension("stage");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    copy(chapters, &stage.join("src"))?;
    copy(&book.join("theme"), &stage.join("theme"))?;
    for (part, name) in parts {
        fs::copy(part, stage.join("theme").join(name))
            .with_context(|| format!("{} cannot be copied", part.display()))?;
    }
    fs::copy(book.join("book.toml"), stage.join("book.toml"))?;
    let mut pages = MDBook::load(&stage)?;
    pages.config.build.build_dir = std::path::absolute(out)?;
    pages.build()?;
    fs::remove_dir_all(&stage)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    let entries =
        fs::read_dir(from).with_context(|| format!("{} cannot be read", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.extension().is_none_or(|extension| extension != "ptx") {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

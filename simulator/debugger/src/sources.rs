//! The text of source files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Finds source files, whose names are as the compiler wrote them.
#[derive(Default)]
pub struct Sources {
    /// Folders that names may be relative to.
    folders: Vec<PathBuf>,
    known: RefCell<HashMap<String, Option<Rc<Vec<String>>>>>,
}

impl Sources {
    /// In these folders, and in the working directory.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut folders: Vec<PathBuf> = folders.into_iter().collect();
        folders.extend(std::env::current_dir());
        Self {
            folders,
            known: RefCell::default(),
        }
    }

    /// Where a file is, if it is there.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let mut all = self.folders.iter().map(|folder| folder.join(name));
        all.find(|path| path.is_file())
            .or_else(|| Some(PathBuf::from(name)).filter(|path| path.is_file()))
            .or_else(|| self.by_its_end(name))
    }

    /// A file whose name ends as this one does: of a compiler that ran elsewhere.
    fn by_its_end(&self, name: &str) -> Option<PathBuf> {
        let parts: Vec<_> = Path::new(name).components().collect();
        let ends =
            (1..parts.len().saturating_sub(1)).map(|n| parts[n..].iter().collect::<PathBuf>());
        let mut all = ends.flat_map(|end| {
            let end = end.clone();
            self.folders.iter().map(move |folder| folder.join(&end))
        });
        all.find(|path| path.is_file())
    }

    /// A line of a file, from 1.
    pub fn line(&self, name: &str, line: u32) -> Option<String> {
        let lines = self.lines(name)?;
        lines.get(line.checked_sub(1)? as usize).cloned()
    }

    /// All lines of a file.
    pub fn lines(&self, name: &str) -> Option<Rc<Vec<String>>> {
        let mut known = self.known.borrow_mut();
        let read = || {
            let text = std::fs::read_to_string(self.path(name)?).ok()?;
            Some(Rc::new(text.lines().map(str::to_owned).collect()))
        };
        known.entry(name.to_owned()).or_insert_with(read).clone()
    }
}

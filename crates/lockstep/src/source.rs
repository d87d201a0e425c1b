//! Source lines of kernels: the line that an instruction comes from, among those that it was
//! inlined through, and the line's text if available.

use ptx_sim::InstructionCounts;
use ptx_sim::diagnostics::Source;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Path, relative to the workspace's root.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

impl Place {
    /// `01_tiles.rs:178`.
    pub fn short(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        // A file named `mod.rs` says nothing without its folder.
        let from = if name == "mod.rs" {
            let folder = self.file[..self.file.len() - name.len()].trim_end_matches('/');
            folder.rfind('/').map_or(0, |at| at + 1)
        } else {
            self.file.len() - name.len()
        };
        format!("{}:{}", &self.file[from..], self.line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl From<&Source> for Place {
    fn from(source: &Source) -> Self {
        Self {
            file: source.file.clone(),
            line: source.line,
        }
    }
}

/// The line of the kernel's own source ([`own_place`]), and the line that the instruction was
/// written on, if it is another. `file` is the kernel's own.
pub fn places(counted: &InstructionCounts, file: &str) -> (Option<Place>, Option<Place>) {
    places_of(counted.loc.as_ref(), &counted.inlined_at, file)
}

/// The same for an instruction's line and the calls that it was inlined at, innermost first.
pub fn places_of(
    loc: Option<&Source>,
    inlined_at: &[Source],
    file: &str,
) -> (Option<Place>, Option<Place>) {
    let own = own_source(loc, inlined_at, file).map(Place::from);
    let first = loc.or(inlined_at.first()).map(Place::from);
    let written_at = first.filter(|first| Some(first) != own.as_ref());
    (own, written_at)
}

/// Source texts, each read once.
pub(crate) struct Texts<'p> {
    folders: Vec<&'p Path>,
    /// By path from the folders; `None` for a file that is in none of them.
    read: BTreeMap<String, Option<String>>,
}

impl<'p> Texts<'p> {
    /// Of files in these folders; the first folder that has a file wins.
    pub(crate) fn of(folders: impl IntoIterator<Item = &'p Path>) -> Self {
        Self {
            folders: folders.into_iter().collect(),
            read: BTreeMap::new(),
        }
    }

    /// A line, numbered from 1, of a file, by its path from the folders.
    pub(crate) fn line(&mut self, file: &str, line: u32) -> Option<String> {
        if !self.read.contains_key(file) {
            let mut folders = self.folders.iter();
            let text = folders.find_map(|folder| std::fs::read_to_string(folder.join(file)).ok());
            self.read.insert(file.to_owned(), text);
        }
        let text = self.read.get(file)?.as_ref()?;
        let index = (line as usize).checked_sub(1)?;
        text.lines().nth(index).map(|line| line.trim().to_owned())
    }
}

/// Where an instruction comes from: of the lines that it was inlined through, the innermost in the
/// kernel's own file, otherwise in its crate, otherwise anywhere.
pub fn own_place<'a>(counted: &'a InstructionCounts, file: &str) -> Option<&'a Source> {
    own_source(counted.loc.as_ref(), &counted.inlined_at, file)
}

/// The same for an instruction's line and the calls that it was inlined at, innermost first.
pub fn own_source<'a>(
    loc: Option<&'a Source>,
    inlined_at: &'a [Source],
    file: &str,
) -> Option<&'a Source> {
    let chain = || loc.into_iter().chain(inlined_at);
    let folder = match file.find("src/") {
        Some(at) => &file[..at + "src/".len()],
        None => file,
    };
    chain()
        .find(|place| place.file == file)
        .or_else(|| chain().find(|place| place.file.starts_with(folder)))
        .or_else(|| chain().next())
}

#[cfg(test)]
mod tests {
    use super::Texts;
    use std::path::Path;

    #[test]
    fn a_file_is_read_once_from_the_first_folder_that_has_it() {
        let own = std::env::temp_dir().join(format!("lockstep-texts-{}", std::process::id()));
        std::fs::create_dir(&own).expect("a folder");
        let file = own.join("kernel.rs");
        std::fs::write(&file, "first\n    second\n").expect("a file");
        let mut texts = Texts::of([Path::new("/nowhere"), &own]);
        assert_eq!(texts.line("kernel.rs", 1).as_deref(), Some("first"));
        assert_eq!(texts.line("missing.rs", 1), None);
        std::fs::remove_dir_all(&own).expect("it is there");
        assert_eq!(texts.line("kernel.rs", 2).as_deref(), Some("second"));
        assert_eq!(
            [0, 3].map(|line| texts.line("kernel.rs", line)),
            [None, None]
        );
    }
}

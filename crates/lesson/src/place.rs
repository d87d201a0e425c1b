//! Where an instruction comes from: a line of the kernel's own source, found among
//! the lines that it was inlined through.

use lockstep::counts::InstructionCounts;
use ptx_sim::diagnostics::Source;
use serde::Serialize;
use std::fmt;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Path, relative to the repository.
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

/// The line of the kernel's own source, and the one that the instruction was
/// written on if it is another. `source` is the lesson's file.
pub fn places(counted: &InstructionCounts, source: &str) -> (Option<Place>, Option<Place>) {
    places_of(counted.loc.as_ref(), &counted.inlined_at, source)
}

/// The same of an instruction's line, and of the calls that it was inlined at, the innermost
/// first.
pub fn places_of(
    loc: Option<&Source>,
    inlined_at: &[Source],
    source: &str,
) -> (Option<Place>, Option<Place>) {
    let place = |source: &Source| Place {
        file: source.file.clone(),
        line: source.line,
    };
    let own = lockstep::own_source(loc, inlined_at, source).map(place);
    let first = loc.or(inlined_at.first()).map(place);
    let written_at = first.filter(|first| Some(first) != own.as_ref());
    (own, written_at)
}

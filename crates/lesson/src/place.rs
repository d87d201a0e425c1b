//! Where an instruction comes from: a line of the kernel's own source, found among
//! the lines that it was inlined through.

use lockstep::counts::InstructionCounts;
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
    /// `transpose.rs:178`.
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
    let chain: Vec<Place> = counted
        .loc
        .iter()
        .chain(&counted.inlined_at)
        .map(|loc| Place {
            file: loc.file.clone(),
            line: loc.line,
        })
        .collect();
    // The innermost line of the lesson's file, or of its neighbours.
    let folder = &source[..source.find("/src/").map_or(0, |at| at + 1)];
    let own = chain
        .iter()
        .find(|place| place.file == source)
        .or_else(|| chain.iter().find(|place| place.file.starts_with(folder)))
        .or(chain.first());
    let written_at = chain.first().filter(|first| Some(*first) != own);
    (own.cloned(), written_at.cloned())
}

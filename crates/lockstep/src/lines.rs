//! A launch's memory work by source line.

use crate::counts::InstructionCounts;
use crate::source::{Texts, own_place};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The memory work of a source line, summed over all launches and instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The file's path from the workspace's root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Its text, if the source is available.
    pub text: Option<String>,
    /// Shared memory: warp instructions.
    pub shared_requests: u64,
    /// Shared memory: bank conflicts.
    pub conflicts: u64,
    /// Shared memory: the largest number of lanes that met in one bank.
    pub ways: u32,
    /// Global memory: warp loads.
    pub load_requests: u64,
    /// Global memory: 32-byte sectors of loads.
    pub load_sectors: u64,
    /// Global memory: warp stores.
    pub store_requests: u64,
    /// Global memory: 32-byte sectors of stores.
    pub store_sectors: u64,
    /// Local memory: 32-byte sectors of loads and stores.
    pub local_sectors: u64,
    /// Memory of other devices: bytes loaded and stored over a link, which are among the global ones
    /// as well.
    pub link_bytes: u64,
}

impl Line {
    fn work(&self) -> u64 {
        self.shared_requests
            + self.conflicts
            + self.load_sectors
            + self.store_sectors
            + self.local_sectors
    }

    /// Adds the work of the same line in another launch.
    pub fn merge(&mut self, other: &Self) {
        self.shared_requests += other.shared_requests;
        self.conflicts += other.conflicts;
        self.ways = self.ways.max(other.ways);
        self.load_requests += other.load_requests;
        self.load_sectors += other.load_sectors;
        self.store_requests += other.store_requests;
        self.store_sectors += other.store_sectors;
        self.local_sectors += other.local_sectors;
        self.link_bytes += other.link_bytes;
    }

    fn add(&mut self, counted: &InstructionCounts) {
        let counts = &counted.counts;
        self.shared_requests += counts.shared_load_requests
            + counts.shared_store_requests
            + counts.shared_atomic_requests
            + counts.ldmatrix_requests
            + counts.stmatrix_requests
            + counts.async_copy_requests;
        self.conflicts += counted.conflicts;
        self.ways = self.ways.max(counted.max_way);
        self.load_requests += counts.global_load_requests;
        self.load_sectors += counts.global_load_sectors;
        self.store_requests += counts.global_store_requests;
        self.store_sectors += counts.global_store_sectors;
        self.local_sectors += counts.local_load_sectors + counts.local_store_sectors;
        self.link_bytes += counts.peer_load_bytes + counts.peer_store_bytes;
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match &self.text {
            Some(text) => write!(f, "  {text}"),
            None => Ok(()),
        }
    }
}

/// The lines that access memory, the most work first. `file` is the kernel's own file.
pub(crate) fn of(
    instructions: &[InstructionCounts],
    file: &str,
    sources: Option<&Path>,
) -> Vec<Line> {
    let mut lines: BTreeMap<(&str, u32), Line> = BTreeMap::new();
    for counted in instructions {
        let Some(place) = own_place(counted, file) else {
            continue;
        };
        let line = lines.entry((&place.file, place.line)).or_default();
        line.add(counted);
    }
    let mut texts = Texts::of([sources.unwrap_or(Path::new(""))]);
    let mut lines: Vec<Line> = lines
        .into_iter()
        .map(|((file, number), line)| Line {
            file: file.to_owned(),
            line: number,
            ..line
        })
        .filter(|line| line.work() != 0)
        .map(|line| Line {
            text: texts.line(&line.file, line.line),
            ..line
        })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.work()));
    lines
}

//! The output printed by the threads of a launch.

use std::sync::{Mutex, PoisonError};

/// The lines that threads printed, in order.
#[derive(Default)]
pub(crate) struct Printed {
    lines: Mutex<Vec<Line>>,
}

/// A line, and the thread that printed it.
struct Line {
    ctaid: [u32; 3],
    warp: u32,
    lane: u32,
    text: String,
}

impl Printed {
    /// Keeps what a thread of a warp printed.
    pub fn add(&self, ctaid: [u32; 3], (warp, lane): (u32, u32), text: String) {
        /// Lines kept; more are dropped.
        const LIMIT: usize = 1 << 16;
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < LIMIT {
            lines.push(Line {
                ctaid,
                warp,
                lane,
                text,
            });
        }
    }

    /// What a thread printed last, if anything.
    pub fn last_of(&self, ctaid: [u32; 3], (warp, lane): (u32, u32)) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut latest_first = lines.iter().rev();
        let last = latest_first.find(|l| (l.ctaid, l.warp, l.lane) == (ctaid, warp, lane))?;
        Some(last.text.trim_end().to_owned())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.len()
    }

    /// Forgets all but the first `n`.
    pub fn truncate(&self, n: usize) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.truncate(n);
    }

    /// Those from the `first` on.
    pub fn from(&self, first: usize) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.iter().skip(first);
        lines.map(|line| line.text.clone()).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.is_empty()
    }

    /// All lines.
    pub fn into_lines(self) -> Vec<String> {
        let lines = self.lines.into_inner();
        let lines = lines.unwrap_or_else(PoisonError::into_inner);
        lines.into_iter().map(|line| line.text).collect()
    }
}

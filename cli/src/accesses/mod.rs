//! Single memory accesses: one instruction of one warp, and what it costs.
//!
//! The simulator's counts stand or fall with the rules in [`ptx_sim::count`].
//! Here those rules are checked against the hardware: a [`Case`] is one instruction, 32 lane
//! offsets and a mask, with what a GPU's counters recorded for it.
//!
//! Reading order: this file; [`mod@file`], cases as CSV; [`rules`], the rules'
//! prediction for a case; [`instructions`], the instructions and the PTX that executes
//! one; [`patterns`], random fresh cases; [`measure`], running them.

pub mod file;
pub mod instructions;
pub mod measure;
pub mod patterns;
pub mod rules;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// One access by one warp, and what was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The PTX instruction: `ld.shared.v2.u32`.
    pub instruction: String,
    /// Bytes that a lane accesses; for matrices, of the row that it points to.
    pub bytes: u32,
    /// Lane `l` takes part if bit `l` is set.
    pub mask: u32,
    /// Where each lane accesses, in bytes from a base that is a multiple of 64 KiB.
    pub offsets: [u32; LANES],
    /// What was counted.
    pub counted: Counted,
}

/// The measured figures: passes through the banks of shared memory, and those that
/// bank conflicts add; requests to global memory (local memory for `ld.local` and
/// `st.local`), and 32-byte sectors.
pub const FIGURES: [&str; 4] = [
    "shared_wavefronts",
    "shared_bank_conflicts",
    "global_requests",
    "global_sectors",
];

/// The counts of one access, by [`FIGURES`]; `None` where the instruction does not have
/// the figure, or it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted(pub [Option<u64>; FIGURES.len()]);

impl Counted {
    /// Wavefronts and conflicts, and no other figures.
    pub const fn shared(wavefronts: u64, conflicts: u64) -> Self {
        Self([Some(wavefronts), Some(conflicts), None, None])
    }

    /// Requests and sectors, and no figures of shared memory.
    pub const fn global(requests: u64, sectors: u64) -> Self {
        Self([None, None, Some(requests), Some(sectors)])
    }

    /// The measured figures that differ: column, expected, got.
    pub fn differences(&self, got: &Self) -> Vec<(&'static str, u64, Option<u64>)> {
        let figures = FIGURES.into_iter().zip(self.0).zip(got.0);
        figures
            .filter_map(|((column, expected), got)| Some((column, expected?, got)))
            .filter(|&(_, expected, got)| got != Some(expected))
            .collect()
    }
}

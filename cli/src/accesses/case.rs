//! One access and what it costs.

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

/// The columns that were measured. An instruction without such a side leaves
/// them empty.
pub const FIGURES: [&str; 4] = [
    "shared_wavefronts",
    "shared_bank_conflicts",
    "global_requests",
    "global_sectors",
];

/// What was counted for one access; `None` where the instruction has no such
/// side, or it was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// In shared memory.
    pub shared: Option<Shared>,
    /// In global memory, or local memory for `ld.local` and `st.local`.
    pub global: Option<Global>,
}

/// What an access costs in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Passes through the banks.
    pub wavefronts: u64,
    /// Passes that bank conflicts add.
    pub conflicts: u64,
}

/// What an access costs in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Global {
    /// 1 if any lane takes part.
    pub requests: u64,
    /// 32-byte sectors.
    pub sectors: u64,
}

impl Counted {
    /// The measured figures that differ: column, expected, got.
    pub fn differences(&self, got: &Self) -> Vec<(&'static str, u64, Option<u64>)> {
        let [a, b, c, d] = FIGURES;
        let shared = |of: &Self| of.shared.map(|s| (s.wavefronts, s.conflicts));
        let global = |of: &Self| of.global.map(|g| (g.requests, g.sectors));
        let mut differences = Vec::new();
        for (columns, expected, got) in [
            ([a, b], shared(self), shared(got)),
            ([c, d], global(self), global(got)),
        ] {
            let Some(expected) = expected else { continue };
            let figures = [
                (columns[0], expected.0, got.map(|got| got.0)),
                (columns[1], expected.1, got.map(|got| got.1)),
            ];
            differences.extend(
                figures
                    .into_iter()
                    .filter(|&(_, expected, got)| got != Some(expected)),
            );
        }
        differences
    }
}

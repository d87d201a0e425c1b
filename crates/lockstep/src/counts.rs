//! The memory work of a launch, and the ratios lessons make claims about.

use std::fmt;

pub use ptx_sim::{Counts, InstructionCounts};

/// Memory is read and written by sectors of this many bytes.
pub const SECTOR_BYTES: u64 = 32;

/// How a [`Metric`] is computed from counts.
struct Definition {
    words: &'static str,
    short: &'static str,
    part: fn(&Counts) -> u64,
    /// `None` for a total over a launch.
    whole: Option<fn(&Counts) -> u64>,
}

macro_rules! metrics {
    ($($name:ident: $words:literal, $short:literal, $part:expr $(, per $whole:expr)?;)*) => {
        /// A figure computed from counts, comparable between sizes. Requests are counted per warp.
        /// A coalescing degree is the share of the sectors' bytes that was requested; lanes that
        /// read the same word request it once.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Metric {
            $(#[doc = $words] $name),*
        }

        impl Metric {
            fn definition(self) -> Definition {
                match self {
                    $(Self::$name => {
                        let whole: &[fn(&Counts) -> u64] = &[$($whole)?];
                        let whole = whole.first().copied();
                        Definition { words: $words, short: $short, part: $part, whole }
                    })*
                }
            }
        }
    };
}

metrics! {
    SharedLoadConflictsPerRequest: "bank conflicts per shared load request", "conflicts/shared load",
        |c| c.shared_load_conflicts, per |c| c.shared_load_requests;
    SharedStoreConflictsPerRequest: "bank conflicts per shared store request", "conflicts/shared store",
        |c| c.shared_store_conflicts, per |c| c.shared_store_requests;
    AsyncCopyConflictsPerRequest: "bank conflicts per asynchronous copy", "conflicts/asynchronous copy",
        |c| c.async_copy_conflicts, per |c| c.async_copy_requests;
    SharedLoadConflicts: "bank conflicts of shared loads", "shared load conflicts",
        |c| c.shared_load_conflicts;
    SharedStoreConflicts: "bank conflicts of shared stores", "shared store conflicts",
        |c| c.shared_store_conflicts;
    LdmatrixConflicts: "bank conflicts of ldmatrix", "ldmatrix conflicts",
        |c| c.ldmatrix_conflicts;
    StmatrixConflicts: "bank conflicts of stmatrix", "stmatrix conflicts",
        |c| c.stmatrix_conflicts;
    GlobalLoadSectorsPerRequest: "sectors per global load request", "sectors/load",
        |c| c.global_load_sectors, per |c| c.global_load_requests;
    GlobalStoreSectorsPerRequest: "sectors per global store request", "sectors/store",
        |c| c.global_store_sectors, per |c| c.global_store_requests;
    GlobalLoadDegreePercent: "coalescing degree of global loads in percent", "% of loaded bytes used",
        |c| 100 * c.global_load_bytes, per |c| SECTOR_BYTES * c.global_load_sectors;
    GlobalStoreDegreePercent: "coalescing degree of global stores in percent", "% of stored bytes used",
        |c| 100 * c.global_store_bytes, per |c| SECTOR_BYTES * c.global_store_sectors;
    LocalSectors: "sectors of local memory", "local sectors", local_sectors;
    LocalSectorsPerRequest: "sectors per local memory request", "sectors/local access",
        local_sectors, per |c| c.local_load_requests + c.local_store_requests;
}

impl Metric {
    /// The metric's value; `None` if it is a ratio and its denominator is zero.
    pub fn of(self, counts: &Counts) -> Option<f64> {
        let Definition { part, whole, .. } = self.definition();
        let whole = whole.map_or(1, |whole| whole(counts));
        (whole != 0).then(|| part(counts) as f64 / whole as f64)
    }

    /// Whether it is a total over a launch rather than a ratio.
    pub fn is_total(self) -> bool {
        self.definition().whole.is_none()
    }

    /// A short name, for tables.
    pub fn short(self) -> &'static str {
        self.definition().short
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.definition().words)
    }
}

/// Sectors of local memory, loads and stores together.
pub fn local_sectors(counts: &Counts) -> u64 {
    counts.local_load_sectors + counts.local_store_sectors
}

/// Wavefronts of shared memory: passes through its banks, over all loads, stores, atomics and
/// copies.
pub fn shared_wavefronts(counts: &Counts) -> u64 {
    counts.shared_load_wavefronts
        + counts.shared_store_wavefronts
        + counts.shared_atomic_wavefronts
        + counts.ldmatrix_wavefronts
        + counts.stmatrix_wavefronts
        + counts.async_copy_wavefronts
}

/// Wavefronts beyond those that the bytes need.
pub fn bank_conflicts(counts: &Counts) -> u64 {
    counts.shared_load_conflicts
        + counts.shared_store_conflicts
        + counts.shared_atomic_conflicts
        + counts.ldmatrix_conflicts
        + counts.stmatrix_conflicts
        + counts.async_copy_conflicts
}

/// A claim of the catalogue about a kernel's counts, which must hold exactly.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// The metric.
    pub metric: Metric,
    /// Its exact value; `None` claims that nothing is requested.
    pub value: Option<f64>,
}

impl Expectation {
    /// `metric` is exactly `value`.
    pub const fn exactly(metric: Metric, value: f64) -> Self {
        Self {
            metric,
            value: Some(value),
        }
    }

    /// Whether a launch's counts match the claim.
    pub fn holds(&self, counts: &Counts) -> bool {
        // Both are quotients of whole numbers below 2^53, so equal means equal.
        self.metric.of(counts) == self.value
    }
}

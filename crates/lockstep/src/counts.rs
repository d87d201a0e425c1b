//! What a launch cost in memory work, and the ratios lessons make claims about.

use std::fmt;

pub use ptx_sim::{Counts, InstructionCounts, Report};

/// Memory is read and written by sectors of so many bytes.
const SECTOR_BYTES: u64 = 32;

/// A figure made of counts, comparable between sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Bank conflicts of shared loads, a warp request.
    SharedLoadConflictsPerRequest,
    /// Bank conflicts of shared stores, a warp request.
    SharedStoreConflictsPerRequest,
    /// Bank conflicts of asynchronous copies, a warp request.
    AsyncCopyConflictsPerRequest,
    /// Bank conflicts of shared loads, all of the launch.
    SharedLoadConflicts,
    /// Bank conflicts of shared stores, all of the launch.
    SharedStoreConflicts,
    /// Bank conflicts of `ldmatrix`, all of the launch.
    LdmatrixConflicts,
    /// Bank conflicts of `stmatrix`, all of the launch.
    StmatrixConflicts,
    /// 32-byte sectors of global loads, a warp request.
    GlobalLoadSectorsPerRequest,
    /// 32-byte sectors of global stores, a warp request.
    GlobalStoreSectorsPerRequest,
    /// Coalescing degree of global loads, in percent: bytes asked for, of the
    /// sectors' bytes. Lanes that read the same word ask for it once.
    GlobalLoadDegreePercent,
    /// Coalescing degree of global stores, in percent.
    GlobalStoreDegreePercent,
    /// Sectors of local memory, loads and stores.
    LocalSectors,
    /// Sectors of local memory, a warp request, loads and stores.
    LocalSectorsPerRequest,
}

impl Metric {
    /// Its value. `None` when nothing was requested that it could be a share of.
    pub fn of(self, counts: &Counts) -> Option<f64> {
        let share = |part: u64, whole: u64| (whole != 0).then(|| part as f64 / whole as f64);
        match self {
            Self::SharedLoadConflictsPerRequest => {
                share(counts.shared_load_conflicts, counts.shared_load_requests)
            }
            Self::SharedStoreConflictsPerRequest => {
                share(counts.shared_store_conflicts, counts.shared_store_requests)
            }
            Self::AsyncCopyConflictsPerRequest => {
                share(counts.async_copy_conflicts, counts.async_copy_requests)
            }
            Self::GlobalLoadSectorsPerRequest => {
                share(counts.global_load_sectors, counts.global_load_requests)
            }
            Self::GlobalStoreSectorsPerRequest => {
                share(counts.global_store_sectors, counts.global_store_requests)
            }
            Self::SharedLoadConflicts => Some(counts.shared_load_conflicts as f64),
            Self::SharedStoreConflicts => Some(counts.shared_store_conflicts as f64),
            Self::LdmatrixConflicts => Some(counts.ldmatrix_conflicts as f64),
            Self::StmatrixConflicts => Some(counts.stmatrix_conflicts as f64),
            Self::GlobalLoadDegreePercent => share(
                100 * counts.global_load_bytes,
                SECTOR_BYTES * counts.global_load_sectors,
            ),
            Self::GlobalStoreDegreePercent => share(
                100 * counts.global_store_bytes,
                SECTOR_BYTES * counts.global_store_sectors,
            ),
            Self::LocalSectorsPerRequest => share(
                counts.local_load_sectors + counts.local_store_sectors,
                counts.local_load_requests + counts.local_store_requests,
            ),
            Self::LocalSectors => {
                Some((counts.local_load_sectors + counts.local_store_sectors) as f64)
            }
        }
    }

    /// Whether it is a sum over a launch, and no share.
    pub const fn is_total(self) -> bool {
        matches!(
            self,
            Self::SharedLoadConflicts
                | Self::SharedStoreConflicts
                | Self::LdmatrixConflicts
                | Self::StmatrixConflicts
                | Self::LocalSectors
        )
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SharedLoadConflictsPerRequest => "bank conflicts per shared load request",
            Self::SharedStoreConflictsPerRequest => "bank conflicts per shared store request",
            Self::AsyncCopyConflictsPerRequest => "bank conflicts per asynchronous copy",
            Self::GlobalLoadSectorsPerRequest => "sectors per global load request",
            Self::GlobalStoreSectorsPerRequest => "sectors per global store request",
            Self::SharedLoadConflicts => "bank conflicts of shared loads",
            Self::SharedStoreConflicts => "bank conflicts of shared stores",
            Self::LdmatrixConflicts => "bank conflicts of ldmatrix",
            Self::StmatrixConflicts => "bank conflicts of stmatrix",
            Self::GlobalLoadDegreePercent => "coalescing degree of global loads in percent",
            Self::GlobalStoreDegreePercent => "coalescing degree of global stores in percent",
            Self::LocalSectors => "sectors of local memory",
            Self::LocalSectorsPerRequest => "sectors per local memory request",
        })
    }
}

/// A claim of the catalogue about a kernel's counts, exact by rule.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// Of what.
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

    /// Whether the counts of a launch are as claimed.
    pub fn holds(&self, counts: &Counts) -> bool {
        // Both are quotients of whole numbers below 2^53, so equal means equal.
        self.metric.of(counts) == self.value
    }
}

//! A finding of the checks, as moments of the launch.

use std::ops::Range;

use crate::checks::finding::{Finding, Side, Spot};
use crate::diagnostics::LaunchError;
use ptx::ir::Space;

/// What the checks find in a launch, and when it happens.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// What they report.
    pub error: LaunchError,
    /// The thread that it is reported for.
    pub this: Party,
    /// The other one: of a race, the thread with the earlier access; of a copy in flight, the one
    /// that started it; of a value that a shuffle has got from nowhere, the one that uses it.
    pub other: Option<Party>,
    /// The memory that it is about: the space, the number of the block that owns it if it is
    /// shared, and the addresses.
    pub memory: Option<(Space, u64, Range<u64>)>,
}

/// A thread that has to do with a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Party {
    /// When it is about to do it.
    pub time: u64,
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lane.
    pub lane: u32,
}

/// The parts of a finding: where in memory, who, and who else.
pub(super) fn parts(finding: &Finding) -> (Option<Spot>, Side, Option<Side>) {
    let this = *finding.this();
    let (at, other) = match *finding {
        Finding::Race { at, other, .. } | Finding::NotConstant { at, other, .. } => {
            (Some(at), Some(other))
        }
        Finding::Unwritten { at, .. }
        | Finding::Pending { at, .. }
        | Finding::MayHaveEnded { at, .. } => (Some(at), None),
        Finding::InFlight { at, copy, .. } => (Some(at), Some(copy)),
        Finding::MissingProxyFence { at, store, .. } => (Some(at), Some(store)),
        Finding::AsyncInFlight { at, operation, .. } => (Some(at), Some(operation)),
        Finding::UnpublishedBarrier { init, .. } => (None, Some(init)),
        Finding::RegisterInFlight { product, .. } | Finding::OtherShape { product, .. } => {
            (None, Some(product))
        }
        Finding::MissingProductFence { write, .. } => (None, write),
        Finding::AbsentSource { user, .. } => (None, Some(user)),
        Finding::DifferentBarriers { other, .. } | Finding::DifferentCounts { other, .. } => {
            (None, Some(other))
        }
        Finding::DivisionByZero { .. }
        | Finding::OutlivesBlock { .. }
        | Finding::UnknownRegisters { .. }
        | Finding::DifferentMasks { .. } => (None, None),
    };
    (at, this, other)
}

pub(super) fn bytes_of(at: &Spot) -> Range<u64> {
    at.address..at.address + u64::from(at.bytes.max(1))
}

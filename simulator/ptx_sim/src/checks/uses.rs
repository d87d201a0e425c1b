//! Uses of global memory, and whether they meet work that the launch does not come after.

use std::ops::Range;

use super::access::{BulkStart, Lanes, WarpAccess};
use super::exact::{Kind, site_of};
use super::finding::{Finding, Met, Side, Spot};
use super::races;
use super::shadow::Site;
use crate::diagnostics::AccessKind;
use crate::pending::{Footprint, Pending, Usage};
use ptx::ir::Space;

/// What a launch's uses of global memory are held against, or kept for.
pub(super) struct Uses<'a> {
    /// Work that the launch does not come after.
    pending: &'a [Pending],
    /// What it has used, if that is asked for.
    footprint: Option<Footprint>,
}

impl<'a> Uses<'a> {
    pub fn new(pending: &'a [Pending], is_kept: bool) -> Self {
        Self {
            pending,
            footprint: is_kept.then(Footprint::default),
        }
    }

    /// Whether they are of no interest.
    #[inline(always)]
    pub fn are_ignored(&self) -> bool {
        self.footprint.is_none() && self.pending.is_empty()
    }

    /// What the launch has used.
    pub fn into_footprint(self) -> Option<Footprint> {
        self.footprint
    }

    /// An access; gives what it meets.
    #[cold]
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) -> Option<Finding> {
        if access.space != Space::Global {
            return None;
        }
        let Kind { flags, writes, .. } = Kind::of(access);
        let usage = |lane: usize| Usage {
            writes: writes && access.failed >> lane & 1 == 0,
            synchronises: flags & Site::SYNCHRONISES != 0 && flags & Site::WIDE != 0,
        };
        let addresses = |lane: usize| {
            let bytes = access.lane_bytes.map_or(access.bytes, |bytes| bytes[lane]);
            access.addresses[lane]..access.addresses[lane] + u64::from(bytes)
        };
        let lanes = access.fetching();
        if let Some(footprint) = &mut self.footprint {
            // Neighbours are added together.
            let mut all: Option<(Range<u64>, Usage)> = None;
            for lane in races::lanes(lanes) {
                let (next, usage) = (addresses(lane), usage(lane));
                match &mut all {
                    Some((all, of)) if all.end == next.start && *of == usage => all.end = next.end,
                    _ => {
                        let before = all.replace((next, usage));
                        before
                            .into_iter()
                            .for_each(|(all, of)| footprint.add(all, of));
                    }
                }
            }
            all.into_iter().for_each(|(all, of)| footprint.add(all, of));
        }
        races::lanes(lanes).find_map(|lane| {
            let met = self.met(&addresses(lane), usage(lane))?;
            Some(Finding::Pending {
                at: Spot::of(access, lane),
                this: races::side(&site_of(instruction, access, flags, 0), lane as u32),
                met,
            })
        })
    }

    /// A bulk copy that a thread starts.
    #[cold]
    pub fn bulk(&mut self, instruction: u32, thread: Lanes, start: &BulkStart) -> Option<Finding> {
        let mut found = None;
        for (touch, writes) in [(&start.reads, false), (&start.writes, true)] {
            if touch.space == Space::Shared {
                continue;
            }
            let usage = Usage {
                writes,
                synchronises: writes && start.reduces.is_some(),
            };
            for range in &touch.ranges {
                if let Some(footprint) = &mut self.footprint {
                    footprint.add(range.clone(), usage);
                }
                let Some(met) = self.met(range, usage) else {
                    continue;
                };
                let at = Spot {
                    space: Space::Global,
                    address: range.start,
                    bytes: (range.end - range.start) as u32,
                    owner: thread.block,
                };
                let this = Side {
                    instruction,
                    block: thread.block,
                    warp: thread.warp,
                    lane: thread.mask.trailing_zeros() % 32,
                    kind: AccessKind::AsyncCopy,
                };
                found = found.or(Some(Finding::Pending { at, this, met }));
            }
        }
        found
    }

    /// The work that a use meets.
    fn met(&self, addresses: &Range<u64>, usage: Usage) -> Option<Met> {
        self.pending.iter().zip(0..).find_map(|(work, number)| {
            let Usage { writes, .. } = work.conflict(addresses, usage)?;
            let work = number;
            Some(Met { work, writes })
        })
    }
}

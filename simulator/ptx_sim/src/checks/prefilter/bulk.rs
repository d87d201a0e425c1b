//! Bulk copies, as far as the prefilter judges them.
//!
//! A copy's cells must be in order with the thread that starts it. While it is in flight, what
//! it writes says that no one comes after it, and so does what it reads in global memory, for
//! the rest of the launch; what else touches the shared memory of a copy in flight is found by
//! [`proxies`](super::super::proxies). Once it is known to be done, it counts as an access by
//! the engine's lane or by the thread that waited.
//!
//! It gives up at copies that combine what they write with what is there, and at those from one
//! block's shared memory to another's.

use std::ops::Range;

use super::super::bulk::{BulkAccess, DoneBy};
use super::super::judge::Running;
use super::Prefilter;
use super::cells::{Act, PAGE_BYTES, Run, Target};
use super::quick;
use super::shared::SharedCells;
use super::stamp::Who;
use ptx::ir::Space;

impl Prefilter<'_> {
    /// A copy starts: whether its accesses to one of its memories are surely in order; they are
    /// remembered if so.
    pub(super) fn begins(&mut self, block: &mut Running<SharedCells>, access: &BulkAccess) -> bool {
        let Running { order, memory, .. } = block;
        let warp = &order.warps[access.thread.warp as usize];
        let Some(known) = warp.known_by(access.thread.mask) else {
            return false;
        };
        if access.reduces.is_some() || warp.clock >= self.times.most() {
            return false;
        }
        let is_shared = access.touch.space == Space::Shared;
        let by = (access.thread.warp, warp.clock);
        let who = Who::new(&self.times, order, by, Some(known), is_shared);
        let act = Act {
            instruction: access.instruction,
            writes: access.writes,
            synchronises: false,
            is_wide: false,
            is_constant: false,
            needs_written: !access.writes,
            starts_copy: true,
            size: 0,
            is_parallel: self.is_parallel,
        };
        let lane = access.thread.mask.trailing_zeros() % 32;
        let stamp = who.stamp(lane, false);
        if is_shared {
            begins(memory, &who, &act, stamp, access)
        } else {
            begins(&mut self.global, &who, &act, stamp, access)
        }
    }

    /// The copy is known to be done.
    pub(super) fn ends(
        &mut self,
        block: &mut Running<SharedCells>,
        access: &BulkAccess,
        done: DoneBy,
    ) {
        let Running { order, memory, .. } = block;
        let is_shared = access.touch.space == Space::Shared;
        let (by, lane, known) = match done {
            DoneBy::Engine { clock } => ((order.engine_warp(), clock), access.channel, None),
            DoneBy::Thread(thread) => {
                let warp = &order.warps[thread.warp as usize];
                let known = warp.known_by(thread.mask).map(|known| &**known);
                let lane = thread.mask.trailing_zeros() % 32;
                ((thread.warp, warp.clock), lane, known)
            }
        };
        // Of another block's memory it is not told which of two engines has read it.
        let is_by_engine = matches!(done, DoneBy::Engine { .. });
        self.gives_up |= by.1 >= self.times.most() || is_shared && !access.writes && is_by_engine;
        let who = Who::new(&self.times, order, by, known, is_shared);
        let stamp = who.stamp(lane, false);
        if is_shared {
            ends(memory, &who, stamp, access);
        } else {
            ends(&mut self.global, &who, stamp, access);
        }
    }
}

fn begins<T: Target>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    stamp: u32,
    access: &BulkAccess,
) -> bool {
    let ranges = access.touch.ranges.iter();
    let ends = ranges.fold(0, |all, range| all | range.start | range.end);
    let needed = ends.trailing_zeros().min(2);
    if needed < target.cell_shift() {
        target.refine(needed);
    }
    let shift = target.cell_shift();
    // First all are asked, then all are remembered.
    let mut is_allowed = |(run, at)| {
        quick::run_passes(target, who, act, (run, at), false) || target.allows(who, act, run, at)
    };
    runs(access, shift, stamp).all(&mut is_allowed) && {
        runs(access, shift, stamp).for_each(|(run, at)| target.begins(act.writes, run, at));
        true
    }
}

fn ends<T: Target>(target: &mut T, who: &Who<'_>, stamp: u32, access: &BulkAccess) {
    for (run, address) in runs(access, target.cell_shift(), stamp) {
        target.ends(who, access.writes, run, address);
    }
}

/// The cells of a copy, by page, each run with its address.
fn runs(access: &BulkAccess, shift: u32, stamp: u32) -> impl Iterator<Item = (Run, u64)> + '_ {
    let pages = |range: &Range<u64>| {
        let Range { start, end } = *range;
        (start / PAGE_BYTES..end.div_ceil(PAGE_BYTES)).map(move |page| {
            let first = page * PAGE_BYTES;
            (start.max(first), end.min(first + PAGE_BYTES))
        })
    };
    access
        .touch
        .ranges
        .iter()
        .flat_map(pages)
        .map(move |(start, end)| {
            let run = Run {
                first: 0,
                n: (end - start).div_ceil(1 << shift) as usize,
                stamp,
                shift: 31,
            };
            (run, start)
        })
}

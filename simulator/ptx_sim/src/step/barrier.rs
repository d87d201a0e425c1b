//! The arrival at a block barrier.

use super::context::{PathView, Step};
use super::next::Next;
use crate::barriers::{Arrival, N_BARRIERS, Waiter};
use crate::checks::access::BarrierArrival;
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::program::{Barrier, BarrierKind};
use crate::stop::Stop;
use crate::warp::{Path, PathState, Warp};

/// What a barrier's operands say.
struct Operands {
    id: usize,
    /// The count to reach, if one is given.
    threads: Option<u32>,
    /// The lanes whose predicate holds, for a reduction.
    source: Option<u32>,
}

/// Comes to a block barrier.
pub(super) fn arrive<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    barrier: &Barrier,
) -> Result<Next, Stop> {
    let live = step.warp.live;
    if barrier.aligned && path.mask != live && !gather_at_barrier(step.warp, &step.view, path) {
        return Ok(Next::Wait);
    }
    let operands = operands(&step.view, barrier, path.mask)?;
    let waits = barrier.kind != BarrierKind::Arrive;
    if O::ON {
        let lanes = step.lanes(if barrier.aligned { live } else { path.mask });
        step.env.observer.arrived(&BarrierArrival {
            instruction: step.number,
            lanes,
            is_whole_warp: barrier.aligned,
            barrier: operands.id,
            threads: operands.threads,
            waits,
        });
    }
    // If the warp came along several paths, each arrives for its lanes; the warp still
    // counts as a whole.
    let place = (path.frame, path.block, path.at);
    let n_arrived = if barrier.aligned {
        32
    } else {
        path.mask.count_ones()
    };
    come(step, path, barrier, &operands, n_arrived);
    if barrier.aligned {
        for i in 0..step.warp.paths.len() {
            let mut other = step.warp.paths[i];
            let waits_here = matches!(other.state, PathState::AtCollective { .. });
            if waits_here && (other.frame, other.block, other.at) == place {
                come(step, &mut other, barrier, &operands, 0);
                step.warp.paths[i] = other;
            }
        }
    }
    Ok(if waits { Next::Wait } else { Next::Block })
}

/// Reads a barrier's operands, which are the same for all lanes.
fn operands(view: &PathView<'_>, barrier: &Barrier, mask: u32) -> Result<Operands, Stop> {
    let lane = mask.trailing_zeros() as usize;
    // SAFETY: The decoder made these slots for 32-bit lanes and predicates.
    let (id, threads, source) = unsafe {
        (
            view.regs.lanes::<u32>(barrier.id)[lane],
            barrier
                .threads
                .map(|slot| view.regs.lanes::<u32>(slot)[lane]),
            barrier
                .source
                .map(|guard| view.regs.predicate(guard.slot) ^ guard.flip),
        )
    };
    let bad = |message: String| Stop::fault(mask, FaultKind::BadBarrier { message });
    if id as usize >= N_BARRIERS {
        return Err(bad(format!("number {id}; there are 16, from 0")));
    }
    if let Some(n) = threads
        && (n == 0 || n % 32 != 0)
    {
        return Err(bad(format!(
            "a count of {n} threads is not a positive multiple of 32"
        )));
    }
    if threads.is_none() && barrier.kind == BarrierKind::Arrive {
        return Err(bad("an arrival without a thread count".to_owned()));
    }
    Ok(Operands {
        id: id as usize,
        threads,
        source,
    })
}

/// A path arrives, and waits if the barrier makes it.
fn come<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    barrier: &Barrier,
    operands: &Operands,
    n_arrived: u32,
) {
    let &Operands {
        id,
        threads,
        source,
    } = operands;
    let warp = step.warp.index;
    step.env.barriers.arrive(Arrival {
        id,
        n_arrived,
        warp,
        mask: path.mask,
        threads,
        votes: source.map(|s| s & path.mask),
    });
    (path.block, path.at) = (barrier.next, 0);
    if barrier.kind == BarrierKind::Arrive {
        path.state = PathState::Ready;
    } else {
        path.state = PathState::AtBarrier;
        step.env.barriers.wait(Waiter {
            id,
            warp,
            mask: path.mask,
            frame: path.frame,
            destination: barrier.d.map(|slot| (slot, barrier.kind)),
        });
    }
}

/// Lanes of a warp come to an aligned barrier without the others. They may have diverged by
/// waiting for each other, so they wait for the rest; gives whether all are there now.
#[cold]
pub(super) fn gather_at_barrier(warp: &Warp, view: &PathView<'_>, path: &mut Path) -> bool {
    let block = &view.function.blocks[path.block as usize];
    path.at = block.end - block.first;
    path.state = PathState::AtCollective { members: warp.live };
    let here = warp
        .paths
        .iter()
        .filter(|p| {
            matches!(p.state, PathState::AtCollective { .. })
                && (p.frame, p.block, p.at) == (path.frame, path.block, path.at)
        })
        .fold(path.mask, |mask, p| mask | p.mask);
    here == warp.live
}

//! The arrival at the barrier of the cluster.

use super::barrier::gather_at_barrier;
use super::context::Step;
use super::next::Next;
use crate::checks::observer::Observer;
use crate::cluster::Misuse;
use crate::diagnostics::FaultKind;
use crate::program::ClusterBarrier;
use crate::stop::Stop;
use crate::warp::{Path, PathState};

/// Arrives at the cluster's barrier, or waits there.
#[cold]
pub(super) fn come<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    barrier: &ClusterBarrier,
) -> Result<Next, Stop> {
    let live = step.warp.live;
    let is_apart = barrier.aligned && path.mask != live;
    if is_apart && !gather_at_barrier(step.warp, &step.view, path) {
        return Ok(Next::Wait);
    }
    let place = (path.frame, path.block, path.at);
    pass(step, path, barrier)?;
    if is_apart {
        // Those that came before along other paths.
        for i in 0..step.warp.paths.len() {
            let mut other = step.warp.paths[i];
            let waits_here = other.is_gathering();
            if waits_here && (other.frame, other.block, other.at) == place {
                pass(step, &mut other, barrier)?;
                step.warp.paths[i] = other;
            }
        }
    }
    Ok(match path.state {
        PathState::AtCluster => Next::Wait,
        _ => Next::Block,
    })
}

/// Lanes of one path arrive, or wait.
fn pass<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    barrier: &ClusterBarrier,
) -> Result<(), Stop> {
    let lanes = step.lanes(path.mask);
    let Some(cluster) = step.env.cluster else {
        let message = "a barrier of the cluster, in a block that has none".to_owned();
        return Err(Stop::internal(message));
    };
    let rank = step.env.rank;
    let mut state = cluster.barrier();
    if barrier.arrives {
        let arrived = state.arrive(rank, lanes.warp, path.mask);
        arrived.map_err(misuse)?;
        go_on(path, barrier);
        step.env
            .observer
            .cluster_arrived(lanes, cluster.number(), barrier.releases);
        return Ok(());
    }
    let passed = state.wait(rank, lanes.warp, path.mask).map_err(misuse)?;
    drop(state);
    go_on(path, barrier);
    if passed != 0 {
        let lanes = step.lanes(passed);
        step.env.observer.cluster_left(lanes, cluster.number());
    }
    match path.mask & !passed {
        0 => {}
        left if passed == 0 => {
            debug_assert_eq!(left, path.mask);
            path.state = PathState::AtCluster;
        }
        left => {
            // Some have come a second time, the others not.
            let waiting = Path {
                mask: left,
                state: PathState::AtCluster,
                ..*path
            };
            step.warp.paths.push(waiting);
            path.mask = passed;
        }
    }
    Ok(())
}

/// The path continues after the barrier.
fn go_on(path: &mut Path, barrier: &ClusterBarrier) {
    (path.block, path.at) = (barrier.next, 0);
    path.state = PathState::Ready;
}

fn misuse(misuse: Misuse) -> Stop {
    let (lanes, message) = match misuse {
        Misuse::ArrivesTwice(lanes) => (
            lanes,
            "barrier.cluster.arrive a second time, without barrier.cluster.wait between the two",
        ),
        Misuse::WaitsWithoutArriving(lanes) => (
            lanes,
            "barrier.cluster.wait by a thread that has not arrived (barrier.cluster.arrive)",
        ),
    };
    let message = message.to_owned();
    Stop::fault(lanes, FaultKind::BadBarrier { message })
}

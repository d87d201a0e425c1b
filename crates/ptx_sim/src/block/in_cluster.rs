//! A block among the others of its cluster: their barrier, and what to do when none of
//! them can go on.

use super::BlockRun;
use crate::checks::access::Lanes;
use crate::checks::observer::Observer;
use crate::context::LaunchContext;
use crate::diagnostics::{FaultKind, LaunchError};
use crate::warp::{Path, PathState, Warp};

/// What a block that can do nothing is to do.
pub(super) enum Stuck {
    /// Wait for others of its cluster.
    Wait,
    /// Let lanes go that wait for others of their warp, and wait.
    Unstick,
    /// Say why nobody can go on.
    GiveUp,
}

impl BlockRun {
    /// Lets lanes go on for which the cluster's barrier has opened.
    #[cold]
    pub(super) fn leave_cluster_barrier<O: Observer>(&mut self, observer: &mut O) -> bool {
        let Some(cluster) = &self.cluster else {
            return false;
        };
        let block = self.number;
        cluster
            .barrier()
            .wake(self.rank, &mut self.warps, |warp, mask| {
                observer.cluster_left(Lanes { block, warp, mask }, cluster.number());
            })
    }

    /// What the cluster sees of a round of the block in which warps have done something or
    /// not. Gives whether lanes may go on now that could not.
    #[cold]
    pub(super) fn end_round_in_cluster<O: Observer>(
        &mut self,
        has_run: bool,
        observer: &mut O,
    ) -> bool {
        let Some(cluster) = &self.cluster else {
            return false;
        };
        let opens = {
            let mut barrier = cluster.barrier();
            barrier.see(self.rank, &self.warps);
            barrier.opens()
        };
        if opens {
            observer.cluster_opened(cluster.number());
        }
        if has_run || opens {
            cluster.progress();
        }
        self.leave_cluster_barrier(observer) || opens
    }

    /// The block has ended.
    #[cold]
    pub(super) fn end_in_cluster<O: Observer>(&mut self, observer: &mut O) {
        self.end_round_in_cluster(true, observer);
        if let Some(cluster) = &self.cluster {
            cluster.end(self.rank);
        }
    }

    /// Whether a warp that has sat out its turn could have run.
    pub(super) fn has_ready_warp(&self) -> bool {
        let is_ready = |path: &Path| path.state == PathState::Ready;
        let mut warps = self.warps.iter();
        warps.any(|warp| warp.live != 0 && warp.paths.iter().any(is_ready))
    }

    /// What to do when no warp can go on.
    pub(super) fn when_stuck(&self) -> Stuck {
        let Some(cluster) = &self.cluster else {
            return Stuck::Unstick;
        };
        // First others may still go on; then all let go whom they can; then those speak
        // that do not only wait for the cluster.
        match cluster.stuck(self.rank) {
            0 => Stuck::Wait,
            1 => Stuck::Unstick,
            2 if self.waits_for_cluster_only() => Stuck::Wait,
            _ => Stuck::GiveUp,
        }
    }

    /// Whether all that keeps its lanes waiting is the cluster's barrier.
    fn waits_for_cluster_only(&self) -> bool {
        let waits = |path: &Path| path.state == PathState::AtCluster;
        let live = self.warps.iter().filter(|warp| warp.live != 0);
        live.flat_map(|warp| &warp.paths).all(waits)
    }

    /// What to say of lanes that wait at the cluster's barrier for ever, if any do.
    #[cold]
    pub(super) fn cluster_deadlock(&self, launch: &LaunchContext<'_>) -> Option<Box<LaunchError>> {
        let cluster = self.cluster.as_ref()?;
        let waits = |path: &&Path| path.state == PathState::AtCluster;
        let at_barrier = |warp: &'_ Warp| warp.paths.iter().find(waits).copied();
        let (warp, path) = self
            .warps
            .iter()
            .find_map(|warp| Some((warp, at_barrier(warp)?)))?;
        let waiting = cluster.barrier().missing();
        let numbers = waiting
            .into_iter()
            .map(|(rank, text)| (cluster.number_of(rank), text));
        let waiting = numbers.map(|(number, text)| {
            let [x, y, z] = launch.ctaid(number);
            format!("block ({x}, {y}, {z}): {text}")
        });
        let waiting = waiting.collect();
        Some(self.stuck(launch, warp, &path, FaultKind::ClusterDeadlock { waiting }))
    }
}

//! A block among the others of its cluster: their barrier, and what to do when none of
//! them can go on.

use std::rc::Rc;

use crate::checks::access::Lanes;
use crate::checks::observer::Observer;
use crate::cluster::{Cluster, Come};
use crate::context::LaunchContext;
use crate::warp::{Path, PathState, Warp};

/// A block's place in its cluster.
#[derive(Clone)]
pub(crate) struct Membership {
    pub cluster: Rc<Cluster>,
    pub rank: u32,
    /// The block's number in the grid.
    pub block: u64,
}

/// What a block that can do nothing should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stuck {
    /// Wait for others of its cluster.
    Wait,
    /// Release lanes that wait for others of their warp, and wait for others of its
    /// cluster.
    Unstick,
    /// Report why nothing can go on.
    GiveUp,
}

impl Membership {
    /// Lets lanes go on for which the barrier has opened; gives whether there were any.
    #[cold]
    pub fn leave_barrier<O: Observer>(&self, warps: &mut [Warp], observer: &mut O) -> bool {
        let (block, number) = (self.block, self.cluster.number());
        let left = |warp, mask| observer.cluster_left(Lanes { block, warp, mask }, number);
        self.cluster.barrier().wake(self.rank, warps, left)
    }

    /// Tells the cluster whether warps of the block have done something in a round. Gives
    /// whether lanes may go on now that could not before.
    #[cold]
    pub fn end_round<O: Observer>(
        &self,
        warps: &mut [Warp],
        has_run: bool,
        observer: &mut O,
    ) -> bool {
        let opens = {
            let mut barrier = self.cluster.barrier();
            barrier.see(self.rank, warps);
            barrier.opens()
        };
        if opens {
            observer.cluster_opened(self.cluster.number());
        }
        if has_run || opens {
            self.cluster.progress();
        }
        self.leave_barrier(warps, observer) || opens
    }

    /// The block has ended.
    #[cold]
    pub fn end<O: Observer>(&self, warps: &mut [Warp], observer: &mut O) {
        self.end_round(warps, true, observer);
        if self.cluster.end(self.rank) {
            observer.cluster_ended(self.cluster.number());
        }
    }

    /// What to do when no warp of the block can go on.
    pub fn when_stuck(&self, warps: &[Warp]) -> Stuck {
        // First others may still go on; then all release the lanes that they can; then
        // those report that do not only wait for the cluster.
        match self.cluster.stuck(self.rank) {
            0 => Stuck::Wait,
            1 => Stuck::Unstick,
            2 if all_wait_here(warps) => Stuck::Wait,
            _ => Stuck::GiveUp,
        }
    }

    /// If threads wait at the barrier, a sentence for each block: who has come.
    #[cold]
    pub fn attendance(&self, launch: &LaunchContext<'_>) -> Vec<String> {
        let of_block = |(rank, come): (u32, &Come)| {
            let [x, y, z] = launch.ctaid(self.cluster.number_of(rank));
            let Come {
                n_live, n_arrived, ..
            } = come;
            let who = match come.absent[..] {
                [] if *n_live == 0 => "all threads".to_owned(),
                [] => format!("all {n_live} threads"),
                _ => format!("{n_arrived} of {n_live} threads"),
            };
            let what = if *n_live == 0 { "ended" } else { "arrived" };
            let missing = match come.absent[..] {
                [] => String::new(),
                _ => format!(" (not all of warps {:?})", come.absent),
            };
            format!("barrier of the cluster: {who} of block ({x}, {y}, {z}) have {what}{missing}")
        };
        let attendance = self.cluster.barrier().attendance();
        (0..).zip(&attendance).map(of_block).collect()
    }
}

fn waits(path: &Path) -> bool {
    path.state == PathState::AtCluster
}

/// Whether all that keeps the lanes of a block waiting is the cluster's barrier.
fn all_wait_here(warps: &[Warp]) -> bool {
    let live = warps.iter().filter(|warp| warp.live != 0);
    live.flat_map(|warp| &warp.paths).all(waits)
}

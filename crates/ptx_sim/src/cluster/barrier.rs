//! `barrier.cluster`: where all threads of a cluster meet.
//!
//! A thread arrives, and later waits until all threads of all blocks have arrived; those
//! that have ended are not waited for. It must do the one and then the other, in turn.

use crate::warp::{MAX_WARPS, Path, PathState, Warp};

/// Lanes, by warp.
type Lanes = [u32; MAX_WARPS as usize];

/// The barrier of a cluster.
pub(crate) struct ClusterBarrier {
    /// By rank.
    blocks: Vec<Attendance>,
}

/// The threads of a block.
#[derive(Clone)]
struct Attendance {
    /// Those that have not ended.
    live: Lanes,
    /// Those that have arrived.
    arrived: Lanes,
    /// Those for whom all have arrived, and that have yet to wait.
    passed: Lanes,
}

/// What a thread must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// These lanes arrive, and have not waited since they did.
    ArrivesTwice(u32),
    /// These lanes wait, and have not arrived.
    WaitsWithoutArriving(u32),
}

impl ClusterBarrier {
    /// Of so many blocks that begin, of so many threads each.
    pub fn new(n_blocks: usize, n_threads: u32) -> Self {
        let mut live = [0; MAX_WARPS as usize];
        for (warp, lanes) in (0..).zip(&mut live) {
            *lanes = match n_threads.saturating_sub(32 * warp) {
                n if n >= 32 => u32::MAX,
                n => (1 << n) - 1,
            };
        }
        let attendance = Attendance {
            live,
            arrived: [0; MAX_WARPS as usize],
            passed: [0; MAX_WARPS as usize],
        };
        Self {
            blocks: vec![attendance; n_blocks],
        }
    }

    /// Lanes of a warp arrive.
    pub fn arrive(&mut self, rank: u32, warp: u32, mask: u32) -> Result<(), Misuse> {
        let block = &mut self.blocks[rank as usize];
        let warp = warp as usize;
        match mask & (block.arrived[warp] | block.passed[warp]) {
            0 => {
                block.arrived[warp] |= mask;
                Ok(())
            }
            twice => Err(Misuse::ArrivesTwice(twice)),
        }
    }

    /// Lanes of a warp wait; gives whether they need not, because all have arrived.
    pub fn wait(&mut self, rank: u32, warp: u32, mask: u32) -> Result<bool, Misuse> {
        let block = &mut self.blocks[rank as usize];
        let warp = warp as usize;
        match mask & !(block.arrived[warp] | block.passed[warp]) {
            0 => Ok(block.take_passed(warp, mask)),
            missing => Err(Misuse::WaitsWithoutArriving(missing)),
        }
    }

    /// Threads of a block may have ended.
    pub fn see(&mut self, rank: u32, warps: &[Warp]) {
        let block = &mut self.blocks[rank as usize];
        for warp in warps {
            block.live[warp.index as usize] = warp.live;
        }
    }

    /// Whether all have arrived; then those that wait may go on.
    pub fn opens(&mut self) -> bool {
        let is_there =
            |block: &Attendance| (block.live.iter().zip(&block.arrived)).all(|(l, a)| l & !a == 0);
        let has_arrivals = |block: &Attendance| block.arrived.iter().any(|&lanes| lanes != 0);
        if !self.blocks.iter().all(is_there) || !self.blocks.iter().any(has_arrivals) {
            return false;
        }
        for block in &mut self.blocks {
            for (passed, arrived) in block.passed.iter_mut().zip(&mut block.arrived) {
                *passed |= std::mem::take(arrived);
            }
        }
        true
    }

    /// Lets the lanes of a block go on that wait and need not any longer; `each` is told of
    /// them, by warp. Gives whether there were any.
    pub fn wake(&mut self, rank: u32, warps: &mut [Warp], mut each: impl FnMut(u32, u32)) -> bool {
        let block = &mut self.blocks[rank as usize];
        let mut woken = false;
        for warp in warps {
            let waits = |path: &&mut Path| path.state == PathState::AtCluster;
            for path in warp.paths.iter_mut().filter(waits) {
                if block.take_passed(warp.index as usize, path.mask) {
                    path.state = PathState::Ready;
                    each(warp.index, path.mask);
                    woken = true;
                }
            }
        }
        woken
    }

    /// A sentence for each block of which threads are missing, or none.
    pub fn missing(&self) -> Vec<(u32, String)> {
        let mut missing = Vec::new();
        for (rank, block) in (0..).zip(&self.blocks) {
            let count = |lanes: &Lanes| lanes.iter().map(|lanes| lanes.count_ones()).sum::<u32>();
            let (n_live, n_arrived) = (count(&block.live), count(&block.arrived));
            let absent = block.live.iter().zip(&block.arrived);
            let absent = (0..).zip(absent).filter(|(_, (l, a))| **l & !**a != 0);
            let warps: Vec<usize> = absent.map(|(warp, _)| warp).collect();
            let text = match warps[..] {
                [] if n_live == 0 => "has ended".to_owned(),
                [] => format!("all {n_live} threads have arrived"),
                _ => format!(
                    "{n_arrived} of {n_live} threads have arrived; missing are some of warps \
                     {warps:?}"
                ),
            };
            missing.push((rank, text));
        }
        missing
    }
}

impl Attendance {
    /// Whether lanes may go on behind their wait; if so they have.
    fn take_passed(&mut self, warp: usize, mask: u32) -> bool {
        let may = mask & !self.passed[warp] == 0;
        if may {
            self.passed[warp] &= !mask;
        }
        may
    }
}

//! `barrier.cluster`: where all threads of a cluster meet.
//!
//! A thread arrives, and later waits until all threads of all blocks have arrived; those
//! that have ended are not waited for. It must alternate between the two.

use crate::warp::{MAX_WARPS, Path, PathState, Warp};

/// Lanes, by warp.
type Lanes = [u32; MAX_WARPS as usize];

/// The barrier of a cluster.
#[derive(Clone, Hash)]
pub(crate) struct ClusterBarrier {
    /// By rank.
    blocks: Vec<Attendance>,
}

/// The threads of a block.
#[derive(Clone, Hash)]
struct Attendance {
    /// Those that have not ended.
    live: Lanes,
    /// Those that have arrived.
    arrived: Lanes,
    /// Those for whom all have arrived, and that have yet to wait.
    passed: Lanes,
}

/// How many threads of a block have come.
pub(crate) struct Come {
    pub n_live: u32,
    pub n_arrived: u32,
    /// The warps with threads that have not come.
    pub absent: Vec<u32>,
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
    /// For this many blocks that begin, of this many threads each.
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

    /// Lanes of a warp wait; gives those that need not, because all have arrived.
    pub fn wait(&mut self, rank: u32, warp: u32, mask: u32) -> Result<u32, Misuse> {
        let block = &mut self.blocks[rank as usize];
        let warp = warp as usize;
        match mask & !(block.arrived[warp] | block.passed[warp]) {
            0 => {
                let passed = mask & block.passed[warp];
                block.passed[warp] &= !passed;
                Ok(passed)
            }
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

    /// Lets the waiting lanes of a block go on that need not wait any longer; `each` is called
    /// for them, by warp. Gives whether there were any.
    pub fn wake(&mut self, rank: u32, warps: &mut [Warp], mut each: impl FnMut(u32, u32)) -> bool {
        let block = &mut self.blocks[rank as usize];
        let mut woken = false;
        for warp in warps {
            let waits = |path: &&mut Path| path.state == PathState::AtCluster;
            for path in warp.paths.iter_mut().filter(waits) {
                let passed = &mut block.passed[warp.index as usize];
                if path.mask & !*passed == 0 {
                    *passed &= !path.mask;
                    path.state = PathState::Ready;
                    each(warp.index, path.mask);
                    woken = true;
                }
            }
        }
        woken
    }

    /// If threads have arrived and wait: by rank, how many of each block have come.
    pub fn attendance(&self) -> Vec<Come> {
        let count = |lanes: &Lanes| lanes.iter().map(|lanes| lanes.count_ones()).sum::<u32>();
        if self.blocks.iter().all(|block| count(&block.arrived) == 0) {
            return Vec::new();
        }
        let of_block = |block: &Attendance| {
            let both = (0..).zip(block.live.iter().zip(&block.arrived));
            let absent = both.filter(|(_, (live, arrived))| **live & !**arrived != 0);
            Come {
                n_live: count(&block.live),
                n_arrived: count(&block.arrived),
                absent: absent.map(|(warp, _)| warp).collect(),
            }
        };
        self.blocks.iter().map(of_block).collect()
    }
}

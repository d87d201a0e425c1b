//! Endless waits of a block's lanes.

use std::fmt;

use super::parts::lane_list;
use super::{Asks, BytesAwaited, Doing, FuelLimit, LanesDo, Lines, OutOfFuel};

impl fmt::Display for OutOfFuel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; it may never end\n  {}\n  {}",
            self.limit, self.place, self.thread
        )?;
        if !self.doing.is_empty() {
            f.write_str("\n  in this block:")?;
        }
        for lanes in &self.doing {
            write!(f, "\n    {lanes}")?;
        }
        for barrier in &self.barriers {
            write!(f, "\n    {barrier}")?;
        }
        for sentence in &self.in_cluster {
            write!(f, "\n  {sentence}")?;
        }
        for (place, thread) in &self.elsewhere {
            write!(f, "\n  meanwhile, {place}\n    {thread}")?;
        }
        if self.n_not_begun > 0 {
            let (n, most) = (self.n_not_begun, self.most_resident);
            write!(
                f,
                "\n  {n} blocks of the grid have not begun: the device holds {most} such blocks \
                 at once, and others begin when some of them end"
            )?;
        }
        write!(f, "\n  what to do: {}", self.advice())
    }
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.ptx;
        if let Some((source, last_line)) = &self.source {
            write!(f, "{source}")?;
            if *last_line > source.line {
                write!(f, " to line {last_line}")?;
            }
            f.write_str(" (")?;
        }
        if first == last {
            write!(f, "PTX line {first}")?;
        } else {
            write!(f, "PTX lines {first} to {last}")?;
        }
        if self.source.is_some() {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Display for BytesAwaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address,
            relation,
            expected,
            arrived,
            arrivals,
        } = self;
        write!(
            f,
            "the mbarrier at shared address {address:#x} ({}) expects {expected} bytes in this \
             phase, and {arrived} have arrived; {arrivals} arrivals are still to come",
            relation.describe(8),
        )
    }
}

impl fmt::Display for LanesDo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.warps[..] {
            [warp] => write!(f, "warp {warp}")?,
            _ => write!(f, "{}", ranges(&self.warps))?,
        }
        if !self.is_whole_warp {
            write!(f, ", {}", lane_list(self.lanes))?;
        }
        let s = if self.warps.len() == 1 && (self.is_whole_warp || self.lanes.is_power_of_two()) {
            "s"
        } else {
            ""
        };
        match &self.what {
            Doing::Run {
                at, is_loop: false, ..
            } => write!(f, ": run{s} at {at}"),
            Doing::Run { at, .. } => write!(f, ": run{s} in the loop at {at}"),
            Doing::WaitAtBarrier(at) => write!(f, ": wait{s} at the barrier at {at}"),
            Doing::WaitAtCluster(at) => {
                write!(f, ": wait{s} at the barrier of the cluster at {at}")
            }
            Doing::WaitAtWarpWide(at) => {
                write!(f, ": wait{s} for other lanes at {at}")
            }
            Doing::WaitForWarps(at) => write!(
                f,
                ": wait{s} for other warps (of the warpgroup, or their registers) at {at}"
            ),
            Doing::WaitForLanes => write!(
                f,
                ": wait{s} after a branch or loop for the other lanes of the warp"
            ),
        }
    }
}

/// `warps 0-3, 7`
fn ranges(warps: &[u32]) -> String {
    let mask = warps.iter().fold(0, |mask, warp| mask | 1 << (warp & 31));
    lane_list(mask).replace("lane", "warp")
}

impl OutOfFuel {
    /// Whether the thread is in the library's barrier of a grid.
    fn is_at_grid_barrier(&self) -> bool {
        const FILES: [&str; 2] = ["/src/grid/barrier.rs", "/cooperative_groups/details/sync.h"];
        let sources = self.place.inside.iter().chain(&self.place.source);
        let mut files = sources.map(|source| source.file.as_str());
        files.any(|file| FILES.iter().any(|end| file.ends_with(end)))
    }

    /// What may be wrong.
    pub fn advice(&self) -> String {
        let doing = |what: fn(&Doing) -> bool| self.doing.iter().any(|lanes| what(&lanes.what));
        let asks = |wanted: Asks| {
            let asks =
                |lanes: &LanesDo| matches!(lanes.what, Doing::Run { asks, .. } if asks == wanted);
            self.doing.iter().any(asks)
        };
        let waits_for_lanes = doing(|what| matches!(what, Doing::WaitForLanes));
        let is_at_barrier =
            |what: &Doing| matches!(what, Doing::WaitAtBarrier(_) | Doing::WaitAtCluster(_));
        let at_barrier = doing(is_at_barrier);
        let mut advice = if self.doing.is_empty() {
            "it is not known to be in a loop"
        } else if doing(|what| matches!(what, Doing::WaitForWarps(_))) {
            "let all four warps of a warpgroup execute each wgmma, and let the registers that \
             some warps give back by setmaxnreg.dec cover those that others take by setmaxnreg.inc"
        } else if asks(Asks::Mbarrier) && !self.barriers.is_empty() {
            "let the barrier in memory expect exactly the bytes that arrive \
             (mbarrier.arrive.expect_tx), in each phase: for a tile those of the whole box, \
             including the part that is out of bounds"
        } else if asks(Asks::Mbarrier) {
            "the barrier in memory (mbarrier) waits for as many arrivals, and bytes, as it was \
             set to: check that all of them come, in each phase, and that its parity is the right \
             one"
        } else if (asks(Asks::Atomic) || asks(Asks::Flag)) && waits_for_lanes {
            "a lane may be waiting for another of its own warp, which waits for it after the \
             loop: let one lane take a lock for its warp, or do the locked work inside the loop"
        } else if asks(Asks::Atomic) {
            "nothing releases what the loop tries to take: check that it is released on every \
             path, and that its holder waits for none of these threads"
        } else if asks(Asks::Flag) && self.is_at_grid_barrier() {
            "a barrier of the grid waits for all threads of all blocks: let none of them end, or \
             take another branch, before it"
        } else if asks(Asks::Flag) {
            "nothing sets the flag that the loop reads: check that the thread that sets it can \
             get there without waiting for any of these"
        } else if asks(Asks::Loads) {
            "the loop uses ordinary loads, which need not see what others write: use atomic or \
             volatile ones; or its condition never becomes true"
        } else if doing(|what| matches!(what, Doing::Run { is_loop: true, .. })) {
            "the loop's condition never becomes true: check how the values that it compares change"
        } else {
            "it is not known to be in a loop"
        }
        .to_owned();
        let may_only_be_long =
            self.doing.is_empty() || asks(Asks::Nothing) || asks(Asks::Loads) || asks(Asks::Atomic);
        if may_only_be_long && !matches!(self.limit, FuelLimit::Waiting(_)) {
            advice += "; if it just takes long, give the launch more fuel (`LaunchOptions::fuel`, \
                       `Simulator::fuel` of `lockstep`, `--fuel`, `LOCKSTEP_SIM_FUEL` for `sim-run`)";
        }
        if at_barrier {
            advice += "; others wait at a barrier, which waits for these";
        }
        if self.n_not_begun > 0 {
            advice += "; blocks that have not begun cannot be waited for: launch no more blocks \
                       than the device holds at once";
        }
        advice
    }
}

//! A block: its warps in turn, its barriers.
//!
//! A barrier without a thread count waits for every thread of the block that
//! has not ended, as the hardware does from sm_70 on: threads that have ended
//! are not waited for. With a count it waits for that many threads, where
//! ended ones do not count. `bar.sync` and `barrier….aligned` count whole
//! warps and must be reached by all lanes of a warp that still run.

use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::launch::LaunchContext;
use crate::memory::shared::SharedMemory;
use crate::program::{BarrierKind, Slot};
use crate::step::{Env, PathEnd, Stuck, StuckAt, Trouble, collective, fault, run_path};
use crate::warp::{FrameId, Path, PathState, Warp};

/// Warp instructions that a warp runs before it is another's turn.
const WARP_SLICE: i64 = 4096;
/// Slices in a row after which lanes that wait at a join are let go, even if
/// the running lanes do not look as if they wait for another thread.
const STALLED_SLICES: u32 = 1024;

/// Warps of the largest block.
const MAX_WARPS: usize = 32;
/// Barrier numbers.
const N_BARRIERS: usize = 16;

/// Some lanes coming to a barrier.
pub(crate) struct Arrival {
    pub id: usize,
    /// Threads to count.
    pub n_arrived: u32,
    pub warp: u32,
    pub mask: u32,
    /// The count to reach, if one is given.
    pub threads: Option<u32>,
    /// The lanes whose predicate holds, for a reduction.
    pub votes: Option<u32>,
}

/// Lanes that wait at a barrier.
#[derive(Clone, Copy)]
pub(crate) struct Waiter {
    pub id: usize,
    pub warp: u32,
    pub mask: u32,
    pub frame: FrameId,
    /// Where the result of a reduction goes.
    pub destination: Option<(Slot, BarrierKind)>,
}

/// One barrier.
#[derive(Clone, Default)]
struct State {
    /// Threads that have arrived, whole warps counted as 32.
    n_arrived: u32,
    /// Lanes that have arrived, by warp.
    arrived: [u32; MAX_WARPS],
    /// The count to reach, if one was given.
    threads: Option<u32>,
    /// Lanes that voted, and those that voted yes.
    n_votes: u32,
    n_yes: u32,
}

/// A block's barriers.
pub(crate) struct BlockBarriers {
    states: [State; N_BARRIERS],
    /// Barriers that somebody has arrived at.
    in_use: u32,
    /// Lanes that wait.
    pub waiters: Vec<Waiter>,
}

impl BlockBarriers {
    fn new() -> Self {
        Self {
            states: std::array::from_fn(|_| State::default()),
            in_use: 0,
            waiters: Vec::new(),
        }
    }

    fn reset(&mut self) {
        if self.in_use != 0 {
            *self = Self::new();
        }
    }

    /// Counts an arrival.
    pub fn arrive(&mut self, arrival: Arrival) {
        self.in_use |= 1 << arrival.id;
        let state = &mut self.states[arrival.id];
        state.n_arrived += arrival.n_arrived;
        state.arrived[arrival.warp as usize] |= arrival.mask;
        if arrival.threads.is_some() {
            state.threads = arrival.threads;
        }
        if let Some(votes) = arrival.votes {
            state.n_votes += arrival.mask.count_ones();
            state.n_yes += votes.count_ones();
        }
    }
}

/// A block that runs.
pub(crate) struct BlockRun {
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// Its number in the grid.
    pub number: u64,
    warps: Vec<Warp>,
    shared: SharedMemory,
    barriers: BlockBarriers,
    /// Warp instructions left.
    fuel: i64,
}

/// How far a block got in a round of its warps.
pub(crate) enum Round {
    /// All its threads have ended.
    Finished,
    /// There is more to do.
    Progress {
        /// Whether it looks as if it waits for another block.
        waits: bool,
    },
}

/// A launch's end in this block: which warp, and what.
pub(crate) struct BlockTrouble {
    pub warp: u32,
    pub cause: Cause,
}

/// A call of a warp: its frame, its function, and who called it.
pub(crate) type CallRecord = (FrameId, usize, Option<(FrameId, u32)>);

/// What ended a launch.
pub(crate) enum Cause {
    /// An instruction could not be carried out.
    Stuck(Stuck, Vec<CallRecord>),
    /// No fuel left; the place where the warp was.
    OutOfFuel { function: usize, ptx: u32 },
}

impl BlockRun {
    /// A block's state, to be started.
    pub fn new(launch: &LaunchContext<'_>) -> Self {
        let warps = (0..launch.n_warps())
            .map(|index| {
                let mut warp = Warp::new(index);
                launch.push_entry_frame(&mut warp);
                warp
            })
            .collect();
        Self {
            ctaid: [0; 3],
            number: 0,
            warps,
            shared: SharedMemory::new(launch.shared_bytes),
            barriers: BlockBarriers::new(),
            fuel: 0,
        }
    }

    /// Makes it block `ctaid`, nothing of the block before left.
    pub fn start(&mut self, launch: &LaunchContext<'_>, number: u64) {
        let ctaid = launch.ctaid(number);
        self.ctaid = ctaid;
        self.number = number;
        self.fuel = launch.fuel;
        self.shared.reset();
        self.barriers.reset();
        for warp in &mut self.warps {
            let n_lanes = launch.n_threads() - 32 * warp.index;
            warp.start(n_lanes);
            warp.local.reset();
            launch.enter_block(warp, ctaid);
        }
    }

    /// Gives every warp that can run a slice of time.
    pub fn round<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
    ) -> Result<Round, Box<BlockTrouble>> {
        #[cfg(target_arch = "x86_64")]
        if has_wide_vectors() {
            // SAFETY: This machine has the vectors.
            return unsafe { self.round_wide(launch, observer) };
        }
        self.round_plain(launch, observer)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn round_wide<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
    ) -> Result<Round, Box<BlockTrouble>> {
        self.round_plain(launch, observer)
    }

    #[inline(always)]
    fn round_plain<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
    ) -> Result<Round, Box<BlockTrouble>> {
        let mut progress = false;
        let mut waits = true;
        let mut alive = false;
        let mut env = Env {
            launch,
            shared: &self.shared,
            barriers: &mut self.barriers,
            ctaid: self.ctaid,
            block: self.number,
            slice: 0,
            given_up: 0,
            observer,
        };
        for warp in &mut self.warps {
            if warp.live == 0 {
                continue;
            }
            let used = run_warp(&mut env, warp)?;
            self.fuel -= used;
            progress |= used > 0;
            waits &= warp.live == 0 || used == 0 || warp.looks_idle();
            alive |= warp.live != 0;
            if self.fuel < 0 && warp.live != 0 {
                return Err(out_of_fuel(launch, warp));
            }
        }
        if !alive {
            return Ok(Round::Finished);
        }
        let freed = self.complete_barriers(observer);
        if progress || freed {
            return Ok(Round::Progress { waits });
        }
        if self.unstick() {
            return Ok(Round::Progress { waits });
        }
        Err(self.deadlock(launch))
    }

    /// Opens the barriers that everybody has come to.
    #[inline(always)]
    fn complete_barriers<O: Observer>(&mut self, observer: &mut O) -> bool {
        let mut freed = false;
        for id in 0..N_BARRIERS {
            if self.barriers.in_use >> id & 1 == 0 {
                continue;
            }
            let state = &self.barriers.states[id];
            let complete = match state.threads {
                Some(n) => state.n_arrived >= n,
                None => {
                    let n_live = |w: &Warp| w.live.count_ones();
                    // Quickly told: fewer have come than there are.
                    state.n_arrived >= self.warps.iter().map(n_live).sum()
                        && self
                            .warps
                            .iter()
                            .zip(&state.arrived)
                            .all(|(w, a)| w.live & !a == 0)
                }
            };
            if !complete {
                continue;
            }
            freed = true;
            observer.released(self.number, id);
            self.barriers.in_use &= !(1 << id);
            let state = std::mem::take(&mut self.barriers.states[id]);
            let (warps, waiters) = (&mut self.warps, &mut self.barriers.waiters);
            waiters.retain(|waiter| {
                if waiter.id != id {
                    return true;
                }
                let warp = &mut warps[waiter.warp as usize];
                if let Some((slot, kind)) = waiter.destination {
                    deliver(warp, waiter, slot, kind, &state);
                }
                for path in &mut warp.paths {
                    if path.state == PathState::AtBarrier && path.mask & waiter.mask != 0 {
                        path.state = PathState::Ready;
                    }
                }
                false
            });
        }
        freed
    }

    /// Tries what helps when no warp can go on.
    fn unstick(&mut self) -> bool {
        let mut helped = false;
        for warp in &mut self.warps {
            helped |= collective::wake_complete(warp);
        }
        // Lanes that a warp-wide instruction still waits for do not come: its
        // mask, or the barrier's place, is wrong.
        let is_stuck = |path: &Path| matches!(path.state, PathState::AtCollective { .. });
        if !helped && !self.warps.iter().any(|w| w.paths.iter().any(is_stuck)) {
            for warp in &mut self.warps {
                helped |= warp.release_joins();
            }
        }
        helped
    }

    /// What to say when nothing helps.
    #[cold]
    fn deadlock(&self, launch: &LaunchContext<'_>) -> Box<BlockTrouble> {
        for warp in &self.warps {
            for path in &warp.paths {
                if let PathState::AtCollective { members } = path.state {
                    let function = launch.function(warp.frames[path.frame].function);
                    let block = &function.blocks[path.block as usize];
                    let arrived = path.mask;
                    let live = warp.live;
                    let kind = if path.at == block.end - block.first {
                        FaultKind::DivergentBarrier { arrived, live }
                    } else {
                        FaultKind::MissingLanes {
                            members,
                            arrived,
                            live,
                        }
                    };
                    return self.stuck(warp, path.frame, path.block, path.at, path.mask, kind);
                }
            }
        }
        let mut waiting = Vec::new();
        for id in 0..N_BARRIERS {
            let state = &self.barriers.states[id];
            if self.barriers.in_use >> id & 1 == 0 {
                continue;
            }
            let has_come = |warp: &usize| state.arrived[*warp] != 0;
            let warps: Vec<usize> = (0..MAX_WARPS).filter(has_come).collect();
            let n_live: u32 = self.warps.iter().map(|w| w.live.count_ones()).sum();
            waiting.push(format!(
                "barrier {id}: {} of {} threads have arrived (warps {warps:?})",
                state.n_arrived,
                state.threads.unwrap_or(n_live)
            ));
        }
        let kind = FaultKind::BarrierDeadlock { waiting };
        let at_barrier = self.warps.iter().find_map(|w| {
            w.paths
                .iter()
                .find(|p| p.state == PathState::AtBarrier)
                .map(|p| (w, *p))
        });
        match at_barrier {
            // The path already stands at the block after the barrier.
            Some((warp, path)) => {
                self.stuck(warp, path.frame, path.block, path.at, path.mask, kind)
            }
            None => {
                let warp = self
                    .warps
                    .iter()
                    .find(|w| w.live != 0)
                    .unwrap_or(&self.warps[0]);
                let message = "threads neither run, nor wait, nor have ended".to_owned();
                Box::new(BlockTrouble {
                    warp: warp.index,
                    cause: Cause::Stuck(
                        Stuck {
                            frame: 0,
                            place: StuckAt::Instruction(0),
                            trouble: Box::new(Trouble::Internal(message)),
                        },
                        frames_of(warp),
                    ),
                })
            }
        }
    }

    fn stuck(
        &self,
        warp: &Warp,
        frame: FrameId,
        block: u32,
        at: u32,
        mask: u32,
        kind: FaultKind,
    ) -> Box<BlockTrouble> {
        let trouble = Box::new(fault(mask, kind));
        let place = StuckAt::Waiting { block, at };
        Box::new(BlockTrouble {
            warp: warp.index,
            cause: Cause::Stuck(
                Stuck {
                    frame,
                    place,
                    trouble,
                },
                frames_of(warp),
            ),
        })
    }
}

/// The calls of a warp: frame, function, caller.
fn frames_of(warp: &Warp) -> Vec<CallRecord> {
    warp.frames
        .iter()
        .enumerate()
        .map(|(i, f)| (i, f.function, f.caller))
        .collect()
}

/// Gives a reduction's result to the lanes that wait.
fn deliver(warp: &Warp, waiter: &Waiter, slot: Slot, kind: BarrierKind, state: &State) {
    let regs = warp.frames[waiter.frame].registers.frame();
    let all = if state.n_yes == state.n_votes {
        u32::MAX
    } else {
        0
    };
    let any = if state.n_yes > 0 { u32::MAX } else { 0 };
    // SAFETY: The frame is alive while lanes of it wait; the decoder made the
    // slot for a predicate, or for 32-bit lanes with `popc`.
    unsafe {
        match kind {
            BarrierKind::And => regs.set_predicate(slot, waiter.mask, all),
            BarrierKind::Or => regs.set_predicate(slot, waiter.mask, any),
            BarrierKind::PopCount => {
                for lane in crate::lanes::lanes(waiter.mask) {
                    regs.set(slot, 4, lane, u64::from(state.n_yes));
                }
            }
            BarrierKind::Sync | BarrierKind::Arrive => {}
        }
    }
}

#[cold]
fn out_of_fuel(launch: &LaunchContext<'_>, warp: &Warp) -> Box<BlockTrouble> {
    let (function, ptx) = warp.paths.last().map_or((0, 0), |path| {
        let function = warp.frames[path.frame].function;
        (
            function,
            launch.function(function).blocks[path.block as usize].ptx_first,
        )
    });
    Box::new(BlockTrouble {
        warp: warp.index,
        cause: Cause::OutOfFuel { function, ptx },
    })
}

/// Runs a warp for a slice. Gives the warp instructions that it used.
#[inline(always)]
fn run_warp<O: Observer>(env: &mut Env<'_, O>, warp: &mut Warp) -> Result<i64, Box<BlockTrouble>> {
    env.slice = WARP_SLICE;
    env.given_up = 0;
    while env.slice > 0 {
        let Some(path) = warp.take_ready() else { break };
        match run_path(env, warp, path) {
            Ok(PathEnd::Gone) => {}
            Ok(PathEnd::Paused(path)) => {
                // First in line is last in turn.
                warp.paths.insert(0, path);
                if env.slice <= 0 {
                    stalled(warp);
                }
            }
            Err(stuck) => {
                let cause = Cause::Stuck(stuck, frames_of(warp));
                return Err(Box::new(BlockTrouble {
                    warp: warp.index,
                    cause,
                }));
            }
        }
    }
    Ok(WARP_SLICE - env.slice - env.given_up)
}

/// A slice has ended. If lanes wait at joins for lanes that do not come, lets
/// them go.
#[cold]
fn stalled(warp: &mut Warp) {
    if !warp.has_waiting_lanes() {
        return;
    }
    warp.stalled_slices += 1;
    if warp.looks_idle() || warp.stalled_slices >= STALLED_SLICES {
        warp.release_joins();
        warp.stalled_slices = 0;
        warp.idle_polls = 0;
    }
}

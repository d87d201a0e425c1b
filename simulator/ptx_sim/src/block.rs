//! A block: its warps in turn.

use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use crate::barriers::BlockBarriers;
use crate::bulk::BulkCopies;
use crate::checks::observer::{Any, Observer};
use crate::cluster::{Cluster, Member};
use crate::context::LaunchContext;
use crate::diagnostics::{AsyncFault, FaultKind, FuelLimit, LaunchError};
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::membership::{Membership, Stuck};
use crate::memory::recent::Recent;
use crate::memory::shared::SharedMemory;
use crate::registers::OutOfMemory;
use crate::schedule::Choices;
use crate::spare::{Form, Parts, SpareBlocks};
use crate::step::{Env, PathEnd, bytes_awaited, finish_block, run_path, wake_complete};
use crate::stop::Stop;
use crate::warp::{Path, PathState, Warp};
use crate::warpgroups::Warpgroups;

/// Warp instructions that a warp runs before it is another's turn.
const WARP_SLICE: i64 = 4096;
/// Slices in a row after which lanes that wait at a join are released, even if the running
/// lanes do not look as if they wait for another thread.
const STALLED_SLICES: u32 = 1024;

/// The cost of an attempt to get warps going again, in warp instructions, so that fuel
/// bounds it in any case.
const UNSTICKING: i64 = 256;

/// A block that runs.
pub(crate) struct BlockRun {
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// Its number in the grid.
    pub number: u64,
    warps: Vec<Warp>,
    shared: Rc<SharedMemory>,
    bulk: Rc<BulkCopies>,
    barriers: BlockBarriers,
    /// Its place in its cluster, unless it is alone there and never asks for it.
    cluster: Option<Membership>,
    warpgroups: Warpgroups,
    /// Warp instructions executed.
    used: i64,
    /// The warp that ran last.
    last: usize,
    /// Where its parts go afterwards, and what they depend on.
    heir: Option<(Arc<SpareBlocks>, Form)>,
}

impl Drop for BlockRun {
    fn drop(&mut self) {
        let Some((spare, form)) = self.heir.take() else {
            return;
        };
        let shared = std::mem::replace(&mut self.shared, Rc::new(SharedMemory::new(0)));
        // Blocks of its cluster may still know of it.
        if let Ok(shared) = Rc::try_unwrap(shared) {
            let warps = std::mem::take(&mut self.warps);
            spare.keep(form, Parts { warps, shared });
        }
    }
}

/// How far a block got in a round of its warps.
pub(crate) enum Round {
    /// All its threads have ended.
    Finished,
    /// There is more to do.
    Progress(Turn),
}

/// What blocks in flight did in their turn.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// Whether they all look as if they wait for another block.
    pub waits: bool,
    /// Whether all their threads do again and again what they did, with no effect: without others
    /// they never end.
    pub repeats: bool,
    /// Warp instructions executed.
    pub used: i64,
}

impl Turn {
    /// That of no blocks.
    pub const NONE: Self = Self {
        waits: true,
        repeats: true,
        used: 0,
    };
    /// That of blocks that have ended, or that will have one.
    pub const OVER: Self = Self {
        waits: false,
        repeats: false,
        used: 0,
    };

    /// Makes it that of these blocks and others.
    pub fn join(&mut self, others: Self) {
        self.waits &= others.waits;
        self.repeats &= others.repeats;
        self.used += others.used;
    }
}

impl BlockRun {
    /// A block's state, to be started.
    pub fn new(launch: &LaunchContext<'_>) -> Result<Self, Box<LaunchError>> {
        let heir = launch.heir();
        let kept = heir.as_ref().and_then(|(spare, form)| spare.take(*form));
        let Parts { warps, shared } = match kept {
            Some(kept) => {
                launch.renew(&kept.warps);
                kept
            }
            None => Parts {
                warps: launch
                    .entry_warps()
                    .map_err(|OutOfMemory| launch.out_of_memory())?,
                shared: SharedMemory::new(launch.shared_bytes),
            },
        };
        Ok(Self {
            ctaid: [0; 3],
            number: 0,
            warps,
            shared: Rc::new(shared),
            bulk: Rc::default(),
            barriers: BlockBarriers::new(),
            cluster: None,
            warpgroups: Warpgroups::default(),
            used: 0,
            last: 0,
            heir,
        })
    }

    /// Makes it block `ctaid`, with nothing left of the previous block.
    pub fn start(&mut self, launch: &LaunchContext<'_>, number: u64) {
        let ctaid = launch.ctaid(number);
        self.ctaid = ctaid;
        self.number = number;
        self.used = 0;
        self.cluster = None;
        self.shared.reset();
        self.bulk.reset();
        self.barriers.reset();
        self.warpgroups.reset();
        for warp in &mut self.warps {
            let n_lanes = launch.n_threads() - 32 * warp.index;
            warp.start(n_lanes);
            warp.local.reset();
            launch.enter_block(warp, ctaid);
        }
    }

    /// Its end: it is no longer one of its cluster.
    pub fn leave(&mut self) {
        self.cluster = None;
    }

    /// As one of a cluster sees it.
    pub fn member(&self) -> Member {
        Member {
            number: self.number,
            shared: self.shared.clone(),
            bulk: self.bulk.clone(),
        }
    }

    /// Everything that it does from now on depends on.
    pub fn hash(&self, state: &mut impl Hasher) {
        (self.ctaid, self.number, self.used, self.last).hash(state);
        self.warps.hash(state);
        self.shared.hash(state);
        self.bulk.hash(state);
        self.barriers.hash(state);
        self.warpgroups.hash(state);
        if let Some(membership) = &self.cluster {
            membership.rank.hash(state);
            membership.cluster.hash(state);
        }
    }

    /// A copy that shares nothing with it but the cluster.
    pub fn copy(&self) -> Self {
        Self {
            ctaid: self.ctaid,
            number: self.number,
            warps: self.warps.clone(),
            shared: Rc::new((*self.shared).clone()),
            bulk: Rc::new((*self.bulk).clone()),
            barriers: self.barriers.clone(),
            cluster: self.cluster.clone(),
            warpgroups: self.warpgroups.clone(),
            used: self.used,
            last: self.last,
            heir: None,
        }
    }

    /// Its cluster, and its rank there, unless it is alone.
    pub fn cluster(&self) -> Option<(&Rc<Cluster>, u32)> {
        let membership = self.cluster.as_ref()?;
        Some((&membership.cluster, membership.rank))
    }

    /// Its warps.
    pub fn warps(&self) -> &[Warp] {
        &self.warps
    }

    /// Its shared memory.
    pub fn shared(&self) -> &SharedMemory {
        &self.shared
    }

    /// Bulk copies to its shared memory and from it.
    pub fn bulk(&self) -> &BulkCopies {
        &self.bulk
    }

    /// A sentence for each barrier that some thread waits at.
    pub fn barriers_waiting(&self) -> Vec<String> {
        self.barriers.waiting(&self.warps)
    }

    /// Makes it the block of this rank of a cluster, once it has been started.
    pub fn join(&mut self, cluster: Rc<Cluster>, rank: u32) {
        self.cluster = Some(Membership {
            cluster,
            rank,
            block: self.number,
        });
    }

    /// Gives every warp that can run a slice of time.
    pub fn round<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
        choices: Option<&mut Choices>,
    ) -> Result<Round, Box<LaunchError>> {
        #[cfg(target_arch = "x86_64")]
        if O::QUICK && has_wide_vectors() {
            // SAFETY: This machine has the vectors.
            return unsafe { self.round_wide(launch, observer, choices) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        if O::QUICK {
            return self.round_plain(launch, observer, choices);
        }
        self.round_plain(launch, &mut Any(observer), choices)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn round_wide<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
        choices: Option<&mut Choices>,
    ) -> Result<Round, Box<LaunchError>> {
        self.round_plain(launch, observer, choices)
    }

    #[inline(always)]
    fn round_plain<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
        choices: Option<&mut Choices>,
    ) -> Result<Round, Box<LaunchError>> {
        let (mut waits, mut repeats) = (true, true);
        let mut alive = false;
        if let Some(membership) = &self.cluster {
            membership.leave_barrier(&mut self.warps, observer);
        }
        let mut env = Env {
            launch,
            shared: &self.shared,
            bulk: &self.bulk,
            owner: self.number,
            cluster: self.cluster.as_ref().map(|membership| &*membership.cluster),
            rank: self
                .cluster
                .as_ref()
                .map_or(0, |membership| membership.rank),
            barriers: &mut self.barriers,
            warpgroups: &mut self.warpgroups,
            ctaid: self.ctaid,
            block: self.number,
            slice: 0,
            given_up: 0,
            observer,
            recent: Recent::new(),
            choices,
        };
        let turns = env.choices.as_mut();
        let turns = turns.map(|choices| {
            let is_idle = |warp: usize| self.warps[warp].looks_idle();
            choices.turns(self.warps.len(), WARP_SLICE, is_idle)
        });
        let n_turns = turns.as_ref().map_or(self.warps.len(), Vec::len);
        let mut round = 0;
        for turn in 0..n_turns {
            let (index, slice) = turns.as_ref().map_or((turn, WARP_SLICE), |t| t[turn]);
            let warp = &mut self.warps[index];
            if warp.live == 0 {
                continue;
            }
            let used = run_warp(&mut env, warp, slice)?;
            self.used += used;
            self.last = index;
            round += used;
            let rests = warp.live == 0 || used == 0;
            waits &= rests || warp.looks_idle();
            repeats &= rests || warp.repetition.is_found();
            alive |= warp.live != 0;
            // Even if the warp has just ended: the block has used too much.
            if let Some(limit) = launch.fuel.burn(used, self.used) {
                return Err(self.out_of_fuel(launch, limit));
            }
        }
        let sat_out = n_turns < self.warps.len();
        let others_live = || sat_out && self.warps.iter().any(|warp| warp.live != 0);
        if !alive && !others_live() {
            finish_block(launch, (&self.bulk, &self.shared), self.number, observer);
            if let Some(membership) = &self.cluster {
                membership.end(&mut self.warps, observer);
            }
            return Ok(Round::Finished);
        }
        let turn = Turn {
            waits,
            repeats: repeats && !sat_out,
            used: round,
        };
        self.end_round(launch, observer, turn, sat_out)
    }

    /// The outcome of a round, given what warps have done and whether some have sat out.
    #[inline(always)]
    fn end_round<O: Observer>(
        &mut self,
        launch: &LaunchContext<'_>,
        observer: &mut O,
        turn: Turn,
        sat_out: bool,
    ) -> Result<Round, Box<LaunchError>> {
        let mut freed = self.barriers.open(&mut self.warps, self.number, observer)
            | self.warpgroups.wake(&mut self.warps);
        let mut sat_out = sat_out;
        if let Some(membership) = &self.cluster {
            freed |= membership.end_round(&mut self.warps, turn.used > 0 || freed, observer);
            sat_out &= self.is_ready();
        }
        let progress = Round::Progress(turn);
        if turn.used > 0 || freed || sat_out {
            return Ok(progress);
        }
        let stuck = self.cluster.as_ref().map(|m| m.when_stuck(&self.warps));
        if stuck == Some(Stuck::Wait) {
            return Ok(progress);
        }
        self.used += UNSTICKING;
        if let Some(limit) = launch.fuel.burn(UNSTICKING, self.used) {
            return Err(self.out_of_fuel(launch, limit));
        }
        let gives_up = stuck == Some(Stuck::GiveUp);
        if !gives_up && (self.unstick(launch) || stuck.is_some()) {
            return Ok(progress);
        }
        Err(self.deadlock(launch))
    }

    /// The launch's error: there is no fuel left.
    #[cold]
    pub fn out_of_fuel(&self, launch: &LaunchContext<'_>, limit: FuelLimit) -> Box<LaunchError> {
        let mut error = launch.out_of_fuel(limit, self.ctaid, &self.warps, self.last);
        if let LaunchError::OutOfFuel(kernel) = &mut *error {
            kernel.barriers = bytes_awaited(launch, (&self.bulk, &self.shared));
            if let Some(membership) = &self.cluster {
                kernel.in_cluster = membership.attendance(launch);
            }
        }
        error
    }

    /// Whether any of its lanes can go on.
    pub fn is_ready(&self) -> bool {
        self.warps.iter().any(Warp::is_ready)
    }

    /// Tries what helps when no warp can go on.
    fn unstick(&mut self, launch: &LaunchContext<'_>) -> bool {
        let mut helped = false;
        for warp in &mut self.warps {
            helped |= wake_complete(launch, warp);
        }
        if helped || self.warps.iter().any(|warp| must_stay(launch, warp)) {
            return helped;
        }
        for warp in &mut self.warps {
            helped |= warp.release_joins();
        }
        helped
    }

    /// What to say when nothing helps.
    #[cold]
    fn deadlock(&self, launch: &LaunchContext<'_>) -> Box<LaunchError> {
        // What waits for lanes of its own warp may be what keeps the others waiting.
        let gathering = |is_barrier: bool| {
            self.warps.iter().find_map(|warp| {
                let waits = |p: &&Path| p.is_gathering() && launch.is_at_end(warp, p) == is_barrier;
                Some((warp, warp.paths.iter().find(waits)?))
            })
        };
        if let Some((warp, path)) = gathering(false).or_else(|| gathering(true)) {
            let kind = missing(launch, warp, path);
            return self.stuck(launch, warp, path, kind);
        }
        let waiting_at = |state: PathState| {
            self.warps.iter().find_map(|warp| {
                let mut paths = warp.paths.iter();
                Some((warp, paths.find(|path| path.state == state)?))
            })
        };
        if let Some((warp, path)) = waiting_at(PathState::AtWarpgroup) {
            let message = launch.waits_for_warps(warp, path, &self.warpgroups);
            let fault = AsyncFault::BadWarpgroup { message };
            let kind = FaultKind::Asynchronous(Box::new(fault));
            return self.stuck(launch, warp, path, kind);
        }
        let at_barrier = waiting_at(PathState::AtBarrier);
        if let Some((warp, path)) = at_barrier.or_else(|| waiting_at(PathState::AtCluster)) {
            // The path is already at the block after the barrier.
            let mut waiting = self.barriers.waiting(&self.warps);
            let cluster = self.cluster.as_ref();
            waiting.extend(cluster.into_iter().flat_map(|m| m.attendance(launch)));
            return self.stuck(launch, warp, path, FaultKind::BarrierDeadlock { waiting });
        }
        let alive = self.warps.iter().find(|warp| warp.live != 0);
        let stop = Stop::internal("threads neither run, nor wait, nor have ended");
        launch.stopped(self.ctaid, alive.unwrap_or(&self.warps[0]), (0, 0), stop)
    }

    /// The fault of a path that waits forever.
    fn stuck(
        &self,
        launch: &LaunchContext<'_>,
        warp: &Warp,
        path: &Path,
        kind: FaultKind,
    ) -> Box<LaunchError> {
        let function = warp.frames[path.frame as usize].function;
        let ptx = launch.waiting_at(function, path.block, path.at);
        let stop = Stop::fault(path.mask, kind);
        launch.stopped(self.ctaid, warp, (path.frame, ptx), stop)
    }
}

/// The fault of a path that waits for lanes of its warp that do not come.
fn missing(launch: &LaunchContext<'_>, warp: &Warp, path: &Path) -> FaultKind {
    let (arrived, live) = (path.mask, warp.live);
    match path.state {
        PathState::AtCollective { members } if !launch.is_at_end(warp, path) => {
            FaultKind::MissingLanes {
                members,
                arrived,
                live,
            }
        }
        _ => FaultKind::DivergentBarrier { arrived, live },
    }
}

/// Whether lanes that wait at a join must not go on without the others, because some wait
/// for lanes that do not come, at an instruction of whole warps or by a wrong mask. A GPU,
/// which has no such joins, lets them go on, and they may end, so that no mask waits for
/// them. That is done here too, unless the launch looks for such mistakes.
fn must_stay(launch: &LaunchContext<'_>, warp: &Warp) -> bool {
    let stays =
        |path: &Path| path.is_gathering() && (launch.checks || !launch.waits_by_mask(warp, path));
    warp.paths.iter().any(stays)
}

/// Runs a warp for a slice of this many warp instructions. Gives what it used.
#[inline(always)]
fn run_warp<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    slice: i64,
) -> Result<i64, Box<LaunchError>> {
    env.slice = slice;
    env.given_up = 0;
    let mut has_run = false;
    while env.slice > 0 {
        let Some(path) = warp.take_ready(env.choices.as_deref_mut()) else {
            break;
        };
        has_run = true;
        match run_path(env, warp, path)? {
            PathEnd::Gone => {}
            PathEnd::Paused(path) => {
                // The first in the list runs last.
                warp.paths.insert(0, path);
                if env.slice <= 0 {
                    warp.slice_ended(slice - env.slice - env.given_up);
                    stalled(warp);
                }
            }
        }
    }
    // A path that goes on in the middle of a block has paid for it before. It has run all
    // the same: the warp is not stuck.
    Ok((slice - env.slice - env.given_up).max(i64::from(has_run)))
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
        warp.has_effect();
    }
}

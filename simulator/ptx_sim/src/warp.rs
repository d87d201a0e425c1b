//! A warp: 32 lanes that run in lockstep where they can.
//!
//! Lanes that are at the same place form a [`Path`]. A branch on which they
//! disagree splits a path in two; both parts meet again at the branch's
//! immediate post-dominator, where a [`Join`] gathers them. Paths of a warp are
//! scheduled one at a time and may be switched, so that a lane that waits for another lane
//! of its own warp does not wait forever; the lanes at a join are released early if the
//! ones that they wait for seem to wait for them.

use crate::copies::AsyncCopies;
use crate::in_flight::InFlight;
use crate::lanes::FULL_MASK;
use crate::memory::local::LocalMemory;
use crate::program::BlockId;
use crate::registers::Registers;
use crate::repetition::Repetition;
use crate::schedule::Choices;

/// Warps of the largest block.
pub(crate) const MAX_WARPS: u32 = 32;
/// Fruitless polls in a row after which a warp is assumed to wait.
pub(crate) const IDLE_POLLS: u32 = 64;

/// Index into [`Warp::frames`].
pub(crate) type FrameId = u32;
/// Index into [`Warp::joins`].
pub(crate) type JoinId = u32;

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path {
    /// The lanes.
    pub mask: u32,
    /// Their call.
    pub frame: FrameId,
    /// The block that they are in.
    pub block: BlockId,
    /// Instructions of that block that they have done, or [`Path::AT_END`].
    pub at: u32,
    /// Where they will meet others.
    pub join: Option<JoinId>,
    /// Whether they can go on.
    pub state: PathState,
}

impl Path {
    /// All are done except the end of the block.
    pub const AT_END: u32 = u32::MAX;

    /// Whether it waits for other lanes of the warp.
    pub fn is_gathering(&self) -> bool {
        matches!(self.state, PathState::AtCollective { .. })
    }
}

/// Whether a path can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PathState {
    /// It can.
    Ready,
    /// It waits at a block barrier.
    AtBarrier,
    /// It waits at the cluster's barrier.
    AtCluster,
    /// It waits for other warps of its warpgroup, or for their registers.
    AtWarpgroup,
    /// It waits at a warp-wide instruction for lanes of other paths.
    AtCollective {
        /// The lanes that must come.
        members: u32,
    },
}

/// A place where paths meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Join {
    /// The call that it belongs to.
    pub frame: FrameId,
    /// The block before which they meet.
    pub block: BlockId,
    /// Lanes that will come.
    pub expected: u32,
    /// Lanes that are there.
    pub arrived: u32,
    /// The join that they go to next.
    pub parent: Option<JoinId>,
}

/// A call's state.
#[derive(Clone, Hash)]
pub(crate) struct Frame {
    /// Index of the function.
    pub function: usize,
    /// Its registers.
    pub registers: Registers,
    /// Where its local memory starts.
    pub local_base: u32,
    /// Lanes that have not returned; 0 in a frame that is free.
    pub lanes: u32,
    /// The frame and block of the call.
    pub caller: Option<(FrameId, BlockId)>,
}

/// Where a warp's lanes are, and what its registers hold.
#[derive(Clone, Hash)]
pub(crate) struct State {
    paths: Vec<Path>,
    joins: Vec<Join>,
    /// By frame.
    registers: Vec<Vec<u8>>,
}

impl State {
    fn is_of(&self, paths: &[Path], joins: &[Join], frames: &[Frame]) -> bool {
        let mut registers = self.registers.iter().zip(frames);
        self.paths == paths
            && self.joins == joins
            && self.registers.len() == frames.len()
            && registers.all(|(copy, frame)| copy == frame.registers.bytes())
    }
}

/// A warp.
#[derive(Clone, Hash)]
pub(crate) struct Warp {
    /// Its number in the block.
    pub index: u32,
    /// Lanes that have not ended.
    pub live: u32,
    /// Paths; the one that runs is taken out while it does.
    pub paths: Vec<Path>,
    /// Joins; freed ones have no expected lanes.
    pub joins: Vec<Join>,
    /// Calls.
    pub frames: Vec<Frame>,
    /// Bytes of their registers.
    pub frame_bytes: u64,
    /// Local memory.
    pub local: LocalMemory,
    /// Asynchronous copies in flight.
    pub copies: AsyncCopies,
    /// Sums of `wgmma` that have not been waited for.
    pub in_flight: InFlight,
    /// Instructions in a row that looked like waiting: loads that synchronise
    /// and atomics that change nothing, with no write between them.
    pub idle_polls: u32,
    /// What it has executed without effect, and whether it has begun to repeat itself.
    pub repetition: Repetition<State>,
    /// Slices in a row that ended with the same lanes still waiting at joins.
    pub stalled_slices: u32,
}

impl Warp {
    /// A warp whose entry frame has yet to be pushed.
    pub fn new(index: u32) -> Self {
        Self {
            index,
            live: 0,
            paths: Vec::new(),
            joins: Vec::new(),
            frames: Vec::new(),
            frame_bytes: 0,
            local: LocalMemory::default(),
            copies: AsyncCopies::default(),
            in_flight: InFlight::default(),
            idle_polls: 0,
            repetition: Repetition::default(),
            stalled_slices: 0,
        }
    }

    /// Starts the first `n_lanes` lanes at the entry of frame 0.
    pub fn start(&mut self, n_lanes: u32) {
        self.live = if n_lanes >= 32 {
            FULL_MASK
        } else {
            (1 << n_lanes) - 1
        };
        self.joins.clear();
        self.paths.clear();
        for frame in &mut self.frames {
            frame.lanes = 0;
        }
        self.frames[0].lanes = self.live;
        self.stalled_slices = 0;
        self.has_effect();
        self.copies.reset();
        self.in_flight.reset();
        self.paths.push(Path {
            mask: self.live,
            frame: 0,
            block: 0,
            at: 0,
            join: None,
            state: PathState::Ready,
        });
    }

    /// Takes the path to run next: the most recently split first, unless a schedule
    /// says otherwise.
    #[inline(always)]
    pub fn take_ready(&mut self, choices: Option<&mut Choices>) -> Option<Path> {
        if choices.is_none() && self.paths.last()?.state == PathState::Ready {
            // The usual case: nothing has to be moved.
            return self.paths.pop();
        }
        self.take_any(choices)
    }

    /// [`Warp::take_ready`], whatever the paths are.
    fn take_any(&mut self, choices: Option<&mut Choices>) -> Option<Path> {
        let is_ready = |p: &Path| p.state == PathState::Ready;
        let mut index = self.paths.iter().rposition(is_ready)?;
        if let Some(choices) = choices {
            let ready = self.paths.iter().enumerate().filter(|(_, p)| is_ready(p));
            let ready: Vec<usize> = ready.map(|(i, _)| i).collect();
            index = choices.path(ready.len()).map_or(index, |i| ready[i]);
        }
        Some(self.paths.remove(index))
    }

    /// The join for a split of `path` that meets at `block`: the one it
    /// already goes to if that is the same place, else a new one.
    pub fn join_at(&mut self, path: &Path, block: BlockId) -> JoinId {
        if let Some(id) = path.join {
            let join = &self.joins[id as usize];
            if join.block == block && join.frame == path.frame {
                return id;
            }
        }
        let join = Join {
            frame: path.frame,
            block,
            expected: path.mask,
            arrived: 0,
            parent: path.join,
        };
        match self.joins.iter().position(|j| j.expected == 0) {
            Some(free) => {
                self.joins[free] = join;
                free as JoinId
            }
            None => {
                self.joins.push(join);
                self.joins.len() as JoinId - 1
            }
        }
    }

    /// Lanes of `path` come to its join. Gives the path that goes on from
    /// there once all have come.
    pub fn arrive(&mut self, id: JoinId, mask: u32) -> Option<Path> {
        let join = &mut self.joins[id as usize];
        join.arrived |= mask;
        self.stalled_slices = 0;
        self.complete(id)
    }

    /// Frees a join that all lanes have reached, and gives the path that goes on.
    fn complete(&mut self, id: JoinId) -> Option<Path> {
        let join = &mut self.joins[id as usize];
        if join.expected == 0 || join.arrived != join.expected {
            return None;
        }
        let path = Path {
            mask: join.expected,
            frame: join.frame,
            block: join.block,
            at: 0,
            join: join.parent,
            state: PathState::Ready,
        };
        join.expected = 0;
        join.arrived = 0;
        Some(path)
    }

    /// Ends lanes of the running path: no one waits for them any more.
    pub fn exit(&mut self, mask: u32) {
        self.live &= !mask;
        self.stalled_slices = 0;
        if self.live == 0 {
            // No lane goes on from any of them.
            self.joins.clear();
            return;
        }
        for frame in &mut self.frames {
            frame.lanes &= !mask;
        }
        for id in 0..self.joins.len() {
            let join = &mut self.joins[id];
            if join.expected & mask != 0 {
                join.expected &= !mask;
                join.arrived &= !mask;
                let freed = self.complete(id as JoinId);
                self.paths.extend(freed);
            }
        }
    }

    /// Lets the lanes that wait at joins go on without the others. Gives
    /// whether there were any.
    pub fn release_joins(&mut self) -> bool {
        let mut released = false;
        for join in &mut self.joins {
            if join.arrived != 0 {
                self.paths.insert(
                    0,
                    Path {
                        mask: join.arrived,
                        frame: join.frame,
                        block: join.block,
                        at: 0,
                        join: join.parent,
                        state: PathState::Ready,
                    },
                );
                join.expected &= !join.arrived;
                join.arrived = 0;
                released = true;
            }
        }
        released
    }

    /// Whether lanes can go on.
    pub fn is_ready(&self) -> bool {
        self.paths.iter().any(|path| path.state == PathState::Ready)
    }

    /// It does something that other threads may see.
    #[inline(always)]
    pub fn has_effect(&mut self) {
        self.idle_polls = 0;
        self.repetition.end();
    }

    /// A slice has ended in which it has executed this much.
    pub fn slice_ended(&mut self, used: i64) {
        if self.repetition.is_due(used) {
            let (paths, joins, frames) = (&self.paths, &self.joins, &self.frames);
            self.repetition.look(
                |copy| copy.is_of(paths, joins, frames),
                || State {
                    paths: paths.clone(),
                    joins: joins.clone(),
                    registers: (frames.iter())
                        .map(|frame| frame.registers.bytes().to_vec())
                        .collect(),
                },
            );
        }
    }

    /// Whether it looks as if it waits for another thread.
    pub fn looks_idle(&self) -> bool {
        self.idle_polls >= IDLE_POLLS || self.repetition.is_found()
    }

    /// Whether lanes wait at joins.
    pub fn has_waiting_lanes(&self) -> bool {
        self.joins.iter().any(|j| j.arrived != 0)
    }
}

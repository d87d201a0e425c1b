//! Clusters: blocks that run at the same time and reach each other's shared memory.
//!
//! In reading order: `shape`, which blocks form a cluster; this file, what the blocks of a
//! running cluster know of each other; `barrier`, where their threads meet
//! (`barrier.cluster`).
//!
//! One host thread runs all blocks of a cluster, in turn.

mod barrier;
mod shape;

use std::cell::{Cell, RefCell, RefMut};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

pub(crate) use barrier::{ClusterBarrier, Come, Misuse};
pub(crate) use shape::{ClusterShape, depends_on_rank};
pub use shape::{MAX_CLUSTER, MAX_NON_PORTABLE_CLUSTER};

use crate::bulk::BulkCopies;
use crate::memory::shared::SharedMemory;

/// A cluster that runs.
pub(crate) struct Cluster {
    /// By rank.
    blocks: Vec<Member>,
    /// The ranks whose blocks have ended.
    ended: Cell<u32>,
    barrier: RefCell<ClusterBarrier>,
    /// The ranks whose blocks could do nothing since some block last could.
    stuck: Cell<u32>,
    /// How often all could do nothing since some block last could.
    times_stuck: Cell<u32>,
}

/// A block of a cluster, as the others see it.
pub(crate) struct Member {
    /// Its number in the grid.
    pub number: u64,
    pub shared: Rc<SharedMemory>,
    pub bulk: Rc<BulkCopies>,
}

/// Why a block of the cluster has no shared memory that could be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// The cluster has only this many blocks.
    NoSuchRank { n_blocks: u32 },
    /// It has ended.
    Ended,
}

/// Without its blocks, which are hashed on their own.
impl Hash for Cluster {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.ended.get().hash(state);
        self.barrier.borrow().hash(state);
        (self.stuck.get(), self.times_stuck.get()).hash(state);
    }
}

impl Cluster {
    /// A cluster whose blocks begin, of this many threads each.
    pub fn new(blocks: Vec<Member>, n_threads: u32) -> Self {
        let barrier = ClusterBarrier::new(blocks.len(), n_threads);
        Self {
            blocks,
            ended: Cell::new(0),
            barrier: RefCell::new(barrier),
            stuck: Cell::new(0),
            times_stuck: Cell::new(0),
        }
    }

    /// A copy whose blocks are these.
    pub fn copy(&self, blocks: Vec<Member>) -> Self {
        Self {
            blocks,
            ended: self.ended.clone(),
            barrier: self.barrier.clone(),
            stuck: self.stuck.clone(),
            times_stuck: self.times_stuck.clone(),
        }
    }

    /// Its blocks, ended ones included.
    pub fn members(&self) -> &[Member] {
        &self.blocks
    }

    /// How many blocks it has.
    pub fn n_blocks(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// What observers call it: the number of its first block.
    pub fn number(&self) -> u64 {
        self.number_of(0)
    }

    /// The number of the block of a rank.
    pub fn number_of(&self, rank: u32) -> u64 {
        self.blocks
            .get(rank as usize)
            .map_or(0, |block| block.number)
    }

    /// The block of a rank, if it runs.
    pub fn member(&self, rank: u32) -> Result<&Member, Absent> {
        let n_blocks = self.n_blocks();
        let member = self.blocks.get(rank as usize);
        let member = member.ok_or(Absent::NoSuchRank { n_blocks })?;
        match self.has_ended(rank) {
            true => Err(Absent::Ended),
            false => Ok(member),
        }
    }

    /// Whether the block of a rank has ended.
    pub fn has_ended(&self, rank: u32) -> bool {
        self.ended.get() >> rank & 1 != 0
    }

    /// The block of a rank has ended; gives whether all have.
    pub fn end(&self, rank: u32) -> bool {
        self.ended.set(self.ended.get() | 1 << rank);
        self.progress();
        self.ended.get() == self.all()
    }

    /// All ranks, a bit each.
    fn all(&self) -> u32 {
        (1 << self.n_blocks()) - 1
    }

    /// Its barrier.
    pub fn barrier(&self) -> RefMut<'_, ClusterBarrier> {
        self.barrier.borrow_mut()
    }

    /// Some block does something.
    pub fn progress(&self) {
        self.stuck.set(0);
        self.times_stuck.set(0);
    }

    /// The block of a rank can do nothing. Gives how often no block could do anything since
    /// some block last could.
    pub fn stuck(&self, rank: u32) -> u32 {
        self.stuck.set(self.stuck.get() | 1 << rank);
        let all = self.all();
        if (self.stuck.get() | self.ended.get()) & all == all {
            self.stuck.set(0);
            self.times_stuck.set(self.times_stuck.get() + 1);
        }
        self.times_stuck.get()
    }
}

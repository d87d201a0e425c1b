//! Bulk copies that have been started and are not done.
//!
//! A copy to shared memory moves its bytes when a thread asks the barrier that counts them
//! whether its phase is over, and not before: a kernel that reads a tile too early reads
//! what was there before, every time. A copy to global memory reads its source and writes
//! its target when the thread that started it waits for its group, or when the block ends;
//! so a source that is overwritten too early shows in what is stored. A copy between shared
//! memories reads its source when it is started.
//!
//! In other orders than the usual one a copy may keep threads that ask for it waiting.
//!
//! Left out: copies that arrive in another order than they were started in.

mod tile;

pub(crate) use tile::{Row, Tile};

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};

use crate::lanes::{WARP_SIZE, lanes};
use crate::program::BulkReduction;

/// The name of a copy for observers: the block whose shared memory it is to or from, and a
/// number.
pub(crate) type CopyId = (u64, u64);

/// Global memory that a copy reads or writes.
#[derive(Clone, Hash)]
pub(crate) enum Span {
    /// Contiguous bytes.
    Range { address: u64, bytes: u32 },
    /// A tile of a tensor.
    Tile(Box<Tile>),
}

/// Where a copy to shared memory gets its bytes.
#[derive(Clone, Hash)]
pub(crate) enum Source {
    Global(Span),
    /// They have been read.
    Bytes(Vec<u8>),
}

/// A copy to a block's shared memory.
#[derive(Clone, Hash)]
pub(crate) struct Incoming {
    /// Its name for observers.
    pub id: CopyId,
    pub source: Source,
    /// Where in shared memory it goes.
    pub to: u32,
    /// Its bytes, as its barrier counts them.
    pub bytes: u32,
    /// Where in the same block's shared memory that barrier is.
    pub barrier: u32,
    pub reduction: Option<BulkReduction>,
}

/// A copy from a block's shared memory to global memory.
#[derive(Clone, Hash)]
pub(crate) struct Outgoing {
    /// Its name for observers.
    pub id: CopyId,
    /// Where in shared memory it comes from.
    pub from: u32,
    pub target: Span,
    pub reduction: Option<BulkReduction>,
    /// The thread that started it, and the group that this thread has put it in.
    thread: (u32, u32),
    group: u32,
    /// Whether its bytes have been moved.
    pub has_moved: bool,
}

impl Outgoing {
    /// Warp and lane of the thread that started it.
    pub fn thread(&self) -> (u32, u32) {
        self.thread
    }
}

/// Bytes that a barrier in memory counts in its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tally {
    /// Where the barrier is.
    pub barrier: u32,
    pub expected: i64,
    pub arrived: i64,
}

/// A block's bulk copies.
#[derive(Default, Clone)]
pub(crate) struct BulkCopies {
    incoming: RefCell<Vec<Incoming>>,
    outgoing: RefCell<Vec<Outgoing>>,
    /// By warp and lane, the group that its next copy to global memory belongs to.
    groups: RefCell<Vec<[u32; WARP_SIZE]>>,
    tallies: RefCell<Vec<Tally>>,
    n_started: Cell<u64>,
}

impl Hash for BulkCopies {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.incoming.borrow().hash(state);
        self.outgoing.borrow().hash(state);
        self.groups.borrow().hash(state);
        self.tallies.borrow().hash(state);
        self.n_started.get().hash(state);
    }
}

impl BulkCopies {
    /// Forgets everything, for the next block.
    pub fn reset(&self) {
        self.incoming.borrow_mut().clear();
        self.outgoing.borrow_mut().clear();
        self.groups.borrow_mut().clear();
        self.tallies.borrow_mut().clear();
    }

    /// The next copy to or from the shared memory of a block, whose copies these are.
    pub fn number(&self, block: u64) -> CopyId {
        self.n_started.set(self.n_started.get() + 1);
        (block, self.n_started.get())
    }

    /// Starts a copy to the block's shared memory.
    pub fn come(&self, copy: Incoming) {
        self.incoming.borrow_mut().push(copy);
    }

    /// Whether nothing is on its way here.
    #[inline]
    pub fn has_none_coming(&self) -> bool {
        self.incoming.borrow().is_empty()
    }

    /// Whether copies are on their way that a barrier counts.
    pub fn has_for(&self, barrier: u32) -> bool {
        let incoming = self.incoming.borrow();
        incoming.iter().any(|copy| copy.barrier == barrier)
    }

    /// Takes the first of the copies that a barrier counts.
    pub fn take_for(&self, barrier: u32) -> Option<Incoming> {
        let mut incoming = self.incoming.borrow_mut();
        let first = incoming.iter().position(|copy| copy.barrier == barrier)?;
        Some(incoming.remove(first))
    }

    /// Calls `f` with every copy on its way to the block's shared memory.
    pub fn each_incoming(&self, f: impl FnMut(&Incoming)) {
        self.incoming.borrow().iter().for_each(f);
    }

    /// Calls `f` with every copy from there that is not done.
    pub fn each_outgoing(&self, f: impl FnMut(&Outgoing)) {
        self.outgoing.borrow().iter().for_each(f);
    }

    /// Starts a copy from the block's shared memory.
    pub fn go(
        &self,
        (id, thread): (CopyId, (u32, u32)),
        from: u32,
        target: Span,
        reduction: Option<BulkReduction>,
    ) {
        let group = self.group_of(thread);
        self.outgoing.borrow_mut().push(Outgoing {
            id,
            from,
            target,
            reduction,
            thread,
            group,
            has_moved: false,
        });
    }

    fn group_of(&self, (warp, lane): (u32, u32)) -> u32 {
        let groups = self.groups.borrow();
        let of_warp = groups.get(warp as usize);
        of_warp.map_or(0, |lanes| lanes[lane as usize])
    }

    /// Closes the groups of some lanes of a warp.
    pub fn commit(&self, warp: u32, mask: u32) {
        let mut groups = self.groups.borrow_mut();
        if groups.len() <= warp as usize {
            groups.resize(warp as usize + 1, [0; WARP_SIZE]);
        }
        for lane in lanes(mask) {
            groups[warp as usize][lane] += 1;
        }
    }

    /// Calls `f` with the copies of a thread's committed groups but the youngest `n_left`;
    /// they are done if they need not be kept.
    pub fn awaited(
        &self,
        thread: (u32, u32),
        n_left: u32,
        mut keeps: impl FnMut(&mut Outgoing) -> bool,
    ) {
        let open = self.group_of(thread);
        self.outgoing.borrow_mut().retain_mut(|copy| {
            let is_closed = copy.group.saturating_add(n_left) < open;
            copy.thread != thread || !is_closed || keeps(copy)
        });
    }

    /// Takes all copies, at the block's end.
    pub fn take_all(&self) -> (Vec<Incoming>, Vec<Outgoing>) {
        (self.incoming.take(), self.outgoing.take())
    }

    /// A barrier is to expect more bytes, or some have arrived.
    pub fn count(&self, barrier: u32, expected: i64, arrived: i64) {
        let mut tallies = self.tallies.borrow_mut();
        match tallies.iter_mut().find(|tally| tally.barrier == barrier) {
            Some(tally) => {
                tally.expected += expected;
                tally.arrived += arrived;
            }
            None => tallies.push(Tally {
                barrier,
                expected,
                arrived,
            }),
        }
    }

    /// A barrier's phase is over, or it begins anew.
    pub fn phase_over(&self, barrier: u32) {
        let mut tallies = self.tallies.borrow_mut();
        tallies.retain(|tally| tally.barrier != barrier);
    }

    /// The barriers that wait for bytes, or have been given too many.
    pub fn unbalanced(&self) -> Vec<Tally> {
        let tallies = self.tallies.borrow();
        let unbalanced = tallies.iter().filter(|t| t.expected != t.arrived);
        unbalanced.copied().collect()
    }
}

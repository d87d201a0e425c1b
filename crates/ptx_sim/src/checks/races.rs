//! Races and reads of unwritten shared memory.
//!
//! Two accesses race if they touch a byte in common, at least one writes, at
//! least one is an ordinary access (not atomic, volatile or ordered), they are
//! by different warps, and nothing orders one before the other. Order comes
//! from block barriers, and from a release by one warp that another acquires:
//! by `.release` and `.acquire` on one address, or by relaxed accesses to it
//! with a fence before the one and behind the other.
//!
//! Within a block order is exact, by vector clocks: each warp counts its
//! releases, and knows of each other warp up to which of them it is ordered
//! after (FastTrack, Flanagan and Freund 2009, with warps for threads). Between
//! blocks a single number stands for the vector: a warp that synchronises with
//! another counts as ordered after everything before the other's release.
//!
//! What it may miss, so that it never cries wolf:
//! - races between lanes of one warp;
//! - between blocks, races hidden by an unrelated synchronisation;
//! - scopes: every synchronisation counts as if it reached the whole device;
//! - of more than two readers (or two writers of different bytes) of a word
//!   only the last two are remembered;
//! - words beyond [`MAX_TRACKED_WORDS`].
//!
//! Asynchronous copies count as written when they are started.

use std::collections::HashMap;

use super::{AccessClass, WarpAccess};
use crate::ir::Space;
use crate::program::Order;

/// Warps of the largest block.
const MAX_WARPS: usize = 32;
/// Words of global memory that are watched, at most (about 200 bytes each).
pub const MAX_TRACKED_WORDS: usize = 1 << 22;
/// Words of a page of the table of global memory.
const PAGE_WORDS: usize = 1024;

/// One access to a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Instruction number; 0 bytes mean that there is no record.
    pub instruction: u32,
    /// The bytes of the word that it touched, one bit each.
    bytes: u8,
    synchronises: bool,
    /// Who.
    pub block: u64,
    pub warp: u8,
    pub lane: u8,
    /// What it did.
    pub is_write: bool,
    pub is_atomic: bool,
    /// The warp's releases before it.
    clock: u32,
    /// The number of the access.
    time: u64,
}

/// What is known of a word.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The last ordinary writes.
    writes: [Record; 2],
    /// The last write that synchronises.
    synchronised: Record,
    /// The last reads.
    reads: [Record; 2],
    /// Bytes that have been written, one bit each.
    written: u8,
}

/// What an access comes after.
#[derive(Clone, Copy)]
struct Known {
    /// For each warp of the block, its releases that come before.
    after: [u32; MAX_WARPS],
    /// Accesses of other blocks up to this number come before.
    seen: u64,
}

const NOTHING: Known = Known {
    after: [0; MAX_WARPS],
    seen: 0,
};

impl Known {
    fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.after.iter_mut().zip(&other.after) {
            *mine = (*mine).max(*theirs);
        }
        self.seen = self.seen.max(other.seen);
    }
}

/// A warp's place in the order of things.
#[derive(Clone, Copy)]
struct WarpClock {
    /// What its next access comes after.
    now: Known,
    /// What its relaxed writes publish: what came before its last fence…
    fenced: Known,
    /// …and when that was.
    fence_time: u64,
    /// What its relaxed reads have met, which a fence makes count.
    pending: Known,
}

/// A block that runs.
struct BlockState {
    warps: [WarpClock; MAX_WARPS],
    /// By barrier: what has been brought to it, and which warps wait.
    barriers: [(Known, u32); 16],
    shared: Vec<Word>,
    /// What was published at addresses, by warps of this block.
    published: HashMap<(bool, u64), Known>,
    /// The first read of a word that nobody had written. A write that comes
    /// later makes it a race.
    unwritten: Option<Finding>,
}

impl BlockState {
    fn new(shared_bytes: u32) -> Self {
        let clock = WarpClock {
            now: NOTHING,
            fenced: NOTHING,
            fence_time: 0,
            pending: NOTHING,
        };
        let mut warps = [clock; MAX_WARPS];
        for (i, warp) in warps.iter_mut().enumerate() {
            warp.now.after[i] = 1;
        }
        Self {
            warps,
            barriers: [(NOTHING, 0); 16],
            shared: vec![Word::default(); shared_bytes.div_ceil(4) as usize],
            published: HashMap::new(),
            unwritten: None,
        }
    }
}

/// The first defect that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    /// Two accesses in no order.
    Race {
        space: Space,
        address: u64,
        bytes: u32,
        this: Record,
        other: Record,
    },
    /// Shared memory read before anything was written there.
    Unwritten {
        address: u64,
        bytes: u32,
        this: Record,
    },
}

/// Watches for races.
#[derive(Default)]
pub(crate) struct Races {
    blocks: HashMap<u64, BlockState>,
    pages: HashMap<u64, Box<[Word; PAGE_WORDS]>>,
    /// When an address of global memory was last published.
    published: HashMap<u64, u64>,
    time: u64,
    finding: Option<Finding>,
}

impl Races {
    /// The first defect, once.
    pub fn take_finding(&mut self) -> Option<Finding> {
        self.finding.take()
    }

    /// A block begins.
    pub fn block_started(&mut self, block: u64, shared_bytes: u32) {
        self.blocks.insert(block, BlockState::new(shared_bytes));
    }

    /// A block has ended.
    pub fn block_ended(&mut self, block: u64) {
        if let Some(state) = self.blocks.remove(&block) {
            self.finding = self.finding.or(state.unwritten);
        }
    }

    /// A warp comes to a barrier.
    pub fn arrived(&mut self, block: u64, barrier: usize, warp: u32, waits: bool) {
        let Some(state) = self.blocks.get_mut(&block) else {
            return;
        };
        let clock = &mut state.warps[warp as usize];
        // A block barrier orders what the warp has read before it too.
        clock.now.join(&clock.pending);
        let (brought, waiting) = &mut state.barriers[barrier];
        brought.join(&clock.now);
        clock.now.after[warp as usize] += 1;
        if waits {
            *waiting |= 1 << warp;
        }
    }

    /// A barrier lets its warps go.
    pub fn released(&mut self, block: u64, barrier: usize) {
        let Some(state) = self.blocks.get_mut(&block) else {
            return;
        };
        let (brought, waiting) = state.barriers[barrier];
        state.barriers[barrier] = (NOTHING, 0);
        for (i, clock) in state.warps.iter_mut().enumerate() {
            if waiting >> i & 1 != 0 {
                clock.now.join(&brought);
            }
        }
    }

    /// A warp carries out a fence.
    pub fn fence(&mut self, block: u64, warp: u32) {
        let Some(state) = self.blocks.get_mut(&block) else {
            return;
        };
        let clock = &mut state.warps[warp as usize];
        clock.now.join(&clock.pending);
        clock.fenced = clock.now;
        clock.fence_time = self.time;
        clock.now.after[warp as usize] += 1;
    }

    /// A warp accesses memory.
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if self.finding.is_some() || !matches!(access.space, Space::Shared | Space::Global) {
            return;
        }
        self.time += 1;
        let (reads, writes) = match access.class {
            AccessClass::Load | AccessClass::LoadMatrix => (true, false),
            AccessClass::Store | AccessClass::StoreMatrix => (false, true),
            // Told twice: its source is global, its target shared. The target
            // counts as written when the copy starts.
            AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass => {
                let is_source = access.space == Space::Global;
                (is_source, !is_source)
            }
            AccessClass::Atomic | AccessClass::Reduction => (true, true),
        };
        let synchronises = access.order != Order::Weak;
        if synchronises && reads {
            self.acquire(access);
        }
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 != 0) {
            let record = Record {
                instruction,
                bytes: 0,
                synchronises,
                block: access.block,
                warp: access.warp as u8,
                lane: lane as u8,
                is_write: writes,
                is_atomic: reads && writes,
                clock: 0,
                time: self.time,
            };
            self.lane(access, lane, record);
            if self.finding.is_some() {
                return;
            }
        }
        if synchronises && writes {
            self.release(access);
        }
    }

    /// The warp meets what was published at its addresses.
    fn acquire(&mut self, access: &WarpAccess<'_>) {
        let Some(state) = self.blocks.get_mut(&access.block) else {
            return;
        };
        let clock = &mut state.warps[access.warp as usize];
        let into = if access.order.acquires() {
            &mut clock.now
        } else {
            &mut clock.pending
        };
        let is_shared = access.space == Space::Shared;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 != 0) {
            let address = access.addresses[lane] & !3;
            if let Some(published) = state.published.get(&(is_shared, address)) {
                into.join(published);
            }
            if !is_shared && let Some(&time) = self.published.get(&address) {
                into.seen = into.seen.max(time);
            }
        }
    }

    /// What the warp did so far, or up to its last fence, is published at its
    /// addresses.
    fn release(&mut self, access: &WarpAccess<'_>) {
        let Some(state) = self.blocks.get_mut(&access.block) else {
            return;
        };
        let clock = &mut state.warps[access.warp as usize];
        let releases = access.order.releases();
        let (known, time) = match releases {
            true => (clock.now, self.time),
            false => (clock.fenced, clock.fence_time),
        };
        let is_shared = access.space == Space::Shared;
        for lane in (0..32).filter(|lane| access.mask >> lane & 1 != 0) {
            let address = access.addresses[lane] & !3;
            state
                .published
                .entry((is_shared, address))
                .or_insert(NOTHING)
                .join(&known);
            if !is_shared {
                let published = self.published.entry(address).or_insert(0);
                *published = (*published).max(time);
            }
        }
        if releases {
            clock.now.after[access.warp as usize] += 1;
        }
    }

    /// One lane's access, word by word.
    fn lane(&mut self, access: &WarpAccess<'_>, lane: usize, mut record: Record) {
        let Some(state) = self.blocks.get_mut(&access.block) else {
            return;
        };
        let known = state.warps[access.warp as usize].now;
        record.clock = known.after[access.warp as usize];
        let start = access.addresses[lane];
        let end = start + u64::from(access.bytes);
        let mut at = start;
        while at < end {
            let word_start = at & !3;
            let past = end.min(word_start + 4);
            let bits = ((1u16 << (past - word_start)) - (1u16 << (at - word_start))) as u8;
            record.bytes = bits;
            let word = if access.space == Space::Shared {
                let Some(word) = state.shared.get_mut((word_start / 4) as usize) else {
                    return;
                };
                if !record.is_write && word.written & bits != bits {
                    state.unwritten.get_or_insert(Finding::Unwritten {
                        address: start,
                        bytes: access.bytes,
                        this: record,
                    });
                }
                word
            } else {
                let number = word_start / 4 / PAGE_WORDS as u64;
                if self.pages.len() * PAGE_WORDS >= MAX_TRACKED_WORDS
                    && !self.pages.contains_key(&number)
                {
                    return;
                }
                let page = self
                    .pages
                    .entry(number)
                    .or_insert_with(|| Box::new([Word::default(); PAGE_WORDS]));
                &mut page[(word_start / 4) as usize % PAGE_WORDS]
            };
            if let Some(other) = word.conflict(&record, &known) {
                self.finding = Some(Finding::Race {
                    space: access.space,
                    address: start,
                    bytes: access.bytes,
                    this: record,
                    other,
                });
                return;
            }
            word.remember(record);
            at = past;
        }
    }
}

impl Word {
    /// An earlier access that races with this one.
    fn conflict(&self, this: &Record, known: &Known) -> Option<Record> {
        let races = |other: &&Record| {
            let is_before = if other.block == this.block {
                other.warp == this.warp || known.after[other.warp as usize] >= other.clock
            } else {
                other.time <= known.seen
            };
            other.bytes & this.bytes != 0
                && !(other.synchronises && this.synchronises)
                && !is_before
        };
        let reads = self.reads.iter().filter(|_| this.is_write);
        let writes = self.writes.iter().chain([&self.synchronised]);
        writes.chain(reads).find(races).copied()
    }

    /// Keeps an access for later ones to be compared with.
    fn remember(&mut self, this: Record) {
        if this.is_write {
            self.written |= this.bytes;
        }
        // What an atomic reads is covered by what it writes.
        if this.is_write && this.synchronises {
            self.synchronised = this;
        } else {
            let list = if this.is_write {
                &mut self.writes
            } else {
                &mut self.reads
            };
            let covered = |r: &Record| r.bytes & !this.bytes == 0;
            let same = |r: &Record| this.is_write || (r.block, r.warp) == (this.block, this.warp);
            let place = list
                .iter()
                .position(|r| r.bytes == 0 || covered(r) && same(r))
                .unwrap_or(if list[0].time <= list[1].time { 0 } else { 1 });
            list[place] = this;
        }
        if this.is_write {
            for read in &mut self.reads {
                // They come before this write, or the race was reported.
                read.bytes &= !this.bytes;
            }
        }
    }
}

//! The two ways to a block's shared memory: that of threads' loads and stores (the generic
//! proxy), and that of the units that work alongside them (the async proxy): `wgmma`, bulk
//! copies.
//!
//! Its user reports three things:
//!
//! - [`Proxies::stored`], [`Proxies::fenced`]: what threads store, and where a
//!   `fence.proxy.async` orders it before what follows. A fence covers the stores of the
//!   threads that carry it out, and those of others that come before it.
//! - [`Proxies::begins`]: an operation of the async proxy begins to read or write. What it
//!   touches must not have been stored without a fence since, and nothing else may be in
//!   progress there that writes, or reads what it writes.
//! - [`Proxies::completes`]: it is done. Until then [`Proxies::conflict`] finds threads that
//!   write what it reads, or touch what it writes.
//!
//! Whether a thread comes *after* an operation that is complete is not checked here: the
//! caller that reports the completion lets the operation count, from then on, as an access
//! of the threads that waited for it, and the rules for races do the rest.
//!
//! Products of warpgroups are reported by [`products`](super::products), which also knows who
//! comes after them.
//!
//! What it misses: readers that come before the fence although they come after the store
//! (a barrier between both); stores by other blocks of a cluster; operations that are never
//! waited for and whose memory is never touched. Operations are tracked in units of 16
//! bytes, stores in words.

use super::access::{Lanes, WarpAccess};
use super::finding::{Finding, Side, Spot};
use super::order::{BlockOrder, Part, missing};
use super::races::lanes;
use crate::diagnostics::AccessKind;
use ptx::ir::Space;

/// Bytes of the unit in which operations are tracked.
pub(crate) const UNIT: u32 = 16;
/// Bits of a word's mark that name the lane.
const LANE_BITS: u32 = 5;
/// The number of stores above which fully overwritten ones are dropped.
const MANY_STORES: usize = 4096;

/// Stores of one warp by one instruction, at one time.
#[derive(Clone, Copy)]
struct Stores {
    instruction: u32,
    warp: u32,
    clock: u32,
    side: Side,
    /// Lanes whose stores no fence has covered.
    open: u32,
}

/// An operation of the async proxy that is in progress.
struct Operation {
    side: Side,
    writes: bool,
    /// The units that it touches.
    units: Vec<u32>,
}

/// A name for an operation that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperationId(usize);

/// What is known of a block's shared memory.
#[derive(Default)]
pub(crate) struct Proxies {
    /// By word: 0, or the number of the stores that wrote it last and the lane, from 1.
    words: Vec<u32>,
    stores: Vec<Stores>,
    /// Number of the first of `stores`.
    first: u32,
    /// Whether some of them are open.
    has_open: bool,
    /// By unit, how many operations in progress read and write there.
    at_work: Vec<[u16; 2]>,
    /// Those in progress, by name.
    operations: Vec<Option<Operation>>,
    n_operations: usize,
}

impl Proxies {
    /// Resets them, for a block with this much shared memory.
    pub fn reset(&mut self, shared_bytes: u32) {
        let n_words = shared_bytes.div_ceil(4) as usize;
        if self.words.len() == n_words {
            // Rather than all of it, what the block before has left is cleared.
            self.forget_stores();
            for id in 0..self.operations.len() {
                self.completes(OperationId(id));
            }
        } else {
            let n_units = shared_bytes.div_ceil(UNIT) as usize;
            *self = Self {
                words: vec![0; n_words],
                at_work: vec![[0; 2]; n_units],
                first: 1,
                ..Self::default()
            };
        }
        self.operations.clear();
        self.has_open = false;
    }

    /// Whether any operation is in progress.
    pub fn has_operations(&self) -> bool {
        self.n_operations > 0
    }

    /// Threads store to shared memory (or an atomic of theirs writes).
    pub fn stored(&mut self, order: &BlockOrder, side: Side, access: &WarpAccess<'_>) {
        let clock = order.warps[access.warp as usize].clock;
        let is_same = |stores: &Stores| {
            (stores.instruction, stores.warp, stores.clock)
                == (side.instruction, access.warp, clock)
        };
        match self.stores.last_mut() {
            Some(stores) if is_same(stores) => stores.open |= access.mask,
            _ => self.stores.push(Stores {
                instruction: side.instruction,
                warp: access.warp,
                clock,
                side,
                open: access.mask,
            }),
        }
        self.has_open = true;
        let number = self.first + self.stores.len() as u32 - 1;
        for lane in lanes(access.mask) {
            let mark = number << LANE_BITS | lane as u32;
            self.set_words(access.addresses[lane], access.bytes, mark);
        }
        if self.stores.len() >= MANY_STORES {
            self.compact();
        }
    }

    fn set_words(&mut self, address: u64, bytes: u32, mark: u32) {
        let end = (address + u64::from(bytes)).div_ceil(4) as usize;
        let words = (address / 4) as usize..end.min(self.words.len());
        if let Some(words) = self.words.get_mut(words) {
            words.fill(mark);
        }
    }

    /// Threads carry out `fence.proxy.async`.
    pub fn fenced(&mut self, order: &BlockOrder, of: Lanes) {
        if !self.has_open {
            return;
        }
        let warp = &order.warps[of.warp as usize];
        let mut is_any_open = false;
        for stores in self.stores.iter_mut().filter(|stores| stores.open != 0) {
            if stores.warp == of.warp {
                stores.open &= !of.mask;
            }
            for (group, known) in warp.groups() {
                if group & of.mask != 0 && stores.open != 0 {
                    let part = Part {
                        warp: stores.warp,
                        lanes: stores.open,
                        clock: stores.clock,
                    };
                    stores.open = missing(known, order.place, order.place.block, part);
                }
            }
            is_any_open |= stores.open != 0;
        }
        self.has_open = is_any_open;
        if !is_any_open {
            // What the words name is below the first number now.
            self.forget_stores();
        }
    }

    fn forget_stores(&mut self) {
        self.first += self.stores.len() as u32;
        self.stores.clear();
        if self.first >= 1 << (31 - LANE_BITS) {
            self.words.fill(0);
            self.first = 1;
        }
    }

    /// Drops stores that no word names any more, or that are not open.
    #[cold]
    fn compact(&mut self) {
        let mut new_numbers = vec![0_u32; self.stores.len()];
        let mut kept = Vec::new();
        for mark in &mut self.words {
            let index = (*mark >> LANE_BITS).wrapping_sub(self.first) as usize;
            let Some(stores) = self.stores.get(index).filter(|stores| stores.open != 0) else {
                *mark = 0;
                continue;
            };
            if new_numbers[index] == 0 {
                kept.push(*stores);
                new_numbers[index] = kept.len() as u32;
            }
            *mark = new_numbers[index] << LANE_BITS | *mark & ((1 << LANE_BITS) - 1);
        }
        self.first = 1;
        self.has_open = !kept.is_empty();
        self.stores = kept;
    }

    /// The store to a unit that no fence covers, if there is one.
    fn open_store(&self, unit: u32) -> Option<Side> {
        let first = (unit * (UNIT / 4)) as usize;
        let words = self.words.iter().skip(first).take((UNIT / 4) as usize);
        words.into_iter().find_map(|mark| {
            let index = (mark >> LANE_BITS).wrapping_sub(self.first) as usize;
            let (stores, lane) = (self.stores.get(index)?, mark & ((1 << LANE_BITS) - 1));
            (stores.open >> lane & 1 != 0).then_some(Side {
                lane,
                ..stores.side
            })
        })
    }

    /// An operation of the async proxy begins that reads, or writes, these units of shared
    /// memory (addresses over [`UNIT`]); `side` is the thread that started it. An error is
    /// what is wrong with that.
    pub fn begins(
        &mut self,
        side: Side,
        writes: bool,
        units: &[u32],
    ) -> Result<OperationId, Finding> {
        // The least mark of a store that may be open.
        let open = if self.has_open {
            self.first << LANE_BITS
        } else {
            u32::MAX
        };
        let words = self.words.as_chunks::<{ UNIT as usize / 4 }>().0;
        let mut is_free = true;
        for &unit in units {
            let [n_reads, n_writes] = self.at_work.get(unit as usize).copied().unwrap_or([0; 2]);
            let words = words.get(unit as usize);
            let newest = words.map_or(open, |words| {
                words.iter().fold(0, |all, &word| word.max(all))
            });
            is_free &= (n_writes == 0) & (!writes | (n_reads == 0)) & (newest < open);
        }
        if !is_free && let Some(wrong) = self.wrong_with(side, writes, units) {
            return Err(wrong);
        }
        for &unit in units {
            if writes {
                self.set_words(u64::from(unit * UNIT), UNIT, 0);
            }
            self.count(unit, writes, 1);
        }
        let operation = Some(Operation {
            side,
            writes,
            units: units.to_vec(),
        });
        self.n_operations += 1;
        let free = self.operations.iter().position(Option::is_none);
        Ok(OperationId(match free {
            Some(free) => {
                self.operations[free] = operation;
                free
            }
            None => {
                self.operations.push(operation);
                self.operations.len() - 1
            }
        }))
    }

    /// What is wrong with such an operation, at the first unit where something is.
    #[cold]
    fn wrong_with(&self, side: Side, writes: bool, units: &[u32]) -> Option<Finding> {
        units.iter().find_map(|&unit| {
            let at = spot(unit, side.block);
            if let Some(store) = self.open_store(unit) {
                let this = side;
                return Some(Finding::MissingProxyFence { at, this, store });
            }
            let [n_reads, n_writes] = *self.at_work.get(unit as usize)?;
            let is_taken = n_writes > 0 || writes && n_reads > 0;
            is_taken.then(|| self.in_flight(at, side, unit, writes))
        })
    }

    fn count(&mut self, unit: u32, writes: bool, by: i16) {
        if let Some(counts) = self.at_work.get_mut(unit as usize) {
            let count = &mut counts[usize::from(writes)];
            *count = count.saturating_add_signed(by);
        }
    }

    /// An operation is complete; gives the units that it touched.
    pub fn completes(&mut self, id: OperationId) -> Vec<u32> {
        let Some(operation) = self.operations.get_mut(id.0).and_then(Option::take) else {
            return Vec::new();
        };
        self.n_operations -= 1;
        for &unit in &operation.units {
            self.count(unit, operation.writes, -1);
        }
        operation.units
    }

    /// An access by threads to what an operation at work writes, or a write to what one
    /// reads.
    pub fn conflict(&self, side: Side, writes: bool, access: &WarpAccess<'_>) -> Option<Finding> {
        if self.n_operations == 0 {
            return None;
        }
        for lane in lanes(access.mask) {
            let start = access.addresses[lane];
            let end = start + u64::from(access.bytes);
            for unit in start / u64::from(UNIT)..end.div_ceil(u64::from(UNIT)) {
                let [n_reads, n_writes] =
                    self.at_work.get(unit as usize).copied().unwrap_or([0; 2]);
                if n_writes > 0 || writes && n_reads > 0 {
                    let lane_side = Side {
                        lane: lane as u32,
                        ..side
                    };
                    let at = Spot::of(access, lane);
                    return Some(self.in_flight(at, lane_side, unit as u32, writes));
                }
            }
        }
        None
    }

    /// The finding: `this` conflicts with an operation in progress.
    #[cold]
    fn in_flight(&self, at: Spot, this: Side, unit: u32, writes: bool) -> Finding {
        let touches = |operation: &&Operation| {
            (writes || operation.writes) && operation.units.contains(&unit)
        };
        let operation = self.operations.iter().flatten().find(touches);
        if let Some(copy) = operation.filter(|o| o.side.kind == AccessKind::AsyncCopy) {
            return Finding::InFlight {
                at,
                this,
                copy: copy.side,
                is_reading: !copy.writes,
            };
        }
        Finding::AsyncInFlight {
            at,
            this,
            operation: operation.map_or(this, |operation| operation.side),
            operation_writes: operation.is_some_and(|operation| operation.writes),
        }
    }
}

/// Where a unit of a block's memory is.
pub(crate) fn spot(unit: u32, owner: u64) -> Spot {
    Spot {
        space: Space::Shared,
        address: u64::from(unit * UNIT),
        bytes: UNIT,
        owner,
    }
}

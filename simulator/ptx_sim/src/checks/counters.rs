//! The counters: executions, bank conflicts, sectors, per instruction.
//!
//! Instructions are counted by blocks, which cost one addition each however
//! long they are; only guarded instructions and memory accesses are counted
//! one by one.

use super::access::{AccessClass, BulkStart, Row, WarpAccess};
use super::count::{self, GlobalCost, GlobalKind, SharedCost};
use super::links::{LinkCost, Links};
use super::memo::Memo;
use crate::numbering::Numbering;
use ptx::ir::Space;

const WORD_BYTES: u64 = 4;
/// Records allocated from the start: they are large, and moved when there are more.
const FIRST_RECORDS: usize = 32;

/// What one instruction's accesses in one space cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceCost {
    pub requests: u64,
    pub wavefronts: u64,
    pub conflicts: u64,
    pub ideal_wavefronts: u64,
    pub ways: u32,
    pub sectors: u64,
    pub ideal_sectors: u64,
    pub bytes: u64,
}

impl SpaceCost {
    const NONE: Self = Self {
        requests: 0,
        wavefronts: 0,
        conflicts: 0,
        ideal_wavefronts: 0,
        ways: 0,
        sectors: 0,
        ideal_sectors: 0,
        bytes: 0,
    };

    fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.wavefronts += other.wavefronts;
        self.conflicts += other.conflicts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.ways = self.ways.max(other.ways);
        self.sectors += other.sectors;
        self.ideal_sectors += other.ideal_sectors;
        self.bytes += other.bytes;
    }

    fn shared(&mut self, cost: SharedCost) {
        self.requests += 1;
        self.wavefronts += u64::from(cost.wavefronts);
        self.conflicts += u64::from(cost.conflicts);
        self.ideal_wavefronts += u64::from(cost.ideal_wavefronts);
        self.ways = self.ways.max(cost.ways);
    }

    /// An access to another block's shared memory.
    #[cold]
    fn others(&mut self, access: &WarpAccess<'_>) {
        self.requests += 1;
        let cost = count::global_access(
            GlobalKind::Plain,
            access.bytes,
            access.mask,
            access.addresses,
        );
        self.bytes += u64::from(cost.bytes);
    }

    fn global(&mut self, cost: GlobalCost) {
        self.requests += u64::from(cost.requests);
        self.sectors += u64::from(cost.sectors);
        self.ideal_sectors += u64::from(cost.ideal_sectors);
        self.bytes += u64::from(cost.bytes);
    }
}

/// A set of state spaces, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spaces(u8);

impl Spaces {
    #[inline(always)]
    fn add(&mut self, space: Space) {
        self.0 |= 1 << space as u8;
    }

    /// The first of these spaces that it has.
    pub fn first_of(self, spaces: &[Space]) -> Option<Space> {
        let has = |space: &Space| self.0 >> *space as u8 & 1 != 0;
        spaces.iter().copied().find(has)
    }
}

/// A memory instruction's record.
#[derive(Clone, Debug)]
pub(crate) struct MemoryRecord {
    pub class: Option<AccessClass>,
    /// The spaces that it accessed.
    pub spaces: Spaces,
    pub shared: SpaceCost,
    /// Other blocks' shared memory.
    pub cluster: SpaceCost,
    pub global: SpaceCost,
    pub local: SpaceCost,
    in_shared: Memo<SharedCost>,
    elsewhere: Memo<GlobalCost>,
}

impl MemoryRecord {
    const NONE: Self = Self {
        class: None,
        spaces: Spaces(0),
        shared: SpaceCost::NONE,
        cluster: SpaceCost::NONE,
        global: SpaceCost::NONE,
        local: SpaceCost::NONE,
        in_shared: Memo::NONE,
        elsewhere: Memo::NONE,
    };
}

/// One worker's counters.
pub(crate) struct Counters {
    /// Executions and lanes, by block.
    pub blocks: Vec<(u64, u64)>,
    /// Lanes of the block that a guard kept out, by instruction.
    pub guarded_out: Vec<u64>,
    /// Memory records of the instructions that need one, as they were met.
    records: Vec<MemoryRecord>,
    /// Which record is an instruction's, plus one; 0 for none.
    record_of: Vec<u32>,
    /// What it moves to and from other devices, if it can.
    links: Option<Box<Links>>,
}

impl Counters {
    pub fn new(numbering: &Numbering) -> Self {
        let n = numbering.n_instructions as usize;
        Self {
            blocks: vec![(0, 0); numbering.n_blocks as usize],
            guarded_out: vec![0; n],
            records: Vec::with_capacity(n.min(FIRST_RECORDS)),
            record_of: vec![0; n],
            links: None,
        }
    }

    /// The same, and what moves over links.
    pub fn with_links(self, links: Option<Links>) -> Self {
        Self {
            links: links.map(Box::new),
            ..self
        }
    }

    /// What an instruction has moved over links.
    pub fn link_cost_of(&self, instruction: usize) -> Option<&LinkCost> {
        self.links.as_ref()?.cost_of(instruction as u32)
    }

    /// What an instruction's accesses cost.
    pub fn record_of(&self, instruction: usize) -> &MemoryRecord {
        static NONE: MemoryRecord = MemoryRecord::NONE;
        match self.record_of[instruction] {
            0 => &NONE,
            place => &self.records[place as usize - 1],
        }
    }

    #[inline(always)]
    fn record_mut(&mut self, instruction: usize) -> &mut MemoryRecord {
        let place = &mut self.record_of[instruction];
        if *place == 0 {
            self.records.push(MemoryRecord::NONE);
            *place = self.records.len() as u32;
        }
        &mut self.records[*place as usize - 1]
    }

    /// Adds another worker's.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            mine.0 += theirs.0;
            mine.1 += theirs.1;
        }
        for (mine, theirs) in self.guarded_out.iter_mut().zip(&other.guarded_out) {
            *mine += theirs;
        }
        for (instruction, &place) in other.record_of.iter().enumerate() {
            if place == 0 {
                continue;
            }
            let theirs = &other.records[place as usize - 1];
            let mine = self.record_mut(instruction);
            mine.class = mine.class.or(theirs.class);
            mine.spaces.0 |= theirs.spaces.0;
            mine.shared.add(&theirs.shared);
            mine.cluster.add(&theirs.cluster);
            mine.global.add(&theirs.global);
            mine.local.add(&theirs.local);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.links, &other.links) {
            mine.add(theirs);
        }
    }
}

impl Counters {
    /// The lanes of `mask` begin a block of instructions.
    #[inline(always)]
    pub fn block(&mut self, counter: u32, mask: u32) {
        let block = &mut self.blocks[counter as usize];
        block.0 += 1;
        block.1 += u64::from(mask.count_ones());
    }

    /// A guard keeps lanes of `block_mask` out.
    #[inline(always)]
    pub fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32) {
        let out = u64::from((block_mask & !mask).count_ones());
        self.guarded_out[instruction as usize] += out;
    }

    /// A thread starts a bulk copy. Only its bytes are counted: no hardware counter is known
    /// that shows its cost in sectors and wavefronts.
    #[cold]
    pub fn bulk(&mut self, instruction: u32, start: &BulkStart) {
        let record = self.record_mut(instruction as usize);
        record.class = Some(AccessClass::BulkCopy);
        let global = [&start.reads, &start.writes];
        for touch in global {
            record.spaces.add(touch.space);
            if touch.space != Space::Shared {
                let bytes = touch.ranges.iter().map(|range| range.end - range.start);
                record.global.bytes += bytes.sum::<u64>();
            }
        }
        if let Some(links) = &mut self.links {
            links.bulk(instruction, start);
        }
    }

    /// All lanes of a warp access a row of memory; gives whether its cost is obvious, and so
    /// has been counted.
    #[inline(always)]
    pub fn row(&mut self, instruction: u32, row: Row) -> bool {
        match row.space {
            Space::Shared => {
                let Some(cost) = row_in_shared(row) else {
                    return false;
                };
                self.record_of_row(instruction, row).shared.shared(cost);
            }
            Space::Local => {
                let Some(cost) = row_in_local(row) else {
                    return false;
                };
                self.record_of_row(instruction, row).local.global(cost);
            }
            _ if self.links.is_some() => return false,
            _ => {
                let Some(cost) = row_in_global(row) else {
                    return false;
                };
                self.record_of_row(instruction, row).global.global(cost);
            }
        }
        true
    }

    #[inline(always)]
    fn record_of_row(&mut self, instruction: u32, row: Row) -> &mut MemoryRecord {
        let record = self.record_mut(instruction as usize);
        record.class = Some(row.class);
        record.spaces.add(row.space);
        record
    }

    /// A warp accesses memory.
    #[inline]
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let record = self.record_mut(instruction as usize);
        record.class = Some(access.class);
        record.spaces.add(access.space);
        // Lanes of an asynchronous copy that only fill with zeros fetch nothing.
        let fetching;
        let access = match access.lane_bytes {
            Some(_) => {
                let mask = access.fetching();
                if mask == 0 {
                    return;
                }
                fetching = WarpAccess { mask, ..*access };
                &fetching
            }
            None => access,
        };
        // What an access costs does not change when all its addresses move by whole
        // words, in shared and local memory, or by whole sectors, in global memory.
        match access.space {
            Space::Shared if access.class == AccessClass::AsyncCopyBypass => {}
            Space::Shared => match quick_shared(access) {
                Some(cost) => record.shared.shared(cost),
                // Their stride is not known.
                None if access.owner != access.block => record.cluster.others(access),
                None => {
                    let memo = &mut record.in_shared;
                    let cost = memo.of(access, WORD_BYTES, || shared(access));
                    record.shared.shared(cost);
                }
            },
            Space::Global | Space::Const | Space::Generic => {
                let cost = quick_global(access).unwrap_or_else(|| {
                    let memo = &mut record.elsewhere;
                    let unit = match access.class.is_atomic() {
                        true => count::SETS_REPEAT_BYTES,
                        false => count::SECTOR_BYTES.into(),
                    };
                    memo.of(access, unit, || global(access))
                });
                record.global.global(cost);
                if let Some(links) = &mut self.links {
                    links.access(instruction, access);
                }
            }
            Space::Local => {
                let cost = record.elsewhere.of(access, WORD_BYTES, || {
                    count::local_access(access.bytes, access.mask, access.addresses)
                });
                record.local.global(cost);
            }
            Space::Param => {}
        }
    }
}

/// The row that an access is to, if its lanes' distance is known.
#[inline(always)]
fn row_of(access: &WarpAccess<'_>) -> Option<Row> {
    Some(Row {
        class: access.class,
        space: access.space,
        bytes: access.bytes,
        first: access.addresses[0],
        stride: access.stride?,
    })
}

/// The cost of a load or store of a row of shared memory, where it is obvious.
#[inline(always)]
fn row_in_shared(row: Row) -> Option<SharedCost> {
    if row.is_contiguous() && row.bytes <= 16 {
        return Some(contiguous_in_shared(row.bytes));
    }
    let wavefronts = match (row.stride, row.bytes) {
        // One place for all lanes: if they load 16 bytes each, 16 lanes are served at a time.
        (0, 16 | 32) if row.class == AccessClass::Load => 2,
        (0, 1 | 2 | 8) if row.class == AccessClass::Load => 1,
        (stride, 4) => {
            let ways = count::ways_of_stride(stride as u32);
            return Some(conflicting(ways));
        }
        _ => return None,
    };
    Some(SharedCost {
        wavefronts,
        conflicts: 0,
        ways: 1,
        ideal_wavefronts: wavefronts,
    })
}

/// The cost of a wavefront of words in which so many lanes use one bank.
#[inline(always)]
fn conflicting(ways: u32) -> SharedCost {
    SharedCost {
        wavefronts: ways,
        conflicts: ways - 1,
        ways,
        ideal_wavefronts: 1,
    }
}

/// The cost of a load or store of the same words of all lanes' local memory: each is a row.
#[inline(always)]
fn row_in_local(row: Row) -> Option<GlobalCost> {
    if row.stride != 0 || !row.bytes.is_multiple_of(4) {
        return None;
    }
    let bytes = 32 * row.bytes;
    Some(GlobalCost {
        requests: row.bytes / 4,
        sectors: bytes / count::SECTOR_BYTES,
        bytes,
        ideal_sectors: bytes / count::SECTOR_BYTES,
    })
}

/// The cost of a load or store of a row of global memory, where it is obvious.
#[inline(always)]
fn row_in_global(row: Row) -> Option<GlobalCost> {
    let sector = u64::from(count::SECTOR_BYTES);
    let bytes = u64::from(row.bytes);
    if bytes > sector {
        return None;
    }
    // The elements are aligned: each lies in one sector.
    let past = (row.first + 31 * row.stride) / sector + 1;
    let n_bytes = if row.stride == 0 { bytes } else { 32 * bytes } as u32;
    Some(GlobalCost {
        requests: 1,
        sectors: if row.stride >= sector {
            32
        } else {
            (past - row.first / sector) as u32
        },
        bytes: n_bytes,
        ideal_sectors: n_bytes.div_ceil(count::SECTOR_BYTES),
    })
}

/// The cost of a load or store of a row of shared memory: neighbouring lanes, neighbouring
/// banks, one pass per group.
#[inline(always)]
fn contiguous_in_shared(bytes: u32) -> SharedCost {
    let groups = (bytes / 4).max(1);
    SharedCost {
        wavefronts: groups,
        conflicts: 0,
        ways: 1,
        ideal_wavefronts: groups,
    }
}

/// The cost of a shared-memory access where it is obvious.
#[inline(always)]
fn quick_shared(access: &WarpAccess<'_>) -> Option<SharedCost> {
    if !matches!(access.class, AccessClass::Load | AccessClass::Store) {
        return None;
    }
    row_in_shared(row_of(access)?)
}

/// The cost of a shared-memory access.
fn shared(access: &WarpAccess<'_>) -> SharedCost {
    let class = access.class;
    class.cost_in_shared(access.bytes, access.mask, access.addresses)
}

/// The cost of a global-memory access where it is obvious.
#[inline(always)]
fn quick_global(access: &WarpAccess<'_>) -> Option<GlobalCost> {
    // Atomics on parts of a word wait for each other's bank.
    let waits = access.class.is_atomic() && u64::from(access.bytes) < WORD_BYTES;
    let row = row_of(access).filter(|row| row.is_contiguous() && !waits)?;
    row_in_global(row)
}

/// The cost of a global-memory access.
fn global(access: &WarpAccess<'_>) -> GlobalCost {
    let class = access.class;
    class.cost_in_global(access.bytes, access.mask, access.addresses)
}

#[cfg(test)]
mod tests {
    use super::{Counters, MemoryRecord, global, quick_global, quick_shared, shared};
    use crate::checks::access::{AccessClass, Row, RowAccess, WarpAccess};
    use crate::checks::count::{self, tests::scrambled};
    use crate::program::{Order, Scope};
    use ptx::ir::Space;

    #[test]
    fn what_a_row_costs_is_what_its_lanes_cost() {
        let mut n_obvious = 0;
        for (bytes, offset) in [
            (1, 7),
            (2, 6),
            (4, 28),
            (8, 40),
            (16, 16),
            (16, 0),
            (32, 32),
        ] {
            for factor in [0, 1, 2, 3, 4, 7, 8, 31, 32, 33, 1024] {
                let stride = factor * u64::from(bytes);
                for (space, class) in [
                    (Space::Shared, AccessClass::Load),
                    (Space::Shared, AccessClass::Store),
                    (Space::Global, AccessClass::Load),
                    (Space::Global, AccessClass::Store),
                    (Space::Local, AccessClass::Load),
                    (Space::Local, AccessClass::Store),
                ] {
                    let is_possible = match space {
                        Space::Shared => bytes <= 16 && (stride != 0 || class == AccessClass::Load),
                        Space::Local => stride == 0,
                        _ => stride != 0 || class == AccessClass::Load,
                    };
                    if !is_possible {
                        continue;
                    }
                    let row = Row {
                        class,
                        space,
                        bytes,
                        first: 4096 + offset,
                        stride,
                    };
                    let whole = RowAccess {
                        row,
                        block: 0,
                        owner: 0,
                        warp: 0,
                        order: Order::Weak,
                        scope: Scope::Device,
                        is_constant: false,
                    };
                    let mut expected = MemoryRecord::NONE;
                    whole.with_addresses(|access| match space {
                        Space::Shared => expected.shared.shared(shared(access)),
                        Space::Local => {
                            let cost = count::local_access(bytes, u32::MAX, access.addresses);
                            expected.local.global(cost);
                        }
                        _ => expected.global.global(global(access)),
                    });
                    let mut counters = one_instruction();
                    if !counters.row(0, row) {
                        continue;
                    }
                    n_obvious += 1;
                    let got = counters.record_of(0);
                    assert_eq!(
                        got.shared, expected.shared,
                        "{bytes} bytes, stride {stride}"
                    );
                    assert_eq!(
                        got.global, expected.global,
                        "{bytes} bytes, stride {stride}"
                    );
                }
            }
        }
        assert!(n_obvious > 190, "{n_obvious} rows have an obvious cost");
    }

    fn one_instruction() -> Counters {
        Counters {
            blocks: Vec::new(),
            guarded_out: Vec::new(),
            records: Vec::new(),
            record_of: vec![0; 1],
            links: None,
        }
    }

    #[test]
    fn what_is_remembered_is_what_is_computed() {
        let mut random = scrambled(5);
        let mut below = |end: u64| random() % end;
        let mut counters = one_instruction();
        for _ in 0..3000 {
            // Few patterns, at many places, so that many are met again.
            let bytes = 1 << below(5);
            let space = [Space::Shared, Space::Global, Space::Local][below(3) as usize];
            let class = [
                AccessClass::Load,
                AccessClass::Store,
                AccessClass::Reduction,
                AccessClass::CompareAndSwap,
            ][below(4) as usize];
            let (step, turn) = (below(4), below(3));
            let place = 16 * below(40);
            let mask = [u32::MAX, 0x0F0F_FFF0][below(2) as usize];
            let addresses =
                std::array::from_fn(|lane| place + u64::from(bytes) * step * (lane as u64 ^ turn));
            let is_regular = turn == 0 && mask == u32::MAX;
            let access = WarpAccess {
                class,
                space,
                bytes,
                mask,
                stride: is_regular.then_some(u64::from(bytes) * step),
                ..WarpAccess::example(&addresses)
            };
            let mut expected = match counters.record_of[0] {
                0 => MemoryRecord::NONE,
                _ => counters.record_of(0).clone(),
            };
            match space {
                Space::Shared => {
                    let quick = quick_shared(&access);
                    assert!(quick.is_none_or(|quick| quick == shared(&access)));
                    expected.shared.shared(shared(&access));
                }
                Space::Global => {
                    let quick = quick_global(&access);
                    assert!(quick.is_none_or(|quick| quick == global(&access)));
                    expected.global.global(global(&access));
                }
                _ => expected
                    .local
                    .global(count::local_access(bytes, mask, &addresses)),
            }
            counters.access(0, &access);
            let got = counters.record_of(0);
            assert_eq!(got.shared, expected.shared);
            assert_eq!(got.global, expected.global);
            assert_eq!(got.local, expected.local);
        }
    }
}

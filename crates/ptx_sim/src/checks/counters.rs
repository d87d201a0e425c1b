//! The counters: executions, bank conflicts, sectors, per instruction.
//!
//! Instructions are counted by blocks, which cost one addition each however
//! long they are; only guarded instructions and memory accesses are counted
//! one by one.

use super::count::{self, GlobalCost, SharedCost, SharedKind};
use super::{AccessClass, WarpAccess};
use crate::ir::Space;
use crate::numbering::Numbering;

/// What one instruction's accesses in one space cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    fn global(&mut self, cost: GlobalCost) {
        self.requests += u64::from(cost.requests);
        self.sectors += u64::from(cost.sectors);
        self.ideal_sectors += u64::from(cost.ideal_sectors);
        self.bytes += u64::from(cost.bytes);
    }
}

/// A memory instruction's record.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryRecord {
    pub class: Option<AccessClass>,
    pub shared: SpaceCost,
    pub global: SpaceCost,
    pub local: SpaceCost,
}

/// One worker's counters.
pub(crate) struct Counters {
    /// Executions and lanes, by block.
    pub blocks: Vec<(u64, u64)>,
    /// Lanes of the block that a guard kept out, by instruction.
    pub guarded_out: Vec<u64>,
    /// Memory records, by instruction.
    pub memory: Vec<MemoryRecord>,
}

impl Counters {
    pub fn new(numbering: &Numbering) -> Self {
        let n = numbering.n_instructions as usize;
        Self {
            blocks: vec![(0, 0); numbering.n_blocks as usize],
            guarded_out: vec![0; n],
            memory: vec![MemoryRecord::default(); n],
        }
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
        for (mine, theirs) in self.memory.iter_mut().zip(&other.memory) {
            mine.class = mine.class.or(theirs.class);
            mine.shared.add(&theirs.shared);
            mine.global.add(&theirs.global);
            mine.local.add(&theirs.local);
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

    /// A warp accesses memory.
    #[inline]
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let record = &mut self.memory[instruction as usize];
        record.class = Some(access.class);
        match access.space {
            Space::Shared => shared(&mut record.shared, access),
            Space::Global | Space::Const | Space::Generic => global(&mut record.global, access),
            Space::Local => {
                record.local.global(count::local_access(
                    access.bytes,
                    access.mask,
                    access.addresses,
                ));
            }
            Space::Param => {}
        }
    }
}

/// Whether each lane begins where the one before it ends.
fn is_contiguous(access: &WarpAccess<'_>) -> bool {
    access.stride == Some(u64::from(access.bytes))
}

fn shared(into: &mut SpaceCost, access: &WarpAccess<'_>) {
    let kind = match access.class {
        AccessClass::Load => SharedKind::Load,
        AccessClass::Store => SharedKind::Store,
        AccessClass::AsyncCopy => SharedKind::AsyncCopy,
        AccessClass::Atomic | AccessClass::Reduction => SharedKind::Atomic,
        AccessClass::CompareAndSwap => SharedKind::CompareAndSwap,
        AccessClass::Increment => SharedKind::Increment,
        AccessClass::LoadMatrix | AccessClass::StoreMatrix => SharedKind::Matrix {
            matrices: access.mask.count_ones().div_ceil(8),
        },
        AccessClass::AsyncCopyBypass => return,
    };
    if is_contiguous(access) && matches!(kind, SharedKind::Load | SharedKind::Store) {
        // Neighbouring lanes, neighbouring banks: one pass a group.
        let groups = (access.bytes / 4).max(1);
        let cost = SharedCost {
            wavefronts: groups,
            conflicts: 0,
            ways: 1,
            ideal_wavefronts: groups,
        };
        into.shared(cost);
        return;
    }
    if let Some(stride) = access.stride
        && access.bytes == 4
        && stride % 4 == 0
        && matches!(kind, SharedKind::Load | SharedKind::Store)
    {
        let ways = count::ways_of_stride(stride as u32);
        into.shared(SharedCost {
            wavefronts: ways,
            conflicts: ways - 1,
            ways,
            ideal_wavefronts: 1,
        });
        return;
    }
    let offsets = access.addresses.map(|address| address as u32);
    into.shared(count::shared_access(
        kind,
        access.bytes,
        access.mask,
        &offsets,
    ));
}

fn global(into: &mut SpaceCost, access: &WarpAccess<'_>) {
    if is_contiguous(access) {
        let first = access.addresses[0];
        let bytes = 32 * access.bytes;
        let sector = u64::from(count::SECTOR_BYTES);
        let past = (first + u64::from(bytes) - 1) / sector + 1;
        into.global(GlobalCost {
            requests: 1,
            sectors: (past - first / sector) as u32,
            bytes,
            ideal_sectors: bytes / count::SECTOR_BYTES,
        });
        return;
    }
    let is_atomic = matches!(
        access.class,
        AccessClass::Atomic
            | AccessClass::Reduction
            | AccessClass::CompareAndSwap
            | AccessClass::Increment
    );
    into.global(count::global_access(
        is_atomic,
        access.bytes,
        access.mask,
        access.addresses,
    ));
}

//! The events that observers see: accesses, lanes, arrivals at barriers.

use std::ops::Range;

use super::count::{self, GlobalCost, GlobalKind, SharedCost, SharedKind};
use crate::bulk::CopyId;
use crate::program::{Order, Scope};
use ptx::ir::Space;

/// What a warp's memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AccessClass {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`: the old value comes back.
    Atomic,
    /// `red`, or `atom` whose result is not used: it does not.
    Reduction,
    /// `atom.cas`
    CompareAndSwap,
    /// In shared memory: 1 is added to a `u32`, and nothing comes back.
    Increment,
    /// `ldmatrix`: one row address per lane, `matrices` of eight rows.
    LoadMatrix,
    /// `stmatrix`
    StoreMatrix,
    /// `cp.async` that passes through the first-level cache (`.ca`).
    AsyncCopy,
    /// `cp.async` that bypasses it (`.cg`).
    AsyncCopyBypass,
    /// `cp.async.bulk`, `cp.reduce.async.bulk`
    BulkCopy,
    /// `wgmma` reads a matrix: 16 bytes per lane.
    Product,
}

impl AccessClass {
    /// The kind by which it is counted in shared memory, for the lanes of `mask`.
    pub fn shared_kind(self, mask: u32) -> SharedKind {
        match self {
            // Bulk copies are reported separately.
            Self::Store | Self::BulkCopy => SharedKind::Store,
            Self::Load => SharedKind::Load,
            Self::AsyncCopy | Self::AsyncCopyBypass => SharedKind::AsyncCopy,
            Self::Atomic | Self::Reduction => SharedKind::Atomic,
            Self::CompareAndSwap => SharedKind::CompareAndSwap,
            Self::Increment => SharedKind::Increment,
            Self::LoadMatrix | Self::StoreMatrix | Self::Product => SharedKind::Matrix {
                matrices: mask.count_ones().div_ceil(8),
            },
        }
    }

    /// What it costs in shared memory.
    pub(crate) fn cost_in_shared(self, bytes: u32, mask: u32, addresses: &[u64; 32]) -> SharedCost {
        let offsets = addresses.map(|address| address as u32);
        count::shared_access(self.shared_kind(mask), bytes, mask, &offsets)
    }

    /// What it costs in global memory.
    pub(crate) fn cost_in_global(self, bytes: u32, mask: u32, addresses: &[u64; 32]) -> GlobalCost {
        count::global_access(self.global_kind(), bytes, mask, addresses)
    }

    /// The kind by which it is counted in global memory.
    pub(crate) fn global_kind(self) -> GlobalKind {
        match self {
            Self::CompareAndSwap => GlobalKind::CompareAndSwap,
            _ if self.is_atomic() => GlobalKind::Atomic,
            _ => GlobalKind::Plain,
        }
    }

    /// Whether lanes with the same address are served one after the other.
    pub fn is_atomic(self) -> bool {
        matches!(
            self,
            Self::Atomic | Self::Reduction | Self::CompareAndSwap | Self::Increment
        )
    }
}

/// One memory instruction of one warp.
#[derive(Clone, Copy)]
pub(crate) struct WarpAccess<'a> {
    /// What it does.
    pub class: AccessClass,
    /// Where: global, shared or local.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes.
    pub mask: u32,
    /// Addresses in the space, by lane; meaningless for inactive lanes. In
    /// local memory, offsets in the thread's own memory.
    pub addresses: &'a [u64; 32],
    /// Bytes from each lane's address to the next one's, if all lanes are active and this
    /// is known and the same for all.
    pub stride: Option<u64>,
    /// The block's number in the grid.
    pub block: u64,
    /// For shared memory, the number of the block that owns it: mostly the same.
    pub owner: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// What it orders.
    pub order: Order,
    /// For whom.
    pub scope: Scope,
    /// Whether an atomic replaces whatever was there.
    pub overwrites: bool,
    /// The lanes of a compare-and-swap that found something else: they only read.
    pub failed: u32,
    /// Whether it relies on nothing writing there while the kernel runs
    /// (`ld.global.nc`).
    pub is_constant: bool,
    /// By lane, how many of the bytes are really accessed, if not all
    /// (asynchronous copies).
    pub lane_bytes: Option<&'a [u32; 32]>,
}

impl<'a> WarpAccess<'a> {
    /// An ordinary access: nothing is known of its stride, it orders nothing, and
    /// each lane accesses all its bytes.
    #[inline(always)]
    pub fn new(
        lanes: Lanes,
        class: AccessClass,
        space: Space,
        bytes: u32,
        addresses: &'a [u64; 32],
    ) -> Self {
        Self {
            class,
            space,
            bytes,
            mask: lanes.mask,
            addresses,
            stride: None,
            block: lanes.block,
            owner: lanes.block,
            warp: lanes.warp,
            order: Order::Weak,
            scope: Scope::Device,
            overwrites: false,
            failed: 0,
            is_constant: false,
            lane_bytes: None,
        }
    }

    /// The lanes that access anything: those of an asynchronous copy that only fill with zeros
    /// fetch nothing.
    #[inline(always)]
    pub fn fetching(&self) -> u32 {
        let Some(lane_bytes) = self.lane_bytes else {
            return self.mask;
        };
        let lanes = (0..32).filter(|&lane| lane_bytes[lane] != 0);
        self.mask & lanes.fold(0, |mask, lane| mask | 1 << lane)
    }

    /// A load of a word by every lane.
    #[cfg(test)]
    pub fn example(addresses: &'a [u64; 32]) -> Self {
        let lanes = Lanes {
            block: 0,
            warp: 0,
            mask: u32::MAX,
        };
        Self::new(lanes, AccessClass::Load, Space::Global, 4, addresses)
    }
}

/// Where all lanes of a warp load or store, each at the same distance from the lane before.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// What they do.
    pub class: AccessClass,
    /// Where.
    pub space: Space,
    /// Bytes per lane: a power of two, of which the addresses are multiples.
    pub bytes: u32,
    /// Lane 0's address in the space.
    pub first: u64,
    /// Bytes from each lane's address to the next one's.
    pub stride: u64,
}

impl Row {
    /// Whether each lane begins where the one before it ends.
    #[inline(always)]
    pub fn is_contiguous(&self) -> bool {
        self.stride == u64::from(self.bytes)
    }
}

/// A load or store of a [`Row`].
pub(crate) struct RowAccess {
    pub row: Row,
    /// As in [`WarpAccess`].
    pub block: u64,
    pub owner: u64,
    pub warp: u32,
    pub order: Order,
    pub scope: Scope,
    pub is_constant: bool,
}

impl RowAccess {
    /// The same access with the lanes' addresses.
    pub fn with_addresses<R>(&self, f: impl FnOnce(&WarpAccess<'_>) -> R) -> R {
        let row = self.row;
        let mut addresses = [0; 32];
        let mut next: [u64; 4] = std::array::from_fn(|lane| {
            let distance = row.stride.wrapping_mul(lane as u64);
            row.first.wrapping_add(distance)
        });
        for four in addresses.as_chunks_mut().0 {
            *four = next;
            next = next.map(|address| address.wrapping_add(row.stride << 2));
        }
        let lanes = Lanes {
            block: self.block,
            warp: self.warp,
            mask: u32::MAX,
        };
        f(&WarpAccess {
            stride: Some(row.stride),
            owner: self.owner,
            order: self.order,
            scope: self.scope,
            is_constant: self.is_constant,
            ..WarpAccess::new(lanes, row.class, row.space, row.bytes, &addresses)
        })
    }
}

/// Some lanes of a warp.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// The block's number in the grid.
    pub block: u64,
    /// The warp's number in the block.
    pub warp: u32,
    /// The lanes.
    pub mask: u32,
}

/// Memory that a bulk copy reads or writes.
pub(crate) struct BulkTouch {
    /// Shared or global.
    pub space: Space,
    /// Addresses, in order.
    pub ranges: Vec<Range<u64>>,
}

/// A bulk copy that a thread starts.
pub(crate) struct BulkStart {
    /// It will be reported by this.
    pub id: CopyId,
    /// The block that has the shared memory that is written or, by a copy to global
    /// memory, read.
    pub owner: u64,
    pub reads: BulkTouch,
    pub writes: BulkTouch,
    /// The barrier that counts its bytes, if one does.
    pub barrier: Option<u32>,
    /// Bytes of the elements that it combines with what is there, if it does.
    pub reduces: Option<u32>,
}

/// A warp, or a part of one, comes to a block barrier.
pub(crate) struct BarrierArrival {
    /// The barrier's instruction.
    pub instruction: u32,
    /// Who comes.
    pub lanes: Lanes,
    /// Whether those are all lanes of the warp that have not ended.
    pub is_whole_warp: bool,
    /// The barrier's number.
    pub barrier: usize,
    /// The thread count that the instruction gives, if any.
    pub threads: Option<u32>,
    /// Whether it waits there (`bar.arrive` does not).
    pub waits: bool,
}

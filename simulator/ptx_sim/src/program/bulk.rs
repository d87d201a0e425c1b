//! Bulk copies: `cp.async.bulk`, with and without a tensor map, and `cp.reduce.async.bulk`.

use super::memory::{AtomicKind, AtomicType};
use super::slot::{AddressOperand, Slot};

/// An instruction on bulk copies.
pub(crate) enum BulkOp {
    /// Contiguous bytes.
    Copy(BulkCopy),
    /// A tile of a tensor.
    Tile(TileCopy),
    /// `cp.async.bulk.prefetch.tensor`: only checks the map, which must have this many
    /// dimensions.
    Prefetch { map: AddressOperand, rank: usize },
    /// `cp.async.bulk.commit_group`
    Commit,
    /// `cp.async.bulk.wait_group`
    Wait {
        /// Groups that need not be done.
        n_left: u32,
        /// `.read`: only their sources have to have been read.
        reads_only: bool,
    },
    /// `st.bulk`: zeros.
    Zero {
        address: AddressOperand,
        bytes: Slot,
    },
}

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From global memory to the cluster's shared memory.
    GlobalToShared,
    /// From the block's shared memory to global memory.
    SharedToGlobal,
    /// From the block's shared memory to the cluster's.
    SharedToShared,
}

/// How a copy to shared memory signals its arrival.
#[derive(Clone, Copy)]
pub(crate) struct Signal {
    /// A barrier that counts its bytes.
    pub barrier: AddressOperand,
    /// The blocks of the cluster to which it goes, a bit for each rank.
    pub multicast: Option<Slot>,
}

/// `cp.async.bulk`, `cp.reduce.async.bulk`
pub(crate) struct BulkCopy {
    pub direction: Direction,
    pub to: AddressOperand,
    pub from: AddressOperand,
    pub bytes: Slot,
    /// None towards global memory.
    pub signal: Option<Signal>,
    pub reduction: Option<BulkReduction>,
}

/// `cp.async.bulk.tensor`, `cp.reduce.async.bulk.tensor`
pub(crate) struct TileCopy {
    /// In shared memory.
    pub shared: AddressOperand,
    pub map: AddressOperand,
    /// Of 32 bits, one for each dimension.
    pub coordinates: Vec<Slot>,
    /// None towards global memory.
    pub signal: Option<Signal>,
    /// Only towards global memory. Its type is the tensor's.
    pub reduction: Option<AtomicKind>,
}

/// How a reduction combines a value with the element in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BulkReduction {
    pub kind: AtomicKind,
    pub ty: AtomicType,
    /// Bytes of an element.
    pub bytes: u32,
}

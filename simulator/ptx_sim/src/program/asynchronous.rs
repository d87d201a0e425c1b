//! Copies and stores that are done later.

use super::mbarrier::Mbarrier;
use super::memory::{Access, Atomic};
use super::slot::{AddressOperand, Slot};

/// `cp.async`
pub(crate) struct AsyncCopy {
    /// Target, in the shared space.
    pub to: AddressOperand,
    /// Source, in the global space.
    pub from: AddressOperand,
    /// 4, 8 or 16.
    pub bytes: u32,
    /// Bytes to copy, by lane; the rest of the target is filled with zeros.
    pub source_bytes: Option<Slot>,
    /// `.cg`: past the first-level cache.
    pub bypasses: bool,
}

/// `st.async` or `red.async`: a store to the cluster's shared memory that is reported to a barrier in
/// the same block's memory.
pub(crate) struct AsyncStore {
    pub update: Update,
    /// The barrier's count of the bytes afterwards (`complete_tx`).
    pub complete: Mbarrier,
}

/// What is done to memory.
pub(crate) enum Update {
    Store(Access),
    Reduce(Atomic),
}

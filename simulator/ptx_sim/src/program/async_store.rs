//! `st.async` and `red.async`: stores to the cluster's shared memory that are reported to a
//! barrier in the same block's memory.

use super::mbarrier::Mbarrier;
use super::memory::{Access, Atomic};

/// `st.async` or `red.async`.
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

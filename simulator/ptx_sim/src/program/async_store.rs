//! `st.async` and `red.async`: stores to the cluster's shared memory of which a barrier in
//! the same block's memory is told.

use super::mbarrier::Mbarrier;
use super::memory::{Access, Atomic};

/// `st.async` or `red.async`.
pub(crate) struct AsyncStore {
    pub update: Update,
    /// Then the barrier counts the bytes (`complete_tx`).
    pub complete: Mbarrier,
}

/// What is done to memory.
pub(crate) enum Update {
    Store(Access),
    Reduce(Atomic),
}

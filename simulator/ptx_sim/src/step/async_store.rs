//! `st.async` and `red.async`.
//!
//! Here both they and their report to the barrier are done at once, which the hardware may
//! also do.

use super::access::store;
use super::atomic::atomic;
use super::context::Step;
use super::mbarrier::mbarrier;
use crate::checks::observer::Observer;
use crate::program::{AsyncStore, Update};
use crate::stop::Stop;

/// Carries out a store that a barrier counts.
#[cold]
pub(super) fn async_store<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &AsyncStore,
    mask: u32,
) -> Result<(), Stop> {
    match &op.update {
        Update::Store(access) => store(step, access, mask)?,
        Update::Reduce(reduce) => atomic(step, reduce, mask)?,
    }
    mbarrier(step, &op.complete, mask)
}

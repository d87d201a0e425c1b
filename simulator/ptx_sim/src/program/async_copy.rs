//! `cp.async`.

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

//! The choice of the check that judges accesses to shared and global memory.
//!
//! There are two: [`Exact`](super::exact::Exact) reports what is wrong, and the quick
//! [`Prefilter`](super::prefilter::Prefilter) only whether anything could be.

use std::ops::Range;

use super::access::{RowAccess, WarpAccess};
use super::bulk::{BulkAccess, DoneBy};
use super::copies::Copies;
use super::finding::Finding;
use super::order::{BlockOrder, Depth, GridOrder, Place};
use super::passed_on::PassedOn;

/// A block that runs, as far as its memory is concerned.
pub(crate) struct Running<B> {
    pub order: BlockOrder,
    pub copies: Copies,
    pub passed_on: PassedOn,
    /// What the judge remembers of its memory.
    pub memory: B,
}

impl<B: Default> Running<B> {
    /// The state of a block that has not begun.
    pub fn new() -> Self {
        let nowhere = Place {
            block: 0,
            depth: Depth::NONE,
            device: 0,
        };
        Self {
            order: BlockOrder::new(nowhere, 0),
            copies: Copies::default(),
            passed_on: PassedOn::default(),
            memory: B::default(),
        }
    }
}

/// Judges accesses to shared and global memory.
pub(crate) trait Judge: Send {
    /// What it remembers of a block.
    type Block: Default + Send;
    /// A block begins, with this much shared memory.
    fn started(&mut self, block: &mut Running<Self::Block>, shared_bytes: u32);
    /// A block has ended: the defect that something worse could still have explained.
    fn ended(&mut self, block: &mut Running<Self::Block>) -> Option<Finding>;
    /// An access to shared or global memory.
    fn access(
        &mut self,
        grid: &mut GridOrder,
        block: &mut Running<Self::Block>,
        instruction: u32,
        access: &WarpAccess<'_>,
    ) -> Option<Finding>;
    /// A weak access of a row, if it is in order at a glance; if not, nothing has changed, and it
    /// comes again as an [`access`](Self::access).
    fn row(
        &mut self,
        _block: &mut Running<Self::Block>,
        _instruction: u32,
        _access: &RowAccess,
    ) -> bool {
        false
    }
    /// An asynchronous copy that has been waited for, as the store that it now is.
    fn copied(
        &mut self,
        block: &mut Self::Block,
        order: &BlockOrder,
        instruction: u32,
        store: &WarpAccess<'_>,
    ) -> Option<Finding>;
    /// A bulk copy starts, as far as one of its two memories is concerned.
    fn bulk_begins(
        &mut self,
        block: &mut Running<Self::Block>,
        access: &mut BulkAccess,
    ) -> Option<Finding>;
    /// The copy is known to be done there.
    fn bulk_ends(&mut self, block: &mut Running<Self::Block>, access: &BulkAccess, by: DoneBy);
    /// The launch has ended: as [`ended`](Self::ended), of global memory.
    fn finished(&mut self) -> Option<Finding>;
    /// Lanes may write there, before an access says so or without one that is judged.
    fn may_write(&mut self, _access: &WarpAccess<'_>) {}
    /// A lane has allocated these bytes of the kernels' heap: earlier uses of them do not
    /// matter.
    fn taken(&mut self, _range: Range<u64>) {}
    /// Whether it cannot tell.
    fn gives_up(&self) -> bool {
        false
    }
}

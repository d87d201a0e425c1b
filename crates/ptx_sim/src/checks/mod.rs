//! What watches a kernel while it runs.
//!
//! An [`Observer`] is told of every block of instructions and every memory
//! access, and cannot change anything: semantics never import what is in here
//! beyond this trait, and a run without observers compiles to a loop without
//! them.

pub mod count;
pub mod counters;

use crate::ir::Space;

/// What a warp's memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessClass {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`: the old value comes back.
    Atomic,
    /// `red`: it does not.
    Reduction,
    /// `ldmatrix`: one row address per lane, `matrices` of eight rows.
    LoadMatrix,
    /// `stmatrix`
    StoreMatrix,
    /// `cp.async` that passes through the first-level cache (`.ca`).
    AsyncCopy,
    /// `cp.async` that bypasses it (`.cg`).
    AsyncCopyBypass,
}

/// One memory instruction of one warp.
pub struct WarpAccess<'a> {
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
    /// Bytes from each lane's address to the next one's, where all lanes are
    /// active and that is the same for all and known.
    pub stride: Option<u64>,
}

/// Watches a run.
pub trait Observer: Send {
    /// Whether it wants to be told of anything at all.
    const ON: bool;
    /// The lanes of `mask` begin block number `counter`.
    fn block(&mut self, counter: u32, mask: u32);
    /// Instruction number `instruction` is guarded, and `mask` lanes of the
    /// block's `block_mask` carry it out.
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32);
    /// Instruction number `instruction` accesses memory.
    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>);
}

/// Watches nothing.
pub struct Blind;

impl Observer for Blind {
    const ON: bool = false;
    #[inline(always)]
    fn block(&mut self, _: u32, _: u32) {}
    #[inline(always)]
    fn guarded(&mut self, _: u32, _: u32, _: u32) {}
    #[inline(always)]
    fn access(&mut self, _: u32, _: &WarpAccess<'_>) {}
}

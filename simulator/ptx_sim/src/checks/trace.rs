//! A trace of one block of a launch, event by event: which addresses each lane of a warp accessed,
//! and what its warps waited for.
//!
//! [`Report::counts`](crate::Report::counts) says what accesses cost; a trace says which accesses
//! there were, so that they can be inspected. Request one with
//! [`LaunchOptions::trace`](crate::LaunchOptions::trace).
//!
//! Events are in the order in which the simulator ran them. A GPU could have taken that order
//! too; it says nothing about time.
//!
//! Left out: values; instructions that neither access memory nor wait; accesses by [bulk
//! copies](TraceKind::BulkStarted), which belong to no thread; and launches with
//! [`check`](crate::LaunchOptions::check), which may run more than once.

use std::ops::Range;

use crate::checks::access::AccessClass;
use crate::checks::count::{self, GlobalCost, Phase, SharedCost};
use crate::diagnostics::Source;
use ptx::ir::Space;

/// The part of a launch that is traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// The block, by its number in the grid, counted along x first.
    pub block: u64,
    /// How many accesses are kept for each instruction of each warp: the first ones.
    pub accesses: u32,
    /// How many events are kept in total.
    pub events: usize,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            block: 0,
            accesses: 64,
            events: 100_000,
        }
    }
}

/// The events of one block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trace {
    /// The block's number in the grid.
    pub block: u64,
    /// What happened, in the simulator's order.
    pub events: Vec<TraceEvent>,
    /// The instructions that events name.
    pub instructions: Vec<TracedInstruction>,
    /// Whether there were more events than could be kept.
    pub is_cut: bool,
    /// Accesses between these that were not kept, because enough of their instruction were
    /// ([`TraceOptions::accesses`]).
    pub n_omitted: u64,
}

/// An instruction that events name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracedInstruction {
    /// The function that holds it.
    pub function: String,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// The opcode as written.
    pub opcode: String,
    /// Source line, where the PTX has line tables.
    pub loc: Option<Source>,
    /// The calls that the source line was inlined at, the innermost first, where the PTX
    /// names them.
    pub inlined_at: Vec<Source>,
}

/// Something that lanes of a warp did, or that happened in their block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceEvent {
    /// The warp's number in the block; 0 for what happens to the block.
    pub warp: u32,
    /// The lanes; none for what happens to the block.
    pub lanes: u32,
    /// The instruction, by its place in [`Trace::instructions`], where it is known.
    pub instruction: Option<u32>,
    /// What it was.
    pub kind: TraceKind,
    /// How often it was repeated: a warp that polls a barrier does so in one event.
    pub times: u32,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceKind {
    /// A warp accesses memory.
    Access(Box<TracedAccess>),
    /// Lanes come to a barrier of the block.
    Arrived {
        /// Its number.
        barrier: u32,
        /// Whether they wait there (`bar.arrive` does not).
        waits: bool,
    },
    /// A barrier of the block releases its warps.
    Released {
        /// Its number.
        barrier: u32,
    },
    /// Lanes arrive at the barrier of their cluster.
    ClusterArrived,
    /// Lanes go on after it.
    ClusterLeft,
    /// Lanes close their group of asynchronous copies.
    CopiesCommitted,
    /// Lanes have waited for their groups of copies.
    CopiesAwaited {
        /// The number of youngest groups not waited for; none if all copies were.
        n_left: Option<u32>,
    },
    /// A thread starts a bulk copy.
    BulkStarted {
        /// The number by which its arrival names it.
        copy: u64,
        /// How many bytes it moves.
        bytes: u64,
        /// Whether that goes to shared memory.
        to_shared: bool,
        /// The bytes that it will write, in the memory that it goes to.
        target: Vec<Range<u64>>,
        /// Address of the barrier in shared memory that counts its bytes, if one does.
        barrier: Option<u32>,
    },
    /// The bytes of a bulk copy are in shared memory.
    BulkArrived {
        /// The copy.
        copy: u64,
    },
    /// A thread has waited for a bulk copy to global memory, at least until it was read.
    BulkDone {
        /// The copy.
        copy: u64,
    },
    /// The phase of a barrier in shared memory is over.
    PhaseOver {
        /// Its address there.
        barrier: u32,
    },
    /// A warp issues a product of its warpgroup.
    ProductIssued,
    /// A warp closes its group of products.
    ProductsCommitted,
    /// A warp has waited for all of its groups of products but the youngest `n_left`.
    ProductsAwaited {
        /// Groups that may still be in flight.
        n_left: u32,
    },
}

/// One memory instruction of one warp.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TracedAccess {
    /// What it does.
    pub class: AccessClass,
    /// Where: global, shared or local. Generic addresses are resolved.
    pub space: Space,
    /// Bytes per lane.
    pub bytes: u32,
    /// Active lanes; of an asynchronous copy, those that fetch anything.
    pub mask: u32,
    /// Addresses in the space, by lane; 0 for inactive lanes.
    pub addresses: [u64; 32],
    /// Whether it is another block's shared memory.
    pub is_of_other_block: bool,
}

impl TracedAccess {
    /// An access by the lanes of `mask`, as a trace would have it.
    pub fn new(
        class: AccessClass,
        space: Space,
        bytes: u32,
        mask: u32,
        addresses: [u64; 32],
    ) -> Self {
        Self {
            class,
            space,
            bytes,
            mask,
            addresses,
            is_of_other_block: false,
        }
    }

    /// What it costs in shared memory, as it is counted; nothing elsewhere, in another block's
    /// shared memory, and for copies that bypass the banks.
    pub fn shared_cost(&self) -> SharedCost {
        if !self.uses_banks() {
            return SharedCost::default();
        }
        self.class
            .cost_in_shared(self.bytes, self.mask, &self.addresses)
    }

    /// The phases in which its lanes are served by the banks of shared memory; none where they
    /// are not.
    pub fn phases(&self) -> Vec<Phase> {
        if !self.uses_banks() {
            return Vec::new();
        }
        let kind = self.class.shared_kind(self.mask);
        let offsets = self.addresses.map(|address| address as u32);
        count::phases(kind, self.bytes, self.mask, &offsets)
    }

    /// What it costs in global or local memory, as it is counted; nothing in shared memory.
    pub fn global_cost(&self) -> GlobalCost {
        match self.space {
            Space::Shared | Space::Param => GlobalCost::default(),
            Space::Local => count::local_access(self.bytes, self.mask, &self.addresses),
            Space::Global | Space::Const | Space::Generic => {
                self.class
                    .cost_in_global(self.bytes, self.mask, &self.addresses)
            }
        }
    }

    fn uses_banks(&self) -> bool {
        self.space == Space::Shared
            && !self.is_of_other_block
            && self.class != AccessClass::AsyncCopyBypass
    }
}

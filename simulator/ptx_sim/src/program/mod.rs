//! A decoded module, which the interpreter runs.
//!
//! Decoding resolves everything that does not depend on the launch. Registers,
//! constants and special registers alike are *slots*: byte offsets into a
//! frame of registers that each warp owns, so an instruction reads a constant
//! as it reads a register. Control flow is made of [`Block`]s: a run of
//! instructions that all see the same active lanes, and one [`Terminator`]
//! that says where the lanes go.

//!
//! This file has the program's outline; each kind of instruction has its own file, and so
//! have the parts that all share ([`slot`], [`order`]).

mod asynchronous;
mod bulk;
mod collective;
mod control;
mod init;
mod lanewise;
mod matrix;
mod mbarrier;
mod memory;
mod order;
mod slot;
mod tensor;
mod warpgroup;
mod wmma;

pub(crate) use asynchronous::{AsyncCopy, AsyncStore, Update};
pub(crate) use bulk::{BulkCopy, BulkOp, BulkReduction, Direction, Signal, TileCopy};
pub(crate) use collective::{Collective, CollectiveKind, Reduction, Shuffle, ShuffleMode};
pub(crate) use control::{
    Argument, Barrier, BarrierKind, Call, CallTarget, ClusterBarrier, Terminator,
};
pub(crate) use init::Init;
pub(crate) use lanewise::{ClockRead, Convert, Divide, PredicateOp, Transfer, VideoOp};
pub(crate) use matrix::{MatrixOp, Multiply, ROW_BYTES, Shape, TileMove};
pub(crate) use mbarrier::{BarrierWord, MOST_ARRIVALS, MOST_BYTES, Mbarrier, MbarrierKind};
pub(crate) use memory::{Access, Atomic, AtomicKind, AtomicType, PartialLoad, RowMove};
pub(crate) use order::{Order, Scope};
pub(crate) use slot::{AddressOperand, BlockId, Guard, Slot};
pub(crate) use tensor::{Tensor, TensorKind};
pub(crate) use warpgroup::{LeftOperand, SetRegisters, WarpgroupOp, Wgmma};
pub(crate) use wmma::{Fragment, WmmaKind, WmmaMatrix, WmmaMove, WmmaMultiply, WmmaShape};

use std::collections::BTreeSet;

use crate::lanes::LaneOp;
use ptx::ir::{FuncId, VarId};

/// A decoded module.
pub(crate) struct Program {
    /// In the order of `ir::Module::functions`; `None` for declarations.
    pub functions: Vec<Option<Function>>,
}

impl Program {
    /// Those of these functions that have a body.
    pub fn functions_of(&self, reachable: &BTreeSet<u32>) -> impl Iterator<Item = &Function> {
        let function = |&index| self.functions.get(index as usize)?.as_ref();
        reachable.iter().filter_map(function)
    }

    /// Their instructions.
    pub fn code_of(&self, reachable: &BTreeSet<u32>) -> impl Iterator<Item = &Insn> {
        let functions = self.functions_of(reachable);
        functions.flat_map(|function| &function.code)
    }
}

/// A decoded function.
pub(crate) struct Function {
    /// Its place in the module.
    pub id: FuncId,
    /// `.entry`
    pub is_entry: bool,
    /// Size of a register frame.
    pub frame_bytes: u32,
    /// Values to put in place when a frame is made.
    pub inits: Vec<(Slot, Init)>,
    /// Registers that may be read before they are written, with their sizes;
    /// they start as zero.
    pub zeroed: Vec<(Slot, u32)>,
    /// Blocks; execution starts at the first.
    pub blocks: Vec<Block>,
    /// Instructions of all blocks.
    pub code: Vec<Insn>,
    /// Those that are lane-wise and have no guard once more, close together.
    pub lanewise: Vec<LaneOp>,
    /// Bytes of local memory that a call takes per thread: `.local`
    /// variables, call parameters, and its own parameters and return values.
    pub local_bytes: u32,
    /// The alignment of the first of those.
    pub local_align: u32,
    /// Where that is in a kernel, whose call is the first.
    pub local_start: u32,
    /// Offsets of its `.local` variables in that memory.
    pub local_offsets: Vec<u32>,
    /// Offsets of the parameters in that memory (device functions only).
    pub param_offsets: Vec<u32>,
    /// Offsets of the return values in that memory.
    pub return_offsets: Vec<u32>,
    /// By register, where its value is, and from which instruction to which that place is its own.
    pub homes: Vec<Option<Home>>,
    /// PTX instructions that it has.
    pub n_instructions: u32,
    /// Variables that it names.
    pub variables: Vec<VarId>,
    /// Functions that it calls or takes the address of.
    pub callees: Vec<FuncId>,
    /// Whether it makes addresses of other blocks' shared memory (`mapa`).
    pub maps_ranks: bool,
}

/// Where a register's value is.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    /// The slot.
    pub slot: Slot,
    /// The first and the last instruction between which no other register has it.
    pub first: u32,
    pub last: u32,
}

/// A run of instructions under one set of active lanes.
pub(crate) struct Block {
    /// Range in [`Function::code`].
    pub first: u32,
    /// End of that range.
    pub end: u32,
    /// Range of PTX instructions that it stands for, the terminator's
    /// included, numbered within the function.
    pub ptx_first: u32,
    /// End of that range.
    pub ptx_end: u32,
    /// Whether some branch reconverges here.
    pub is_join: bool,
    /// Where the lanes go.
    pub terminator: Terminator,
}

impl Block {
    /// Whether it has no instruction but the one that ends it.
    pub fn is_only_an_end(&self) -> bool {
        self.first == self.end && self.ptx_end - self.ptx_first <= 1
    }

    /// What it takes of a slice of time, in warp instructions.
    #[inline(always)]
    pub fn cost(&self) -> u32 {
        (self.ptx_end - self.ptx_first).max(1)
    }

    /// The PTX instruction that ends it.
    pub fn last(&self) -> u32 {
        self.ptx_end.saturating_sub(1)
    }
}

/// An instruction that does not change the active lanes.
pub(crate) struct Insn {
    /// The predicate that guards it.
    pub guard: Option<Guard>,
    /// PTX instruction that it belongs to, numbered within the function.
    pub ptx: u32,
    /// From here on, lane-wise instructions of the block without a guard: how many, and where
    /// they begin in [`Function::lanewise`].
    pub n_lanewise: u32,
    pub lanewise: u32,
    /// What it does.
    pub op: Op,
}

/// What an instruction does.
pub(crate) enum Op {
    /// Each lane computes from its own registers.
    Lanes(LaneOp),
    /// An integer division by a register, or its remainder.
    Divide(Box<Divide>),
    /// Combines predicates: truth table over two of them.
    Predicate(PredicateOp),
    /// A conversion that has no loop of its own.
    Convert(Box<Convert>),
    /// A video instruction.
    Video(Box<VideoOp>),
    /// `mov` between predicates and registers, packing and unpacking.
    Transfer(Box<Transfer>),
    /// `ld`
    Load(Box<Access>),
    /// `ld` of which not all bytes matter.
    LoadParts(Box<PartialLoad>),
    /// `st`
    Store(Box<Access>),
    /// `atom` and `red`
    Atomic(Box<Atomic>),
    /// `shfl.sync`
    Shuffle(Box<Shuffle>),
    /// `vote.sync`, `match.sync`, `redux.sync`, `activemask`, `elect.sync`,
    /// `bar.warp.sync`
    Collective(Box<Collective>),
    /// A special register that changes while the kernel runs.
    Clock(ClockRead),
    /// `fence`, `membar`: no effect in a simulator that executes one access at a time, but
    /// observers are notified.
    Fence(Scope),
    /// `fence.proxy.async` of shared memory: likewise.
    ProxyFence,
    /// Prefetches and hints.
    Nothing,
    /// `nanosleep`: lets other warps go first.
    Yield,
    /// Tensor-core tiles and asynchronous copies.
    Matrix(Box<MatrixOp>),
    /// An instruction of a warpgroup.
    Warpgroup(Box<WarpgroupOp>),
    /// A barrier in shared memory.
    Mbarrier(Box<Mbarrier>),
    /// A bulk copy.
    Bulk(Box<BulkOp>),
    /// `st.async`, `red.async`
    AsyncStore(Box<AsyncStore>),
    /// Unknown: reported when executed.
    Unsupported(Box<Unsupported>),
}

/// An instruction that the decoder could not give a meaning.
#[derive(Clone, Debug)]
pub(crate) struct Unsupported {
    /// The opcode as written.
    pub opcode: String,
    /// What about it is not supported.
    pub reason: String,
    /// Whether it certainly is PTX.
    pub is_known: bool,
    /// Column of what is not supported in the PTX text, from 1.
    pub column: u32,
    /// Its line, with a mark.
    pub excerpt: String,
}

//! A decoded module: what the interpreter runs.
//!
//! Decoding resolves everything that does not depend on the launch. Registers,
//! constants and special registers alike are *slots*: byte offsets into a
//! frame of registers that each warp owns, so an instruction reads a constant
//! as it reads a register. Control flow is made of [`Block`]s: a run of
//! instructions that all see the same active lanes, and one [`Terminator`]
//! that says where the lanes go.

use crate::ir::{FuncId, Space, VarId};
use crate::lanes::LaneOp;
use crate::numeric::convert::Conversion;

/// Byte offset of a register, constant or special value in a frame.
pub(crate) type Slot = u32;
/// Index into [`Function::blocks`].
pub(crate) type BlockId = u32;

/// A decoded module.
pub(crate) struct Program {
    /// In the order of `ir::Module::functions`; `None` for declarations.
    pub functions: Vec<Option<Function>>,
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
    /// Bytes of local memory that a call takes per thread: `.local`
    /// variables, call parameters, and its own parameters and return values.
    pub local_bytes: u32,
    /// Offsets of the parameters in that memory (device functions only).
    pub param_offsets: Vec<u32>,
    /// Offsets of the return values in that memory.
    pub return_offsets: Vec<u32>,
    /// PTX instructions that it has.
    pub n_instructions: u32,
    /// Variables that it names.
    pub variables: Vec<VarId>,
    /// Functions that it calls or takes the address of.
    pub callees: Vec<FuncId>,
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

/// An instruction that does not change the active lanes.
pub(crate) struct Insn {
    /// The predicate that guards it.
    pub guard: Option<Guard>,
    /// PTX instruction that it belongs to, numbered within the function.
    pub ptx: u32,
    /// What it does.
    pub op: Op,
}

/// A predicate to be tested.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    /// The predicate's slot.
    pub slot: Slot,
    /// `u32::MAX` for `@!p`, else 0: XORed onto the predicate.
    pub flip: u32,
}

/// What an instruction does.
pub(crate) enum Op {
    /// Each lane computes from its own registers.
    Lanes(LaneOp),
    /// Combines predicates: truth table over two of them.
    Predicate(PredicateOp),
    /// A conversion that has no loop of its own.
    Convert(Box<Convert>),
    /// `mov` between predicates and registers, packing and unpacking.
    Transfer(Box<Transfer>),
    /// `ld`
    Load(Box<Access>),
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
    /// `fence`, `membar`: nothing to do in a machine that carries out one
    /// access at a time, but observers want to know.
    Fence(Scope),
    /// Prefetches and hints.
    Nothing,
    /// `nanosleep`: lets other warps go first.
    Yield,
    /// Tensor-core tiles and asynchronous copies.
    Matrix(Box<crate::step::matrix::MatrixOp>),
    /// A barrier in shared memory.
    Mbarrier(Box<crate::step::mbarrier::Mbarrier>),
    /// Not known: reported when executed.
    Unsupported(Box<Unsupported>),
}

/// An instruction that the decoder could not give a meaning.
pub(crate) struct Unsupported {
    /// The opcode as written.
    pub opcode: String,
    /// What about it is not supported.
    pub reason: String,
}

/// `d = table[a, b]` on predicates.
#[derive(Clone, Copy)]
pub(crate) struct PredicateOp {
    /// Destination.
    pub d: Slot,
    /// First source.
    pub a: Slot,
    /// Second source.
    pub b: Slot,
    /// Bit `a + 2 b` is the result.
    pub table: u8,
}

/// `cvt` in its general form.
pub(crate) struct Convert {
    pub conversion: Conversion,
    pub d: Slot,
    pub d_bytes: u32,
    pub a: Slot,
    pub a_bytes: u32,
}

/// Moves that change a register's shape.
pub(crate) enum Transfer {
    /// `mov.b32 d, {a, b}`: parts, lowest first, each `part_bytes` wide.
    Pack {
        d: Slot,
        bytes: u32,
        parts: Vec<Slot>,
        part_bytes: u32,
    },
    /// `mov.b32 {d, e}, a`; `None` for `_`.
    Unpack {
        a: Slot,
        bytes: u32,
        parts: Vec<Option<Slot>>,
        part_bytes: u32,
    },
    /// 1 or 0 in a 32-bit register, from a predicate.
    FromPredicate { d: Slot, a: Slot },
}

/// A clock to be read.
#[derive(Clone, Copy)]
pub(crate) struct ClockRead {
    /// Destination.
    pub d: Slot,
    /// 4 or 8 bytes.
    pub bytes: u32,
    /// Right shift before the value is stored (`%clock_hi`).
    pub shift: u32,
}

/// An address operand: a slot and a distance.
#[derive(Clone, Copy)]
pub(crate) struct AddressOperand {
    /// Where the base is.
    pub slot: Slot,
    /// Whether the base has 64 bits (else 32).
    pub wide: bool,
    /// Added to it, in bytes.
    pub offset: i64,
}

/// `ld` or `st`.
pub(crate) struct Access {
    /// State space; [`Space::Param`] here means a call parameter, which lies
    /// in the frame's local memory.
    pub space: Space,
    /// The address.
    pub address: AddressOperand,
    /// Bytes of one element in memory: 1, 2, 4, 8 or 16.
    pub element_bytes: u32,
    /// Bytes of the registers: 2, 4, 8 or 16.
    pub register_bytes: u32,
    /// Whether a load sign-extends.
    pub signed: bool,
    /// One slot per element; `None` for `_`.
    pub registers: Vec<Option<Slot>>,
    /// What it orders. Spinning on a load that is not weak is a sign of
    /// waiting for another thread.
    pub order: Order,
    /// For whom.
    pub scope: Scope,
}

/// Memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// None: an ordinary access.
    Weak,
    /// `.relaxed`, `.volatile`: may meet other accesses, orders nothing.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

impl Order {
    /// Whether it acquires what was released.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease)
    }

    /// Whether it releases what came before.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease)
    }
}

/// The threads that an atomic access or a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// `.cta`: those of the block.
    Block,
    /// `.cluster`, `.gpu`, `.sys`: those of the device, and maybe more.
    Device,
}

/// What an atomic does to the word in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicKind {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
    Min,
    Max,
}

/// The type that an atomic works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicType {
    /// Bits or unsigned, of 2, 4, 8 or 16 bytes.
    Unsigned,
    /// Signed.
    Signed,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

/// `atom` or `red`.
pub(crate) struct Atomic {
    /// Generic, global or shared.
    pub space: Space,
    /// The address.
    pub address: AddressOperand,
    /// The operation.
    pub kind: AtomicKind,
    /// Its type.
    pub ty: AtomicType,
    /// Bytes of one element.
    pub bytes: u32,
    /// Where the old values go, one per element; empty for `red`.
    pub old: Vec<Option<Slot>>,
    /// Operands, one per element.
    pub value: Vec<Slot>,
    /// `cas`: the value to store (then `value` is what is compared).
    pub swap: Option<Slot>,
    /// `red`, and `atom` in global memory whose result nobody reads: the GPU's
    /// assembler makes a `red` of it.
    pub is_reduction: bool,
    /// 1 is added to a `u32`, and nobody reads the result.
    pub is_increment: bool,
    /// What it orders, beside being atomic.
    pub order: Order,
    /// For whom it is atomic, and orders.
    pub scope: Scope,
}

/// How a shuffle finds its source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShuffleMode {
    Up,
    Down,
    Butterfly,
    Index,
}

/// `shfl.sync`
pub(crate) struct Shuffle {
    pub mode: ShuffleMode,
    pub d: Option<Slot>,
    /// Predicate: the source lane was in range.
    pub in_range: Option<Slot>,
    pub a: Slot,
    pub b: Slot,
    /// Clamp value in bits 0–4, segment mask in bits 8–12.
    pub c: Slot,
    /// Member mask.
    pub members: Slot,
}

/// What a collective computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectiveKind {
    All,
    Any,
    Uniform,
    Ballot,
    MatchAny {
        bytes: u32,
    },
    MatchAll {
        bytes: u32,
    },
    Reduce(Reduction),
    ActiveMask,
    Elect,
    /// `bar.warp.sync`
    Converge,
}

/// `redux.sync`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    Add,
    MinU,
    MaxU,
    MinS,
    MaxS,
    And,
    Or,
    Xor,
}

/// An instruction that the lanes of a mask carry out together.
pub(crate) struct Collective {
    pub kind: CollectiveKind,
    /// Predicate or register.
    pub d: Option<Slot>,
    /// Second, predicate destination (`match.all`, `elect`).
    pub p: Option<Slot>,
    /// Source: a predicate for votes, a register otherwise.
    pub a: Option<Slot>,
    /// For votes on `!p`: `u32::MAX`.
    pub flip: u32,
    /// Member mask; none for `activemask`.
    pub members: Option<Slot>,
}

/// Where the lanes of a block go.
pub(crate) enum Terminator {
    /// All to one block.
    Jump(BlockId),
    /// By a predicate.
    Branch {
        /// Lanes for which it holds go to `taken`.
        guard: Guard,
        taken: BlockId,
        other: BlockId,
        /// Where both meet again.
        join: Option<BlockId>,
    },
    /// By an index.
    Switch {
        index: Slot,
        targets: Vec<BlockId>,
        join: Option<BlockId>,
    },
    /// Back to the caller; in an entry, the threads end.
    Return,
    /// The threads end.
    Exit,
    /// The kernel gives up.
    Trap,
    /// A call.
    Call(Box<Call>),
    /// A block barrier.
    Barrier(Box<Barrier>),
}

/// A call.
pub(crate) struct Call {
    pub target: CallTarget,
    pub arguments: Vec<Argument>,
    pub returns: Vec<Argument>,
    /// Where execution goes on; `None` where the callee does not return.
    pub next: Option<BlockId>,
}

/// What is called.
pub(crate) enum CallTarget {
    Function(FuncId),
    /// A function's address in a 64-bit register.
    Pointer(Slot),
    /// A function that the simulator provides.
    External(String),
}

/// An argument or return value.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// Bytes of the caller's local memory.
    Memory { offset: u32, bytes: u32 },
    /// A register of the caller.
    Register { slot: Slot, bytes: u32 },
}

impl Argument {
    /// Its size.
    pub fn bytes(self) -> u32 {
        match self {
            Self::Memory { bytes, .. } | Self::Register { bytes, .. } => bytes,
        }
    }
}

/// What a barrier does beside waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    Arrive,
    And,
    Or,
    PopCount,
}

/// `bar` or `barrier`.
pub(crate) struct Barrier {
    pub kind: BarrierKind,
    /// All lanes of the warp must be there (`bar`, `barrier….aligned`).
    pub aligned: bool,
    /// Barrier number, in a 32-bit register.
    pub id: Slot,
    /// Threads to wait for; all of the block where absent.
    pub threads: Option<Slot>,
    /// Source predicate of a reduction.
    pub source: Option<Guard>,
    /// Its destination: a predicate, or a register for `popc`.
    pub d: Option<Slot>,
    pub next: BlockId,
}

/// A value that a slot has before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Init {
    /// The same bits in every lane; predicates hold all lanes in 4 bytes.
    Constant { bits: u64, bytes: u32 },
    /// A predicate that is the same in every lane.
    Predicate(bool),
    /// A special register.
    Special {
        register: crate::ir::Special,
        bytes: u32,
    },
    /// The address of a variable.
    Variable {
        id: VarId,
        offset: i64,
        generic: bool,
        bytes: u32,
    },
    /// The address of a local variable or call parameter.
    Local {
        offset: i64,
        generic: bool,
        bytes: u32,
    },
    /// The generic address of an entry's parameter.
    ParamAddress { offset: i64, bytes: u32 },
    /// The value of an entry's parameter: `size` bytes at `offset`, extended
    /// to `bytes`.
    Param {
        offset: u32,
        size: u32,
        signed: bool,
        bytes: u32,
    },
    /// The address of a function.
    Function { id: FuncId, bytes: u32 },
}

impl Init {
    /// Bytes that one lane takes (a predicate's four hold all lanes).
    pub fn bytes(self) -> u32 {
        match self {
            Self::Predicate(_) => 0,
            Self::Constant { bytes, .. }
            | Self::Special { bytes, .. }
            | Self::Variable { bytes, .. }
            | Self::Local { bytes, .. }
            | Self::ParamAddress { bytes, .. }
            | Self::Param { bytes, .. }
            | Self::Function { bytes, .. } => bytes,
        }
    }
}

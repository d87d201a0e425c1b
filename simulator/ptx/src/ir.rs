//! A PTX module as the parser leaves it: names resolved, scopes flattened,
//! nothing yet decided about how an instruction is carried out.
//!
//! The parser checks the grammar (directives, operands, scopes, labels); the
//! decoder (`decode`) gives each opcode its meaning and checks its types. An
//! opcode that the decoder does not know is therefore not a parse error: a
//! module that holds one can be loaded, and its other kernels run.

use std::fmt;

pub use crate::excerpt::ParseError;

/// One PTX source file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version MAJOR.MINOR`.
    pub version: (u32, u32),
    /// The architecture of `.target`, e.g. `sm_80`.
    pub target: String,
    /// `.file` entries: (index, path).
    pub files: Vec<(u32, String)>,
    /// Calls that instructions were inlined at (`.loc` with `inlined_at`).
    pub call_sites: Vec<SourceLoc>,
    /// Variables at module scope, and those declared inside functions that
    /// outlive a call (`.shared`, `.global`, `.const`), in order of appearance.
    pub variables: Vec<Variable>,
    /// Entries and device functions, declarations without body included.
    pub functions: Vec<Function>,
    /// `.alias NAME, FUNCTION`: other names for functions.
    pub aliases: Vec<(String, FuncId)>,
    /// If it was linked, the names of the texts that it is made of.
    pub inputs: Vec<String>,
}

/// Which other modules know a function or variable by its name, once they are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// None.
    #[default]
    Local,
    /// All; only one of them may define it. Also what is only declared (`.extern`).
    Visible,
    /// All; several may define it, and one of them counts (`.weak`).
    Weak,
    /// As `Weak`, for a variable without initial contents: the largest counts
    /// (`.common`).
    Common,
}

/// Index into [`Module::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);
/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(pub u32);
/// Index into [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegId(pub u32);
/// Index into [`Function::locals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);
/// Index into [`Function::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// State space of a variable or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// No space given: a generic address.
    Generic,
    /// `.global`
    Global,
    /// `.shared` (and `.shared::cta`)
    Shared,
    /// `.local`
    Local,
    /// `.const`
    Const,
    /// `.param`
    Param,
}

/// A fundamental PTX type.
#[allow(missing_docs)] // Named exactly as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    Tf32,
    F32,
    F64,
}

impl Type {
    /// Reads a type's name without its dot, e.g. `u32`.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "pred" => Self::Pred,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "f16x2" => Self::F16x2,
            "bf16" => Self::Bf16,
            "bf16x2" => Self::Bf16x2,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            _ => return None,
        })
    }

    /// Size in bytes; a predicate counts as one.
    pub fn size_bytes(self) -> u32 {
        match self {
            Self::Pred | Self::B8 | Self::U8 | Self::S8 => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::B32
            | Self::U32
            | Self::S32
            | Self::F32
            | Self::F16x2
            | Self::Bf16x2
            | Self::Tf32 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 => 8,
            Self::B128 => 16,
        }
    }
}

/// Most constants of a module, in bytes.
pub const MAX_CONST_BYTES: u64 = 64 << 10;

/// A variable with storage: global, constant or shared memory.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name in the PTX text.
    pub name: String,
    /// `Global`, `Const` or `Shared`.
    pub space: Space,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes; 0 for `.extern .shared NAME[]`, whose size the launch
    /// gives.
    pub size_bytes: u64,
    /// `.extern`
    pub is_extern: bool,
    /// `.attribute(.managed)`: host and devices have it at one address.
    pub is_managed: bool,
    /// Which other modules know it.
    pub linkage: Linkage,
    /// Initial bytes, shorter than `size_bytes` where the rest is zero.
    pub init: Vec<u8>,
    /// Addresses of other variables within `init`.
    pub relocations: Vec<Relocation>,
    /// The function it was declared in, if any.
    pub scope: Option<FuncId>,
    /// Line of the declaration in the PTX text, from 1.
    pub line: u32,
    /// For an array, the type of its elements.
    pub array_element: Option<Type>,
}

impl Variable {
    /// Whether it is a declaration that leaves its size open: in shared memory, the block's
    /// dynamic memory. (One with a size has storage of its own if no module defines it: ptxas
    /// treats it as a definition.)
    pub fn is_open(&self) -> bool {
        self.is_extern && self.size_bytes == 0
    }
}

/// The `n_bytes` bytes at `offset` of an initialiser hold the address of
/// `target` plus `addend`, shifted right by `shift` bits; a generic address
/// where `generic` is set. Whole addresses have 8 bytes and no shift; packed
/// structs are initialised byte by byte (`0xFF00(NAME)`).
#[allow(missing_docs)] // The sentences above name every field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    pub offset: u64,
    pub target: RelocationTarget,
    pub addend: i64,
    pub generic: bool,
    pub n_bytes: u8,
    pub shift: u8,
}

/// What an address in an initialiser points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelocationTarget {
    /// A variable.
    Variable(VarId),
    /// A function: tables of functions, vtables.
    Function(FuncId),
}

/// A parameter or return value of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name in the PTX text.
    pub name: String,
    /// Element type.
    pub ty: Type,
    /// Size in bytes, arrays included.
    pub size_bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Offset in the function's parameter block, in bytes.
    pub offset: u32,
    /// Declared as a register: the body begins by loading a parameter, and stores a
    /// return value before it returns.
    pub in_register: bool,
}

impl Param {
    /// Whether it lies where another does, and takes the same bytes.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        (self.size_bytes, self.offset) == (other.size_bytes, other.offset)
    }
}

/// A variable that lives as long as a call: `.local` storage, or a `.param`
/// declared inside a body to pass arguments.
#[derive(Clone, Debug)]
pub struct Local {
    /// Name in the PTX text.
    pub name: String,
    /// `Local` or `Param`.
    pub space: Space,
    /// Size in bytes.
    pub size_bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// For an array, the type of its elements.
    pub array_element: Option<Type>,
}

/// Launch limits that a kernel declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.maxntid`: largest block, as a product.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the only block shape allowed.
    pub required_block: Option<[u32; 3]>,
    /// `.minnctapersm`: blocks per SM to aim for.
    pub min_blocks: Option<u32>,
    /// `.maxnreg`
    pub max_registers: Option<u32>,
    /// `.reqnctapercluster`: the only cluster shape allowed.
    pub required_cluster: Option<[u32; 3]>,
    /// `.maxclusterrank`: blocks of the largest cluster.
    pub max_cluster: Option<u32>,
    /// `.explicitcluster`: only a launch that names a cluster's shape is allowed.
    pub needs_cluster: bool,
    /// `.blocksareclusters`: the launch counts the grid in clusters.
    pub blocks_are_clusters: bool,
}

/// A virtual register.
#[derive(Clone, Debug)]
pub struct Register {
    /// Name in the PTX text, e.g. `%r3`.
    pub name: String,
    /// Declared type.
    pub ty: Type,
}

/// An entry or a device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name in the PTX text (for Rust functions, mangled).
    pub name: String,
    /// `.entry`: can be launched.
    pub is_entry: bool,
    /// Which other modules know it.
    pub linkage: Linkage,
    /// Which of [`Module::inputs`] it comes from; 0 if there are none.
    pub input: u32,
    /// `.noreturn`
    pub no_return: bool,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// Return values, in order.
    pub returns: Vec<Param>,
    /// Launch limits (entries only).
    pub bounds: LaunchBounds,
    /// Every register that an instruction names, of every scope; a vector
    /// register is its components in a row.
    pub registers: Vec<Register>,
    /// `.local` variables and call parameters.
    pub locals: Vec<Local>,
    /// Label targets: index into `body` (equal to its length at the end).
    pub labels: Vec<Label>,
    /// Branch target lists (`.branchtargets`), for `brx.idx`.
    pub branch_targets: Vec<Vec<LabelId>>,
    /// Instructions in order; `None` for a declaration.
    pub body: Option<Vec<Instruction>>,
    /// Line of the declaration in the PTX text, from 1.
    pub line: u32,
}

/// A label and the instruction it stands before.
#[derive(Clone, Debug)]
pub struct Label {
    /// Name in the PTX text.
    pub name: String,
    /// Index into [`Function::body`].
    pub target: u32,
}

/// A place in the source that the PTX was compiled from (`.loc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceLoc {
    /// `.file` index.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
    /// The call that it was inlined at.
    pub inlined_at: Option<CallSiteId>,
}

/// Index into [`Module::call_sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallSiteId(pub u32);

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Mnemonic and modifiers as written, without operands:
    /// `ld.global.nc.v4.f32`.
    pub opcode: String,
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// Operands in order of writing.
    pub operands: Vec<Operand>,
    /// Line in the PTX text, from 1.
    pub line: u32,
    /// Where the opcode is in the PTX text, in bytes from its start.
    pub offset: u32,
    /// Source place in force, where the PTX has line tables.
    pub loc: Option<SourceLoc>,
    /// For a vector load, the bytes that matter, a bit each
    /// (`.pragma "used_bytes_mask …"`); the others may not be there.
    pub used_bytes: Option<u64>,
}

/// The predicate that guards an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A `.pred` register.
    pub register: RegId,
    /// `@!p`
    pub negated: bool,
}

/// One operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// `!p`, a negated predicate source.
    NotReg(RegId),
    /// `d|p`: a destination and a predicate destination.
    Pair(Box<Operand>, Box<Operand>),
    /// `_`, a destination that is thrown away.
    Sink,
    /// An integer constant, as 64 bits in two's complement.
    Int(i64),
    /// `0fXXXXXXXX`, by its bits.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal literal, by its bits.
    F64(u64),
    /// A special register, e.g. `%tid.x`, `%laneid`, `%clock64`.
    Special(Special),
    /// `{a, b, c, d}`; an operand `{a}` is `a` itself.
    Vector(Vec<Operand>),
    /// `[base + offset]`
    Address(Address),
    /// A variable's address used as a value (`mov.u64 %rd1, NAME;`, with an
    /// optional `+ offset`). Its address within its own space; generic only
    /// where written `generic(NAME)`.
    Symbol {
        /// What is named.
        base: Symbol,
        /// Added to its address, in bytes.
        offset: i64,
        /// `generic(NAME)`
        generic: bool,
    },
    /// `NAME[3]`, an element of an array: its address as a value, or what an access goes
    /// to, which then needs no brackets around it.
    Element {
        /// The array.
        base: Symbol,
        /// The element's place in it, in bytes.
        offset: i64,
    },
    /// A branch target.
    Label(LabelId),
    /// A `.branchtargets` list.
    BranchTargets(u32),
    /// A function named in a call or taken as an address.
    Function(FuncId),
    /// In a call, a name that nothing declares, or a `.callprototype` label.
    /// A declared external such as `vprintf` is a `Function` without body.
    External(String),
    /// `(a, b)` of a call.
    List(Vec<Operand>),
    /// `[base + offset, {x, y}]` of a tensor or texture access: the address, then what
    /// follows the comma.
    IndexedAddress(Address, Vec<Operand>),
    /// `r.b0` … `r.b3` (0 to 3), `r.h0`, `r.h1` (4, 5): part of a scalar
    /// register, in video instructions. (`v.x` of a vector register is a
    /// plain `Reg`, and `v` a `Vector`.)
    Component(RegId, u8),
}

/// `[base + offset]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// What the offset is added to.
    pub base: AddressBase,
    /// In bytes.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddressBase {
    /// A register of 32 or 64 bits.
    Reg(RegId),
    /// A named object.
    Symbol(Symbol),
    /// A plain number.
    Absolute,
}

/// A named object with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A global, constant or shared variable.
    Variable(VarId),
    /// Parameter number N of the enclosing function.
    Param(u32),
    /// Return value number N of the enclosing function.
    Return(u32),
    /// A `.local` variable or call parameter of the enclosing function.
    Local(LocalId),
}

/// A predefined, read-only register.
#[allow(missing_docs)] // Named as in PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// `%tid.x` … by axis 0..3.
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    ClusterId(u8),
    NclusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    Clock,
    ClockHi,
    Clock64,
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    DynamicSmemSize,
    TotalSmemSize,
    /// `WARP_SZ`
    WarpSize,
    /// `%envreg0` to `%envreg31`, by number: what the driver leaves for the kernel.
    Environment(u8),
    /// Other registers, kept by index into
    /// [`parse::OTHER_SPECIALS`](crate::parse::OTHER_SPECIALS); the decoder
    /// says which it knows.
    Other(u16),
}

impl Module {
    /// The function named `name`.
    pub fn function(&self, name: &str) -> Option<(FuncId, &Function)> {
        self.functions
            .iter()
            .enumerate()
            .find(|(_, f)| f.name == name)
            .map(|(i, f)| (FuncId(i as u32), f))
    }

    /// The entries that can be launched, in order of appearance.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_entry)
    }

    /// The calls that a place was inlined at, the innermost first.
    pub fn calls_around(&self, loc: SourceLoc) -> impl Iterator<Item = SourceLoc> {
        let site = |loc: &SourceLoc| {
            let CallSiteId(index) = loc.inlined_at?;
            self.call_sites.get(index as usize).copied()
        };
        std::iter::successors(site(&loc), move |loc| site(loc))
    }

    /// The number of `.target`, and its letter if it has one: 90 and `a` of `sm_90a`.
    pub fn architecture(&self) -> (u32, &str) {
        let number = self
            .target
            .trim_start_matches(|c: char| !c.is_ascii_digit());
        let letter = number.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &number[..number.len() - letter.len()];
        (digits.parse().unwrap_or(0), letter)
    }

    /// Bytes of its constants, one after the other.
    pub fn const_bytes(&self) -> u64 {
        let constants = self.variables.iter();
        constants
            .filter(|variable| variable.space == Space::Const && !variable.is_extern)
            .fold(0, |end: u64, constant| {
                let start = end.next_multiple_of(u64::from(constant.align.max(1)));
                start.saturating_add(constant.size_bytes)
            })
    }

    /// The text that a function comes from, if the module was linked.
    pub fn input(&self, function: &Function) -> Option<&str> {
        self.inputs.get(function.input as usize).map(String::as_str)
    }

    /// The path of a `.file` index.
    pub fn file(&self, index: u32) -> Option<&str> {
        self.files
            .iter()
            .find(|(i, _)| *i == index)
            .map(|(_, path)| path.as_str())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!(".{self:?}").to_lowercase())
    }
}

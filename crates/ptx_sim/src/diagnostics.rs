//! How a launch can end badly, told apart.
//!
//! A launch that cannot start is [`LaunchError::InvalidLaunch`]. Once it runs,
//! three outcomes are kept apart: the kernel did something wrong
//! ([`LaunchError::Fault`], and [`LaunchError::OutOfFuel`] for a kernel that
//! does not end), it used an instruction that the simulator does not know
//! ([`LaunchError::Unsupported`]), or the simulator itself is at fault
//! ([`LaunchError::Internal`]).

use std::fmt;

use crate::ir::Space;

/// Why a launch did not succeed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The launch asks for something that no device or this kernel allows.
    #[error("invalid launch of `{kernel}`: {message}")]
    InvalidLaunch {
        /// The kernel's name.
        kernel: String,
        /// What is wrong, and what the limit is.
        message: String,
    },
    /// The kernel did wrong.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The kernel used up its fuel.
    #[error("{0}")]
    OutOfFuel(Box<OutOfFuel>),
    /// An instruction that the simulator does not know was executed.
    #[error("unsupported instruction `{opcode}` ({reason})\n  {place}")]
    Unsupported {
        /// The opcode as written.
        opcode: String,
        /// What about it is not supported.
        reason: String,
        /// Where it stands.
        place: Box<Place>,
    },
    /// A bug of the simulator.
    #[error("internal error of the simulator, please report it: {message}\n  {place}")]
    Internal {
        /// What happened.
        message: String,
        /// Where the kernel was.
        place: Box<Place>,
    },
}

/// An instruction's place: in the PTX, and in the source it was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The kernel that was launched.
    pub kernel: String,
    /// The function that holds the instruction.
    pub function: String,
    /// The instruction's opcode.
    pub opcode: String,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// Source line, where the PTX has line tables.
    pub source: Option<Source>,
    /// The functions that led there, innermost call first.
    pub callers: Vec<Caller>,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The function that called.
    pub function: String,
    /// Line of the call in the PTX text.
    pub ptx_line: u32,
    /// Source line of the call.
    pub source: Option<Source>,
}

/// A place in source code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source {
    /// Path, as the compiler wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if unknown.
    pub column: u32,
}

/// A thread: where in the grid it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadPlace {
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// Warp number in the block.
    pub warp: u32,
    /// Lane number in the warp.
    pub lane: u32,
}

/// What a kernel did wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The wrong.
    pub kind: FaultKind,
    /// The instruction.
    pub place: Place,
    /// The first thread that did it.
    pub thread: ThreadPlace,
}

/// A kind of memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic operation.
    Atomic,
}

/// One of two accesses that race.
#[derive(Clone, Debug)]
pub struct AccessSide {
    /// What it did.
    pub kind: AccessKind,
    /// The instruction.
    pub place: Place,
    /// The thread.
    pub thread: ThreadPlace,
}

/// The kinds of fault.
#[derive(Clone, Debug)]
pub enum FaultKind {
    /// An access outside every allocation.
    OutOfBounds {
        /// What it tried.
        access: AccessKind,
        /// The state space, generic addresses resolved.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is, relative to the nearest allocation.
        relation: Relation,
    },
    /// An address that is not a multiple of the access's size.
    Misaligned {
        /// What it tried.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The address.
        address: u64,
        /// Bytes of the access, and the alignment it needs.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An access through a null pointer, or nearly null.
    NullPointer {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// An access to memory that was freed.
    UseAfterFree {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that was.
        relation: Relation,
    },
    /// A store to constant memory or to a kernel parameter.
    ReadOnly {
        /// What it tried.
        access: AccessKind,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// An address of one space used in another.
    WrongSpace {
        /// What it tried.
        access: AccessKind,
        /// The space that the instruction names.
        expected: Space,
        /// The space that the address belongs to.
        actual: Space,
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
    },
    /// `bar.sync` reached by some lanes of a warp while others that still run
    /// are elsewhere.
    DivergentBarrier {
        /// Lanes that reached it.
        arrived: u32,
        /// Lanes of the warp that still run.
        live: u32,
    },
    /// Threads wait at barriers and nobody is left to free them.
    BarrierDeadlock {
        /// One sentence per group of waiting warps.
        waiting: Vec<String>,
    },
    /// A barrier number or thread count that the hardware does not have.
    BadBarrier {
        /// What is wrong with it.
        message: String,
    },
    /// A warp-wide instruction names lanes that never get there.
    MissingLanes {
        /// Lanes named by the mask.
        members: u32,
        /// Lanes that reached it.
        arrived: u32,
        /// Lanes of the warp that still run.
        live: u32,
    },
    /// An instruction of the whole warp, after some of its lanes have ended or
    /// in a warp that never had 32.
    PartialWarp {
        /// Lanes that reached it.
        arrived: u32,
    },
    /// A lane carries out a warp-wide instruction whose mask leaves it out.
    NotAMember {
        /// Lanes named by the mask.
        members: u32,
    },
    /// Two accesses that nothing orders, at least one of which writes.
    Race {
        /// What the later one did.
        access: AccessKind,
        /// The state space.
        space: Space,
        /// The later one's address.
        address: u64,
        /// Its bytes.
        bytes: u32,
        /// Where that is.
        relation: Relation,
        /// The earlier one.
        other: Box<AccessSide>,
    },
    /// Shared memory read that nothing was written to.
    Unwritten {
        /// The address.
        address: u64,
        /// Bytes of the access.
        bytes: u32,
        /// Where that is.
        relation: Relation,
    },
    /// `trap`, which panics and failed assertions end in.
    Trap {
        /// What was printed before, if anything.
        message: Option<String>,
    },
    /// `brx.idx` with an index past its list.
    BadBranchIndex {
        /// The index.
        index: u32,
        /// Entries of the list.
        n_targets: u32,
    },
    /// A call through something that is not a function's address.
    BadCallTarget {
        /// The address.
        address: u64,
    },
    /// Local memory used up, mostly by endless recursion.
    StackOverflow {
        /// Bytes that the thread would need.
        needed_bytes: u32,
        /// Bytes that it can have.
        limit_bytes: u32,
    },
}

/// An address relative to an allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Nothing is near it.
    Nowhere,
    /// Relative to a labelled range.
    Near {
        /// The range's name.
        label: String,
        /// Its size in bytes.
        size_bytes: u64,
        /// Address minus the range's start.
        offset: i128,
    },
}

impl Relation {
    fn describe(&self, bytes: u32) -> String {
        let Self::Near {
            label,
            size_bytes,
            offset,
        } = self
        else {
            return "no allocation is there".to_owned();
        };
        // Names are quoted, descriptions are not.
        let label = if label.contains(' ') {
            label.clone()
        } else {
            format!("`{label}`")
        };
        let size = *size_bytes as i128;
        let end = offset + i128::from(bytes);
        if *offset < 0 {
            format!(
                "{} before the start of {label} ({})",
                count(-offset),
                count(size)
            )
        } else if *offset >= size {
            let past = offset - size;
            if past == 0 {
                format!("just past the end of {label} ({})", count(size))
            } else {
                format!("{} past the end of {label} ({})", count(past), count(size))
            }
        } else if end > size {
            format!(
                "the last {} lie past the end of {label} ({})",
                count(end - size),
                count(size)
            )
        } else {
            format!("{} into {label} ({})", count(*offset), count(size))
        }
    }
}

/// `1 byte`, `17 bytes`.
fn count(n: i128) -> String {
    if n == 1 {
        "1 byte".to_owned()
    } else {
        format!("{n} bytes")
    }
}

/// A kernel that used up its fuel.
#[derive(Clone, Debug)]
pub struct OutOfFuel {
    /// Warp instructions that it was allowed.
    pub fuel: u64,
    /// Where one of its warps was.
    pub place: Place,
    /// Which warp that was.
    pub thread: ThreadPlace,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in kernel `{}`", self.kernel)?;
        if self.function != self.kernel {
            write!(f, ", function `{}`", self.function)?;
        }
        if let Some(source) = &self.source {
            write!(f, ", at {source}")?;
        }
        write!(f, " (PTX line {}: {})", self.ptx_line, self.opcode)?;
        // Recursion repeats itself; once is enough.
        for same in self.callers.chunk_by(|a, b| a == b) {
            let caller = &same[0];
            write!(f, "\n    called from `{}`", caller.function)?;
            if let Some(source) = &caller.source {
                write!(f, ", at {source}")?;
            }
            write!(f, " (PTX line {})", caller.ptx_line)?;
            if same.len() > 1 {
                write!(f, ", {} times", same.len())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for ThreadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        write!(
            f,
            "block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}) (warp {}, lane {})",
            self.warp, self.lane
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}\n  {}", self.kind, self.place, self.thread)
    }
}

impl fmt::Display for OutOfFuel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the kernel did not end within {} warp instructions; it may never end\n  {}\n  {}",
            self.fuel, self.place, self.thread
        )
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic access",
        })
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
    }
}

fn of_bytes(access: AccessKind, bytes: u32) -> String {
    format!("{access} of {}", count(i128::from(bytes)))
}

/// `lanes 0-3, 7`
fn lane_list(mask: u32) -> String {
    let mut parts = Vec::new();
    let mut lane = 0;
    while lane < 32 {
        if mask >> lane & 1 == 0 {
            lane += 1;
            continue;
        }
        let first = lane;
        while lane < 32 && mask >> lane & 1 == 1 {
            lane += 1;
        }
        parts.push(if lane == first + 1 {
            first.to_string()
        } else {
            format!("{first}-{}", lane - 1)
        });
    }
    match parts.len() {
        0 => "no lane".to_owned(),
        1 if mask.count_ones() == 1 => format!("lane {}", parts[0]),
        _ => format!("lanes {}", parts.join(", ")),
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds {
                access,
                space,
                address,
                bytes,
                relation,
            } => write!(
                f,
                "out of bounds: {} at {} address {address:#x}: {}",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes)
            ),
            Self::Misaligned {
                access,
                space,
                address,
                bytes,
                relation,
            } => write!(
                f,
                "misaligned: {} at {} address {address:#x}, which is not a multiple of {bytes}: {}",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes)
            ),
            Self::NullPointer {
                access,
                address,
                bytes,
            } => {
                write!(
                    f,
                    "null pointer: {} at address {address:#x}",
                    of_bytes(*access, *bytes)
                )
            }
            Self::UseAfterFree {
                access,
                address,
                bytes,
                relation,
            } => write!(
                f,
                "use after free: {} at address {address:#x}: {}, which was freed",
                of_bytes(*access, *bytes),
                relation.describe(*bytes)
            ),
            Self::ReadOnly {
                access,
                address,
                bytes,
                relation,
            } => write!(
                f,
                "write to read-only memory: {} at address {address:#x}: {}",
                of_bytes(*access, *bytes),
                relation.describe(*bytes)
            ),
            Self::WrongSpace {
                access,
                expected,
                actual,
                address,
                bytes,
            } => write!(
                f,
                "wrong space: {} in {} memory at address {address:#x}, which is a {} address",
                of_bytes(*access, *bytes),
                space_name(*expected),
                space_name(*actual)
            ),
            Self::DivergentBarrier { arrived, live } => write!(
                f,
                "barrier in divergent code: {} of the warp reached it, {} did not",
                lane_list(*arrived),
                lane_list(live & !arrived)
            ),
            Self::BarrierDeadlock { waiting } => {
                write!(f, "barrier deadlock: every thread that has not ended waits")?;
                waiting
                    .iter()
                    .try_for_each(|line| write!(f, "\n    {line}"))
            }
            Self::BadBarrier { message } => write!(f, "bad barrier: {message}"),
            Self::MissingLanes {
                members,
                arrived,
                live,
            } => write!(
                f,
                "the mask {members:#010x} names {} that never get here (here: {}; still running: {})",
                lane_list(members & live & !arrived),
                lane_list(*arrived),
                lane_list(*live)
            ),
            Self::PartialWarp { arrived } => write!(
                f,
                "it needs all 32 lanes of the warp, and only {} are there",
                lane_list(*arrived)
            ),
            Self::NotAMember { members } => {
                write!(
                    f,
                    "the mask {members:#010x} leaves out the lane that uses it"
                )
            }
            Self::Race {
                access,
                space,
                address,
                bytes,
                relation,
                other,
            } => write!(
                f,
                "race: {} at {} address {address:#x} ({}), in no order with an earlier {}\n  \
                 the earlier one: {}\n    {}\n  the later one:",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes),
                other.kind,
                other.place,
                other.thread
            ),
            Self::Unwritten {
                address,
                bytes,
                relation,
            } => write!(
                f,
                "read of unwritten memory: {} at shared address {address:#x} ({}), where nothing \
                 was written in this block",
                of_bytes(AccessKind::Load, *bytes),
                relation.describe(*bytes)
            ),
            Self::Trap {
                message: Some(message),
            } => write!(f, "the kernel trapped: {message}"),
            Self::Trap { message: None } => {
                write!(f, "the kernel trapped (a panic or a failed assertion)")
            }
            Self::BadBranchIndex { index, n_targets } => {
                write!(
                    f,
                    "branch index {index} is past its list of {n_targets} targets"
                )
            }
            Self::BadCallTarget { address } => {
                write!(
                    f,
                    "call through {address:#x}, which is not the address of a function"
                )
            }
            Self::StackOverflow {
                needed_bytes,
                limit_bytes,
            } => write!(
                f,
                "stack overflow: the thread needs {needed_bytes} bytes of local memory, \
                 the limit is {limit_bytes}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_listed_as_ranges() {
        assert_eq!(lane_list(0), "no lane");
        assert_eq!(lane_list(1), "lane 0");
        assert_eq!(lane_list(0b1000_1111), "lanes 0-3, 7");
        assert_eq!(lane_list(u32::MAX), "lanes 0-31");
    }

    #[test]
    fn addresses_are_told_by_their_allocation() {
        let near = |offset| Relation::Near {
            label: "x".into(),
            size_bytes: 64,
            offset,
        };
        assert_eq!(near(64).describe(4), "just past the end of `x` (64 bytes)");
        assert_eq!(
            near(81).describe(4),
            "17 bytes past the end of `x` (64 bytes)"
        );
        assert_eq!(
            near(-4).describe(4),
            "4 bytes before the start of `x` (64 bytes)"
        );
        assert_eq!(
            near(62).describe(4),
            "the last 2 bytes lie past the end of `x` (64 bytes)"
        );
        assert_eq!(near(6).describe(4), "6 bytes into `x` (64 bytes)");
    }
}

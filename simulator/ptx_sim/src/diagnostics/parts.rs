//! Accesses, places and the other parts that a report is made of, with their texts.

use std::fmt;

use ptx::ir::Space;

/// An instruction's place: in the PTX, and in the source it was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The kernel that was launched.
    pub kernel: String,
    /// The function that holds the instruction.
    pub function: String,
    /// The instruction's opcode.
    pub opcode: String,
    /// The PTX text that it is in, if the module was linked.
    pub input: Option<String>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// Source line, where the PTX has line tables: the innermost in the package of the
    /// function, not that of a library.
    pub source: Option<Source>,
    /// Whether `source` is that of an instruction just before: this one was made of several lines'
    /// and has none of its own.
    pub is_near: bool,
    /// What was inlined there from libraries, innermost first.
    pub inside: Vec<Source>,
    /// The calls that the source line was inlined at, innermost first.
    pub inlined_at: Vec<Source>,
    /// The functions that led there, innermost call first.
    pub callers: Vec<Caller>,
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The function that called.
    pub function: String,
    /// The PTX text that it is in, if the module was linked.
    pub input: Option<String>,
    /// Line of the call in the PTX text.
    pub ptx_line: u32,
    /// Source line of the call.
    pub source: Option<Source>,
    /// The calls that this line was inlined at, innermost first.
    pub inlined_at: Vec<Source>,
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
    /// The device's number, if the machine has several.
    pub device: Option<u32>,
    /// `%ctaid`
    pub block: [u32; 3],
    /// `%tid`
    pub thread: [u32; 3],
    /// Warp number in the block.
    pub warp: u32,
    /// Lane number in the warp.
    pub lane: u32,
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
    /// An asynchronous copy.
    AsyncCopy,
    /// A product of a warpgroup (`wgmma`).
    Product,
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

/// What is wrong with the block in whose shared memory an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongBlock {
    /// The block of this rank has ended.
    Ended {
        /// Its rank in the cluster.
        rank: u32,
    },
    /// Nothing orders the access before the end of the block of this rank.
    MayHaveEnded {
        /// Its rank in the cluster.
        rank: u32,
    },
    /// There is no block of this rank.
    NoSuchRank {
        /// The rank.
        rank: u32,
        /// Blocks of the cluster.
        n_blocks: u32,
    },
    /// No block can have that address.
    Nobody,
    /// The instruction accesses only its own block's memory.
    NotOwn {
        /// The rank of the address's block in the cluster.
        rank: u32,
    },
}

/// What the dynamic shared memory of a launch is called.
pub(crate) const DYNAMIC_SHARED: &str = "the launch's dynamic shared memory";

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
    /// Whether an index below 0 leads there, or one of 32 bits that was below 0 and then widened.
    pub(crate) fn is_of_a_negative_index(&self) -> bool {
        let Self::Near {
            size_bytes, offset, ..
        } = *self
        else {
            return false;
        };
        offset < 0 || offset - i128::from(size_bytes) >= 1 << 31
    }

    /// Whether it is relative to dynamic shared memory, of which the launch has none.
    pub(crate) fn is_of_no_dynamic_memory(&self) -> bool {
        let Self::Near {
            label,
            size_bytes: 0,
            ..
        } = self
        else {
            return false;
        };
        label.starts_with(DYNAMIC_SHARED)
    }

    /// The same in the shared memory of another block.
    pub(crate) fn in_block(self, [x, y, z]: [u32; 3]) -> Self {
        self.of(&format!("block ({x}, {y}, {z})"))
    }

    /// The same in the memory of another device.
    pub(crate) fn on_device(self, device: u32) -> Self {
        self.of(&format!("device {device}"))
    }

    /// The same, where the memory belongs to something else.
    fn of(self, owner: &str) -> Self {
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::Near {
                label,
                size_bytes,
                offset,
            } => Self::Near {
                label: format!("{} of {owner}", quoted(&label)),
                size_bytes,
                offset,
            },
        }
    }

    /// Where an access of this many bytes is.
    pub(crate) fn describe(&self, bytes: u32) -> String {
        let Self::Near {
            label,
            size_bytes,
            offset,
        } = self
        else {
            return "no allocation is there".to_owned();
        };
        let label = quoted(label);
        let size = *size_bytes as i128;
        let past = offset - size;
        let past_last = past + i128::from(bytes);
        let place = match *offset {
            ..0 => format!("{} before the start of", count(-offset)),
            _ if past == 0 => "just past the end of".to_owned(),
            _ if past > 0 => format!("{} past the end of", count(past)),
            _ if past_last == 1 => "the last byte lies past the end of".to_owned(),
            _ if past_last > 0 => format!("the last {past_last} bytes lie past the end of"),
            _ => format!("{} into", count(*offset)),
        };
        format!("{place} {label} ({})", count(size))
    }
}

/// A range's label: names are quoted, descriptions are not.
fn quoted(label: &str) -> String {
    match label.contains(' ') {
        true => label.to_owned(),
        false => format!("`{}`", readable(label)),
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

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// ` of b.ptx`, if there are several texts.
fn of(input: &Option<String>) -> String {
    input
        .as_ref()
        .map_or(String::new(), |name| format!(" of {name}"))
}

/// A name of a function or variable as it stands in Rust; names from elsewhere stay as they are.
pub fn readable(name: &str) -> String {
    // As the macros of `cuda_std` write it: crate, kind, variable, and a number.
    if let [_, "shared", variable, _] = name.split('$').collect::<Vec<_>>()[..] {
        return variable.to_owned();
    }
    // LLVM tells variables apart by `.0`, in which PTX has no point.
    let plain = name.split("_$_").next().unwrap_or(name);
    match name.starts_with("_R") || name.starts_with("_ZN") {
        true => format!("{:#}", rustc_demangle::demangle(plain)),
        false => name.to_owned(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in kernel `{}`", self.kernel)?;
        if self.function != self.kernel {
            write!(f, ", function `{}`", readable(&self.function))?;
        }
        if let Some(source) = &self.source {
            let at = if self.is_near { "near" } else { "at" };
            write!(f, ", {at} {source}")?;
        }
        let opcode = &self.opcode;
        write!(
            f,
            " (PTX line {}{}: {opcode})",
            self.ptx_line,
            of(&self.input)
        )?;
        for source in self.inside.iter().rev() {
            write!(f, "\n    inside {source}")?;
        }
        for source in &self.inlined_at {
            write!(f, "\n    inlined at {source}")?;
        }
        // Recursion repeats itself; once is enough.
        for same in self.callers.chunk_by(|a, b| a == b) {
            let caller = &same[0];
            write!(f, "\n    called from `{}`", readable(&caller.function))?;
            if let Some(source) = &caller.source {
                write!(f, ", at {source}")?;
            }
            write!(f, " (PTX line {}{})", caller.ptx_line, of(&caller.input))?;
            if same.len() > 1 {
                write!(f, ", {} times", same.len())?;
            }
            for source in &caller.inlined_at {
                write!(f, "\n    inlined at {source}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for ThreadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        if let Some(device) = self.device {
            write!(f, "device {device}, ")?;
        }
        write!(
            f,
            "block ({bx}, {by}, {bz}), thread ({tx}, {ty}, {tz}) (warp {}, lane {})",
            self.warp, self.lane
        )
    }
}

impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Atomic => "atomic access",
            Self::AsyncCopy => "asynchronous copy",
            Self::Product => "product of a warpgroup",
        })
    }
}

pub(super) fn space_name(space: Space) -> &'static str {
    match space {
        Space::Generic => "generic",
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
    }
}

/// `store of 4 bytes at shared address 0x10`
pub(super) fn of_access(access: &AccessKind, bytes: &u32, space: &Space, address: &u64) -> String {
    let (n_bytes, space) = (count(i128::from(*bytes)), space_name(*space));
    format!("{access} of {n_bytes} at {space} address {address:#x}")
}

/// The same where the space goes without saying.
pub(super) fn at_address(access: &AccessKind, bytes: &u32, address: &u64) -> String {
    let n_bytes = count(i128::from(*bytes));
    format!("{access} of {n_bytes} at address {address:#x}")
}

/// Who can have written memory of a space.
pub(super) fn writers(space: Space) -> &'static str {
    match space {
        Space::Shared => "in this block",
        Space::Local => "by this thread",
        _ => "by the host or a kernel",
    }
}

/// What an operation may still do.
pub(super) fn doing(is_reading: bool) -> &'static str {
    if is_reading { "reading" } else { "writing" }
}

pub(super) const WRITES_IN_FLIGHT: &str = "writes a register that a product of its warpgroup, which \
    has not been waited for, may still read or write";
pub(super) const READS_IN_FLIGHT: &str =
    "reads a sum of a product of its warpgroup that it has not waited for";

/// What a product has no fence for: a write, or anything.
pub(super) fn missing_fence(write: Option<&AccessSide>) -> String {
    let Some(write) = write else {
        return "the warp has executed none before its first product".to_owned();
    };
    let write = write.whole();
    format!(
        "a product works on a register that was written after the warp's last fence\n  the write: \
         {write}\n  the product:"
    )
}

impl AccessSide {
    /// Its place and thread.
    pub(super) fn whole(&self) -> String {
        format!("{}\n    {}", self.place, self.thread)
    }
}

impl WrongBlock {
    /// What is wrong with an access to shared memory of the cluster that no block has.
    pub(super) fn of_access(self, access: AccessKind, bytes: u32, address: u64) -> String {
        let at = of_access(&access, &bytes, &Space::Shared, &address);
        match self {
            Self::Ended { rank } => format!(
                "block that has ended: {at} of the block of rank {rank} in the cluster, whose \
                 threads have all ended"
            ),
            Self::MayHaveEnded { rank } => format!(
                "block that may have ended: {at} of the block of rank {rank} in the cluster, which \
                 nothing orders before the end of that block"
            ),
            Self::NoSuchRank { rank, n_blocks } => {
                let blocks = match n_blocks {
                    1 => "one block".to_owned(),
                    n => format!("{n} blocks"),
                };
                format!("no such block: {at} of the block of rank {rank}, in a cluster of {blocks}")
            }
            Self::Nobody => format!("no such block: {at}, which no block of any cluster has"),
            Self::NotOwn { rank } => format!(
                "wrong space: an address in the shared memory of the block of rank {rank} in the \
                 cluster, used as one in the block's own: {}",
                at_address(&access, &bytes, &address)
            ),
        }
    }
}

/// The threads that a barrier waits for.
pub(super) fn barrier_count(threads: Option<u32>) -> String {
    threads.map_or("the whole block".to_owned(), |n| format!("{n} threads"))
}

/// `lanes 0-3, 7`
pub(super) fn lane_list(mask: u32) -> String {
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    let ranges = lanes.chunk_by(|a, b| a + 1 == *b);
    let parts: Vec<String> = ranges
        .map(|range| match range {
            [lane] => lane.to_string(),
            range => format!("{}-{}", range[0], range[range.len() - 1]),
        })
        .collect();
    match parts.len() {
        0 => "no lane".to_owned(),
        1 if mask.count_ones() == 1 => format!("lane {}", parts[0]),
        _ => format!("lanes {}", parts.join(", ")),
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
    fn names_of_rust_are_readable() {
        let symbol = "_RNvNvCsiA70bVoo70l_4mine7statics1N_$_0";
        assert_eq!(quoted(symbol), "`mine::statics::N`");
        assert_eq!(quoted("gpu_kernels_shared_0"), "`gpu_kernels_shared_0`");
        assert_eq!(quoted("gpu_kernels$shared$tile$12"), "`tile`");
    }

    #[test]
    fn addresses_are_told_by_their_allocation() {
        for (offset, place) in [
            (64, "just past the end of"),
            (81, "17 bytes past the end of"),
            (-4, "4 bytes before the start of"),
            (62, "the last 2 bytes lie past the end of"),
            (6, "6 bytes into"),
        ] {
            let near = Relation::Near {
                label: "x".into(),
                size_bytes: 64,
                offset,
            };
            assert_eq!(near.describe(4), format!("{place} `x` (64 bytes)"));
        }
    }
}

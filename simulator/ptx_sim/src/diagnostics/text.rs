//! Error messages: the texts of launches that fail.

use std::fmt;

use super::{
    AccessKind, AccessSide, Fault, FaultKind, FuelLimit, OutOfFuel, Place, Relation, Source,
    ThreadPlace, WrongBlock,
};
use ptx::ir::Space;

impl Relation {
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
            } => {
                let label = match label.contains(' ') {
                    true => label,
                    false => format!("`{label}`"),
                };
                Self::Near {
                    label: format!("{label} of {owner}"),
                    size_bytes,
                    offset,
                }
            }
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

/// A function's name as it stands in Rust; names from elsewhere stay as they are.
fn readable(name: &str) -> String {
    match name.starts_with("_R") {
        true => format!("{:#}", rustc_demangle::demangle(name)),
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
            write!(f, ", at {source}")?;
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

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}\n  {}", self.kind, self.place, self.thread)?;
        match self.advice() {
            Some(advice) => write!(f, "\n  what to do: {advice}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FuelLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Launch(n) => write!(f, "the kernel did not end within {n} warp instructions"),
            Self::Block(n) => write!(f, "a block did not end within {n} warp instructions"),
            Self::Waiting(n) => write!(
                f,
                "no running block has made progress for {n} warp instructions"
            ),
        }
    }
}

impl fmt::Display for OutOfFuel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; it may never end\n  {}\n  {}",
            self.limit, self.place, self.thread
        )?;
        if !self.doing.is_empty() {
            f.write_str("\n  in this block:")?;
        }
        for lanes in &self.doing {
            write!(f, "\n    {lanes}")?;
        }
        for barrier in &self.barriers {
            write!(f, "\n    {barrier}")?;
        }
        for sentence in &self.in_cluster {
            write!(f, "\n  {sentence}")?;
        }
        for (place, thread) in &self.elsewhere {
            write!(f, "\n  meanwhile, {place}\n    {thread}")?;
        }
        if self.n_not_begun > 0 {
            let (n, most) = (self.n_not_begun, self.most_resident);
            write!(
                f,
                "\n  {n} blocks of the grid have not begun: the device holds {most} such blocks \
                 at once, and others begin when some of them end"
            )?;
        }
        write!(f, "\n  what to do: {}", self.advice())
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

pub(super) fn of_bytes(access: AccessKind, bytes: u32) -> String {
    format!("{access} of {}", count(i128::from(bytes)))
}

/// A load that assumes constant memory.
fn not_constant(
    f: &mut fmt::Formatter<'_>,
    (address, bytes): (u64, u32),
    relation: &Relation,
    other: &AccessSide,
) -> fmt::Result {
    write!(
        f,
        "load of memory assumed constant: {} at global address {address:#x} ({}), which the \
         kernel itself has written\n  the {}: {}\n    {}\n  the load:",
        of_bytes(AccessKind::Load, bytes),
        relation.describe(bytes),
        other.kind,
        other.place,
        other.thread
    )
}

/// An access to shared memory of the cluster that no block has.
fn wrong_block(
    f: &mut fmt::Formatter<'_>,
    access: &str,
    address: u64,
    why: WrongBlock,
) -> fmt::Result {
    match why {
        WrongBlock::Ended { rank } => write!(
            f,
            "block that has ended: {access} at shared address {address:#x} of the block of rank \
             {rank} in the cluster, whose threads have all ended"
        ),
        WrongBlock::MayHaveEnded { rank } => write!(
            f,
            "block that may have ended: {access} at shared address {address:#x} of the block of \
             rank {rank} in the cluster, which nothing orders before the end of that block"
        ),
        WrongBlock::NoSuchRank { rank, n_blocks } => write!(
            f,
            "no such block: {access} at shared address {address:#x} of the block of rank {rank}, in \
             a cluster of {}",
            match n_blocks {
                1 => "one block".to_owned(),
                n => format!("{n} blocks"),
            }
        ),
        WrongBlock::Nobody => write!(
            f,
            "no such block: {access} at shared address {address:#x}, which no block of any cluster \
             has"
        ),
        WrongBlock::NotOwn { rank } => write!(
            f,
            "wrong space: an address in the shared memory of the block of rank {rank} in the \
             cluster, used as one in the block's own: {access} at address {address:#x}"
        ),
    }
}

/// The threads that a barrier waits for.
fn barrier_count(threads: Option<u32>) -> String {
    threads.map_or("the whole block".to_owned(), |n| format!("{n} threads"))
}

/// `lanes 0-3, 7`
pub(super) fn lane_list(mask: u32) -> String {
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
            Self::OutOfBounds { .. }
            | Self::Misaligned { .. }
            | Self::NullPointer { .. }
            | Self::WrongSpace { .. } => self.fmt_place(f),
            Self::WrongBlock {
                access,
                address,
                bytes,
                why,
            } => wrong_block(f, &of_bytes(*access, *bytes), *address, *why),
            Self::NotAPeer { .. }
            | Self::UseAfterFree { .. }
            | Self::InvalidFree { .. }
            | Self::ReadOnly { .. }
            | Self::Unwritten { .. } => self.fmt_state(f),
            Self::BadBulkCopy { message } => write!(f, "bad bulk copy: {message}"),
            Self::CopyOutlivesBlock { is_reading } => write!(
                f,
                "bulk copy not waited for: the block ends while the copy may still be {} its shared memory",
                if *is_reading { "reading" } else { "writing" }
            ),
            Self::Race { .. }
            | Self::CopyInFlight { .. }
            | Self::Pending { .. }
            | Self::NotConstant { .. } => self.fmt_order(f),
            Self::DivergentBarrier { .. }
            | Self::BarrierDeadlock { .. }
            | Self::BadBarrier { .. }
            | Self::DifferentBarriers { .. }
            | Self::DifferentCounts { .. } => self.fmt_barrier(f),
            Self::MissingLanes { .. }
            | Self::PartialWarp { .. }
            | Self::NotAMember { .. }
            | Self::AbsentSource { .. }
            | Self::DifferentMasks { .. } => self.fmt_lanes(f),
            Self::Asynchronous(fault) => write!(f, "{fault}"),
            Self::Trap { .. }
            | Self::BadBranchIndex { .. }
            | Self::BadCallTarget { .. }
            | Self::WrongCallee { .. }
            | Self::StackOverflow { .. }
            | Self::DivisionByZero => self.fmt_control(f),
        }
    }
}

impl FaultKind {
    /// The same of an access to the shared memory of another block.
    pub(crate) fn in_block(mut self, block: [u32; 3]) -> Self {
        if let Self::OutOfBounds { relation, .. } | Self::Misaligned { relation, .. } = &mut self {
            let own = std::mem::replace(relation, Relation::Nowhere);
            *relation = own.in_block(block);
        }
        self
    }
}

/// The texts by kind of fault; each of these is called for its own kinds only.
impl FaultKind {
    /// An access to a place that it must not go to.
    fn fmt_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
            Self::WrongSpace {
                access,
                expected,
                actual,
                address,
                bytes,
            } => write!(
                f,
                "wrong space: a {} address used as a {} one: {} at address {address:#x}",
                space_name(*actual),
                space_name(*expected),
                of_bytes(*access, *bytes)
            ),
            _ => Ok(()),
        }
    }

    /// An access to memory that is not in a state for it.
    fn fmt_state(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPeer {
                access,
                address,
                bytes,
                device,
                relation,
            } => write!(
                f,
                "no peer access: {} at address {address:#x}, in the memory of device {device}: {}",
                of_bytes(*access, *bytes),
                relation.describe(*bytes)
            ),
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
            Self::InvalidFree {
                address,
                is_freed,
                relation,
            } => write!(
                f,
                "{} of address {address:#x}: {}",
                if *is_freed {
                    "second free"
                } else {
                    "invalid free"
                },
                relation.describe(1)
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
            Self::Unwritten {
                access,
                space,
                address,
                bytes,
                relation,
            } => write!(
                f,
                "read of unwritten memory: {} at {} address {address:#x} ({}), where nothing was \
                 written {}",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes),
                match space {
                    Space::Shared => "in this block",
                    Space::Local => "by this thread",
                    _ => "by the host or a kernel",
                }
            ),
            _ => Ok(()),
        }
    }

    /// Two accesses that nothing puts in order.
    fn fmt_order(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConstant {
                address,
                bytes,
                relation,
                other,
            } => not_constant(f, (*address, *bytes), relation, other),
            Self::Race {
                access,
                space,
                address,
                bytes,
                relation,
                other,
            } => write!(
                f,
                "race: {} at {} address {address:#x} ({}), unordered with an earlier {}\n  the \
                 earlier one: {}\n    {}\n  the later one:",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes),
                other.kind,
                other.place,
                other.thread
            ),
            Self::Pending {
                access,
                address,
                bytes,
                relation,
                work,
                writes,
            } => write!(
                f,
                "not waited for: {} at global address {address:#x} ({}), which may still be {} by {work}",
                of_bytes(*access, *bytes),
                relation.describe(*bytes),
                if *writes { "written" } else { "read" },
            ),
            Self::CopyInFlight {
                access,
                space,
                address,
                bytes,
                relation,
                copy,
                is_reading,
            } => write!(
                f,
                "asynchronous copy not waited for: {} at {} address {address:#x} ({}), which a copy \
                 may still be {}\n  the copy: {}\n    {}\n  the access:",
                of_bytes(*access, *bytes),
                space_name(*space),
                relation.describe(*bytes),
                if *is_reading { "reading" } else { "writing" },
                copy.place,
                copy.thread
            ),
            _ => Ok(()),
        }
    }

    /// A barrier.
    fn fmt_barrier(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivergentBarrier { arrived, live } => write!(
                f,
                "barrier in divergent code: {} of the warp reached it, {} did not",
                lane_list(*arrived),
                lane_list(live & !arrived)
            ),
            Self::BarrierDeadlock { waiting } => {
                write!(
                    f,
                    "barrier deadlock: every thread that has not ended is waiting"
                )?;
                waiting
                    .iter()
                    .try_for_each(|line| write!(f, "\n    {line}"))
            }
            Self::BadBarrier { message } => write!(f, "bad barrier: {message}"),
            Self::DifferentBarriers { barrier, other } => write!(
                f,
                "barrier in divergent code: threads of the block reach barrier {barrier} through \
                 different instructions\n  the first: {}\n    {}\n  another:",
                other.place, other.thread
            ),
            Self::DifferentCounts {
                barrier,
                threads,
                other_threads,
                other,
            } => write!(
                f,
                "bad barrier: one thread reaches barrier {barrier} with a count of {}, another \
                 with {}\n  the first: {}\n    {}\n  another:",
                barrier_count(*other_threads),
                barrier_count(*threads),
                other.place,
                other.thread
            ),
            _ => Ok(()),
        }
    }

    /// An instruction of several lanes.
    fn fmt_lanes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MissingLanes {
                members,
                arrived,
                live,
            } => write!(
                f,
                "the mask {members:#010x} names {} that never get here (here: {}; still running: {})",
                lane_list(members & !arrived),
                lane_list(*arrived),
                lane_list(*live)
            ),
            Self::PartialWarp { arrived } => write!(
                f,
                "it needs all 32 lanes of the warp, but only {} are here",
                lane_list(*arrived)
            ),
            Self::NotAMember { members } => {
                write!(
                    f,
                    "the mask {members:#010x} leaves out the lane that uses it"
                )
            }
            Self::AbsentSource {
                source_lane,
                present,
                user,
            } => write!(
                f,
                "shuffle from an absent lane: it reads from lane {source_lane}, but only {} take \
                 part\n  the value is used: {}\n    {}\n  the shuffle:",
                lane_list(*present),
                user.place,
                user.thread
            ),
            Self::DifferentMasks {
                members,
                other_lane,
                other_members,
            } => write!(
                f,
                "masks that do not agree: this lane's is {members:#010x} and that of lane \
                 {other_lane}, which it names, is {other_members:#010x}"
            ),
            _ => Ok(()),
        }
    }

    /// A wrong turn in the control flow.
    fn fmt_control(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DivisionByZero => {
                write!(
                    f,
                    "integer division by zero: PTX leaves the result unspecified"
                )
            }
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
            Self::WrongCallee { function, reason } => {
                write!(f, "call through a pointer to `{function}`: {reason}")
            }
            Self::StackOverflow {
                needed_bytes,
                limit_bytes,
            } => write!(
                f,
                "stack overflow: the thread needs {needed_bytes} bytes of local memory, but the \
                 limit is {limit_bytes}"
            ),
            _ => Ok(()),
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

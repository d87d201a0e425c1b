//! Operations on predicates, moves that change a register's shape, video instructions, clocks.

use super::slot::Slot;
use crate::lanes::LaneOp;
use crate::numeric::convert::Conversion;
use crate::numeric::video::Video;

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

/// `div` or `rem`, by a divisor that may be zero.
pub(crate) struct Divide {
    /// What it computes; the divisor is `b`.
    pub op: LaneOp,
    /// Bytes of the divisor: 2, 4 or 8.
    pub bytes: u32,
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

/// A video instruction on words.
pub(crate) struct VideoOp {
    pub video: Video,
    pub d: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
}

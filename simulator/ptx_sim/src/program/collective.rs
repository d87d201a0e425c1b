//! Instructions that the lanes of a warp execute together.

use super::slot::Slot;

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

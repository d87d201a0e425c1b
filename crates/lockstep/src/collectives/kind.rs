//! Kinds of collective calls.

use super::element::Operator;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    AllReduce(Operator),
    ReduceScatter(Operator),
    AllGather,
    Broadcast { root: usize },
    Send { to: usize },
    Receive { from: usize },
}

impl Kind {
    /// NCCL's function.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllReduce(_) => "ncclAllReduce",
            Self::ReduceScatter(_) => "ncclReduceScatter",
            Self::AllGather => "ncclAllGather",
            Self::Broadcast { .. } => "ncclBroadcast",
            Self::Send { .. } => "ncclSend",
            Self::Receive { .. } => "ncclRecv",
        }
    }
}

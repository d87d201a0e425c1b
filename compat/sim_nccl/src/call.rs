//! Descriptions of what a rank calls: a collective, a send or a receive.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::types::{DataType, Operator};

/// The function, with the rank that has another part than the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named as in NCCL")]
pub enum Kind {
    AllReduce,
    Reduce { root: usize },
    Broadcast { root: usize },
    AllGather,
    ReduceScatter,
    AlltoAll,
    Gather { root: usize },
    Scatter { root: usize },
    Send { to: usize },
    Recv { from: usize },
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The function.
    pub kind: Kind,
    /// Number of elements, as the function counts them.
    pub count: usize,
    /// Their type.
    pub data_type: DataType,
    /// How they are combined, if they are.
    pub operator: Option<Operator>,
}

impl Call {
    /// Whether all ranks make it, and not two.
    pub fn is_collective(&self) -> bool {
        !matches!(self.kind, Kind::Send { .. } | Kind::Recv { .. })
    }

    /// Elements per buffer of one rank: to send, and to receive.
    fn elements(&self, rank: usize, n_ranks: usize) -> (usize, usize) {
        let one = self.count;
        let all = one.saturating_mul(n_ranks);
        let only = |root, count| if rank == root { count } else { 0 };
        match self.kind {
            Kind::AllReduce => (one, one),
            Kind::Reduce { root } => (one, only(root, one)),
            Kind::Broadcast { root } => (only(root, one), one),
            Kind::AllGather => (one, all),
            Kind::ReduceScatter => (all, one),
            Kind::AlltoAll => (all, all),
            Kind::Gather { root } => (one, only(root, all)),
            Kind::Scatter { root } => (only(root, all), one),
            Kind::Send { .. } => (one, 0),
            Kind::Recv { .. } => (0, one),
        }
    }

    /// Bytes that a rank sends.
    pub fn sent(&self, rank: usize, n_ranks: usize) -> usize {
        let (n, _) = self.elements(rank, n_ranks);
        n.saturating_mul(self.data_type.bytes())
    }

    /// Bytes that a rank receives.
    pub fn received(&self, rank: usize, n_ranks: usize) -> usize {
        let (_, n) = self.elements(rank, n_ranks);
        n.saturating_mul(self.data_type.bytes())
    }

    /// Its buffers' bytes for the whole communicator, unless they cannot be addressed.
    pub fn total(&self, n_ranks: usize) -> Option<usize> {
        let all = self.count.checked_mul(n_ranks)?;
        let bytes = all.checked_mul(self.data_type.bytes())?;
        Some(bytes).filter(|&bytes| isize::try_from(bytes).is_ok())
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = format!("{:?}", self.kind);
        write!(f, "{}", name.split(' ').next().unwrap_or_default())?;
        if let Some(operator) = self.operator {
            write!(f, " ({operator})")?;
        }
        write!(f, " of {} {}", self.count, self.data_type)?;
        match self.kind {
            Kind::Reduce { root } | Kind::Gather { root } => write!(f, " to root {root}"),
            Kind::Broadcast { root } | Kind::Scatter { root } => write!(f, " from root {root}"),
            Kind::Send { to } => write!(f, " to rank {to}"),
            Kind::Recv { from } => write!(f, " from rank {from}"),
            Kind::AllReduce | Kind::AllGather | Kind::ReduceScatter | Kind::AlltoAll => Ok(()),
        }
    }
}

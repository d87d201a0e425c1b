//! The state that an instruction works on.

use crate::barriers::BlockBarriers;
use crate::bulk::BulkCopies;
use crate::checks::access::Lanes;
use crate::checks::observer::Observer;
use crate::cluster::{Absent, Cluster};
use crate::context::LaunchContext;
use crate::memory::recent::Recent;
use crate::memory::shared::SharedMemory;
use crate::program::Function;
use crate::registers::FramePtr;
use crate::schedule::Choices;
use crate::warp::{FrameId, Warp};
use crate::warpgroups::Warpgroups;

/// What the instructions of one block's warps work on, in addition to the warp.
pub(crate) struct Env<'a, O: Observer> {
    /// What is the same for the whole launch.
    pub launch: &'a LaunchContext<'a>,
    /// The block's shared memory; during an access to another block's, that one's.
    pub shared: &'a SharedMemory,
    /// Bulk copies to that memory and from it.
    pub bulk: &'a BulkCopies,
    /// The number of the block whose shared memory that is.
    pub owner: u64,
    /// The block's cluster, unless it is the only block in it; and its rank there.
    pub cluster: Option<&'a Cluster>,
    pub rank: u32,
    /// The block's barriers.
    pub barriers: &'a mut BlockBarriers,
    /// Its warpgroups.
    pub warpgroups: &'a mut Warpgroups,
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// The block's number in the grid.
    pub block: u64,
    /// Warp instructions until the slice ends.
    pub slice: i64,
    /// Warp instructions of the slice that the warp did not want.
    pub given_up: i64,
    /// What watches.
    pub observer: &'a mut O,
    /// The allocations that instructions found last.
    pub recent: Recent,
    /// The choices of a schedule, if it is not the usual one.
    pub choices: Option<&'a mut Choices>,
}

impl<'a, O: Observer> Env<'a, O> {
    /// The shared memory of the block of a rank of the cluster, its bulk copies, and its
    /// number.
    pub fn shared_of(&self, rank: u32) -> Result<(&'a SharedMemory, &'a BulkCopies, u64), Absent> {
        match self.cluster {
            Some(cluster) => {
                let member = cluster.member(rank)?;
                Ok((&*member.shared, &*member.bulk, member.number))
            }
            None if rank == 0 => Ok((self.shared, self.bulk, self.block)),
            None => Err(Absent::NoSuchRank { n_blocks: 1 }),
        }
    }
}

/// The state that the instructions of a path see.
#[derive(Clone, Copy)]
pub(super) struct PathView<'a> {
    /// The function.
    pub function: &'a Function,
    /// Its registers.
    pub regs: FramePtr,
    /// Where its local memory starts.
    pub local_base: u32,
    /// The observers' number for its first instruction and its first block.
    pub first_instruction: u32,
    pub first_block: u32,
    /// Whether observers follow what registers hold.
    pub is_followed: bool,
}

/// One instruction's context. The lanes that execute it are not part of it: an access to
/// generic addresses is executed space by space.
pub(super) struct Step<'s, 'e, O: Observer> {
    /// The launch, which `env` has too: accesses need it often.
    pub launch: &'e LaunchContext<'e>,
    /// The block.
    pub env: &'s mut Env<'e, O>,
    /// The warp.
    pub warp: &'s mut Warp,
    /// The call.
    pub view: PathView<'s>,
    /// Its frame, and its function's number.
    pub frame: FrameId,
    pub function: usize,
    /// The observers' number for the instruction.
    pub number: u32,
}

impl<O: Observer> Step<'_, '_, O> {
    /// Lanes of the warp, as observers are notified of them.
    #[inline(always)]
    pub fn lanes(&self, mask: u32) -> Lanes {
        Lanes {
            block: self.env.block,
            warp: self.warp.index,
            mask,
        }
    }

    /// Notes that the warp looks as if it waits, and lets others go first once it
    /// has done so for long enough.
    #[inline]
    pub fn poll(&mut self, weight: u32) {
        self.warp.idle_polls = self.warp.idle_polls.saturating_add(weight);
        if self.warp.looks_idle() && self.env.slice > 0 {
            self.env.given_up += self.env.slice;
            self.env.slice = 0;
        }
    }

    /// Lets the lanes' asynchronous copies arrive: all but those of the `n_left`
    /// youngest groups, or all without exception.
    pub fn complete_copies(&mut self, mask: u32, n_left: Option<u32>) {
        self.warp.copies.complete(self.env.shared, mask, n_left);
        if O::ON {
            let lanes = self.lanes(mask);
            self.env.observer.copies_awaited(lanes, n_left);
        }
    }
}

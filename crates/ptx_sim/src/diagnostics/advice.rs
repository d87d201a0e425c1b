//! What to do about a fault: one line for each kind.

use super::{AccessKind, Fault, FaultKind, Relation, ThreadPlace};
use crate::ir::Space;

impl Fault {
    /// What to do about it, if there is more to say than that it happened.
    pub fn advice(&self) -> Option<&'static str> {
        match &self.kind {
            FaultKind::OutOfBounds { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::NullPointer { .. }
            | FaultKind::UseAfterFree { .. }
            | FaultKind::ReadOnly { .. }
            | FaultKind::WrongSpace { .. } => self.about_access(),
            FaultKind::Race { .. }
            | FaultKind::Unwritten { .. }
            | FaultKind::NotConstant { .. }
            | FaultKind::CopyInFlight { .. } => self.about_order(),
            FaultKind::DivergentBarrier { .. }
            | FaultKind::BarrierDeadlock { .. }
            | FaultKind::BadBarrier { .. }
            | FaultKind::DifferentBarriers { .. }
            | FaultKind::DifferentCounts { .. } => self.about_barrier(),
            FaultKind::MissingLanes { .. }
            | FaultKind::PartialWarp { .. }
            | FaultKind::NotAMember { .. }
            | FaultKind::AbsentSource { .. }
            | FaultKind::DifferentMasks { .. } => self.about_lanes(),
            FaultKind::BadBranchIndex { .. }
            | FaultKind::BadCallTarget { .. }
            | FaultKind::WrongCallee { .. }
            | FaultKind::StackOverflow { .. }
            | FaultKind::DivisionByZero
            | FaultKind::Trap { .. } => self.about_control(),
        }
    }

    // Each of these is called for its own kinds only.

    /// An access that is wrong by itself.
    fn about_access(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::OutOfBounds {
                relation: Relation::Nowhere,
                ..
            } => {
                "give the kernel an address of device memory; an address of the host's memory is \
                 none, nor is one that was never set"
            }
            FaultKind::OutOfBounds { space, .. } => match space {
                Space::Shared => {
                    "hold the index against the array's size; dynamic shared memory has the size \
                     that the launch gives"
                }
                Space::Local => "hold the index against the array's size",
                _ => {
                    "hold the index against the buffer's length: the grid may have more threads \
                     than there are elements"
                }
            },
            FaultKind::Misaligned { .. } => {
                "align the address to the size of the access, or access narrower elements"
            }
            FaultKind::NullPointer { address: 0, .. } => {
                "give the kernel an address that was allocated"
            }
            FaultKind::NullPointer { .. } => {
                "give the kernel an address that was allocated; if this is an offset in shared \
                 memory, use an instruction for shared memory"
            }
            FaultKind::UseAfterFree { .. } => "free the memory behind the last launch that uses it",
            FaultKind::ReadOnly { .. } => "write to global memory, and leave constants as they are",
            FaultKind::WrongSpace { .. } => {
                "use an instruction of the address's space, or a generic one"
            }
            _ => return None,
        })
    }

    /// An access that is wrong by what was or was not done before.
    fn about_order(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::Race {
                space,
                access,
                other,
                ..
            } => return Some(self.against_race(*space, *access, other.kind, &other.thread)),
            FaultKind::NotConstant { .. } => {
                "load it by an ordinary load: `ld.global.nc` may give what was there before the \
                 kernel began"
            }
            FaultKind::Unwritten { space, .. } => match space {
                Space::Shared => {
                    "write all that is read, then a block barrier; shared memory is not zero when a \
                     block begins"
                }
                Space::Local => "initialise the variable on every way that leads here",
                _ => {
                    "let the host or a kernel write it first; allocated memory is not zero on a GPU"
                }
            },
            FaultKind::CopyInFlight {
                space: Space::Shared,
                ..
            } => {
                "let the thread that copies wait first (cp.async.wait_all, or wait_group with fewer \
                 groups left), then a block barrier for the others"
            }
            FaultKind::CopyInFlight { .. } => {
                "write the source behind the wait for the copy (cp.async.wait_all or wait_group)"
            }
            _ => return None,
        })
    }

    /// A barrier.
    fn about_barrier(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::DivergentBarrier { .. } => {
                "move the barrier out of the condition, so that every thread of the block reaches it"
            }
            FaultKind::BarrierDeadlock { .. } => {
                "let every thread that has not ended come to the same barrier, or give the barrier \
                 the number of threads that do"
            }
            FaultKind::BadBarrier { .. } => {
                "use barriers 0 to 15, with counts of whole warps, and a count for arrivals"
            }
            FaultKind::DifferentBarriers { .. } => {
                "move the barrier out of the condition, or give both the number of threads that come \
                 together there"
            }
            FaultKind::DifferentCounts { .. } => {
                "give the barrier one count, the number of threads that come together there"
            }
            _ => return None,
        })
    }

    /// An instruction of several lanes.
    fn about_lanes(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::MissingLanes { .. } => {
                "name in the mask the lanes that get here, or move the instruction out of the \
                 condition"
            }
            FaultKind::PartialWarp { .. } => {
                "launch whole warps, and let no lane end before this instruction"
            }
            FaultKind::NotAMember { .. } => {
                "name in the mask every lane that gets here, or keep the others away by a condition"
            }
            FaultKind::AbsentSource { .. } => {
                "shuffle among the lanes of the mask only, or let all lanes take part; what is read \
                 is undefined"
            }
            FaultKind::DifferentMasks { .. } => {
                "give all lanes that take part together the same mask"
            }
            _ => return None,
        })
    }

    /// A step that leads nowhere.
    fn about_control(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::DivisionByZero => "test the divisor first",
            FaultKind::BadBranchIndex { .. } => "hold the index against the length of the list",
            FaultKind::BadCallTarget { .. } => {
                "call a function of this module, through a pointer that was taken of it"
            }
            FaultKind::WrongCallee { .. } => "let the call's prototype be that of the function",
            FaultKind::StackOverflow { .. } => "end the recursion, or keep less in local arrays",
            _ => return None,
        })
    }

    /// What would order the two.
    fn against_race(
        &self,
        space: Space,
        access: AccessKind,
        other: AccessKind,
        by: &ThreadPlace,
    ) -> &'static str {
        let is_atomic = |kind| kind == AccessKind::Atomic;
        if other == AccessKind::AsyncCopy {
            "a wait for copies is a wait for one's own: between it and what other threads do there, before \
             or after, put a block barrier (sync_threads)"
        } else if by.block != self.thread.block {
            if is_atomic(access) || is_atomic(other) {
                "make both accesses atomic, for the whole device (.gpu), or order them by a fence \
                 and a flag, or leave the second to another launch"
            } else {
                "blocks are ordered by a fence and a flag (release, acquire) for the whole device, \
                 or by another launch; or make both accesses atomic"
            }
        } else if by.warp == self.thread.warp {
            "lanes of a warp may run apart: put a warp barrier (sync_warp) or a block barrier \
             between the two"
        } else if space == Space::Shared {
            "put a block barrier (sync_threads) that both threads reach between the two"
        } else {
            "put a block barrier (sync_threads) between the two, or make both accesses atomic, of \
             one size"
        }
    }
}

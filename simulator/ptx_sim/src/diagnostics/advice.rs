//! Advice about a fault: one line for each kind.
//!
//! Functions are named in the source's language: those of `cuda_std` where the fault is in
//! a Rust file, else those of CUDA C++.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use super::{
    AccessKind, AccessSide, AsyncFault, Fault, FaultKind, Place, Relation, ThreadPlace, WrongBlock,
};
use ptx::ir::Space;

/// The names of functions in a language.
struct Names {
    block_barrier: &'static str,
    warp_barrier: &'static str,
    atomic_add: &'static str,
    fence: &'static str,
    grid_barrier: &'static str,
    no_dynamic_shared: &'static str,
}

const RUST: Names = Names {
    block_barrier: "sync_threads",
    warp_barrier: "sync_warp",
    atomic_add: "atomic::add",
    fence: "device_fence",
    grid_barrier: "grid::sync",
    no_dynamic_shared: "give the launch dynamic shared memory, of which it has none: \
                        `LaunchConfig::with_shared`",
};
const CUDA: Names = Names {
    block_barrier: "__syncthreads()",
    warp_barrier: "__syncwarp()",
    atomic_add: "atomicAdd()",
    fence: "__threadfence()",
    grid_barrier: "this_grid().sync()",
    no_dynamic_shared: "give the launch dynamic shared memory, of which it has none: `<<<…>>>`'s \
                        third parameter",
};

impl Names {
    /// In the language of a place's source.
    fn at(place: &Place) -> &'static Self {
        let source = place.source.as_ref();
        let extension = source.and_then(|source| Path::new(&source.file).extension());
        match extension.and_then(|extension| extension.to_str()) {
            Some("rs") => &RUST,
            _ => &CUDA,
        }
    }
}

/// What to do about an access unordered with a bulk copy that is complete.
const AFTER_BULK: &str = "the copy is complete only for threads that have waited for it: let each \
                          thread that accesses the tile wait for the phase of its mbarrier \
                          itself, or reach a barrier after the wait";

/// What to do about an access to what a bulk copy may still be reading or writing.
fn about_bulk(space: Space, is_reading: bool) -> &'static str {
    match (space, is_reading) {
        (Space::Shared, false) => {
            "let each thread that accesses the tile wait for the phase of its mbarrier first \
             (mbarrier.try_wait in a loop), with the parity of that phase"
        }
        (Space::Shared, true) => {
            "let the thread that started the copy commit it and wait until it has been read \
             (cp.async.bulk.commit_group, cp.async.bulk.wait_group.read), then put a barrier for \
             the others"
        }
        (_, false) => {
            "let the thread that started the copy wait until it is done \
             (cp.async.bulk.wait_group, not .read), then put a barrier or a flag for the others"
        }
        (_, true) => "write the source only after the wait for the phase of the copy's mbarrier",
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

impl Fault {
    /// What to do about it, if the message does not say it already.
    pub fn advice(&self) -> Option<Cow<'static, str>> {
        if let FaultKind::Race {
            space,
            access,
            other,
            may_lock,
            ..
        } = &self.kind
        {
            if other.kind == AccessKind::AsyncCopy && other.place.opcode.contains(".bulk") {
                return Some(AFTER_BULK.into());
            }
            if let Some(advice) = self.about_atomics(*space, other) {
                return Some(advice.into());
            }
            let order = self.against_race(*space, *access, other.kind, &other.thread);
            let is_plain = |kind| matches!(kind, AccessKind::Load | AccessKind::Store);
            let are_plain = is_plain(*access) && is_plain(other.kind);
            let is_one_block = other.thread.block == self.thread.block
                && other.thread.device == self.thread.device;
            // `*sum += x` loads and stores at the same column; `a[i] = a[i + 1]` does not.
            let is_one_statement = self.place.source.is_some()
                && !self.place.is_near
                && !other.place.is_near
                && self.place.source == other.place.source
                && self.place.inlined_at == other.place.inlined_at;
            let order = match is_one_statement && are_plain {
                true => self.about_one_statement(&order).into(),
                false => order,
            };
            if *may_lock && is_one_block && other.kind != AccessKind::AsyncCopy {
                return Some(self.about_lock(are_plain, &order).into());
            }
            return Some(order);
        }
        self.usual_advice().map(Cow::Borrowed)
    }

    /// What to do if both accesses of a race are a statement's.
    fn about_one_statement(&self, order: &str) -> String {
        let add = Names::at(&self.place).atomic_add;
        format!(
            "if each thread is to have an element of its own, correct the index; if they update one \
             (`+=`), make the update atomic ({add}); otherwise, {order}"
        )
    }

    /// What to do if both accesses of a race are atomic: not enough for these threads, or of other
    /// bytes.
    fn about_atomics(&self, space: Space, other: &AccessSide) -> Option<String> {
        let opcodes = [&*self.place.opcode, &*other.place.opcode];
        let is_atomic = |opcode: &&str| {
            let (first, words) = opcode.split_once('.').unwrap_or((opcode, ""));
            let orders = |word: &str| ["relaxed", "acquire", "release"].contains(&word);
            ["atom", "red"].contains(&first) || words.split('.').any(orders)
        };
        if !opcodes.iter().all(is_atomic) {
            return None;
        }
        let (here, there) = (&self.thread, &other.thread);
        let (too_narrow, enough): (&[&str], _) = if here.device != there.device {
            (&["cta", "cluster", "gpu"], "the system (.sys)")
        } else if here.block != there.block && space == Space::Shared {
            (&["cta"], "the cluster (.cluster)")
        } else if here.block != there.block {
            (&["cta"], "the whole device (.gpu)")
        } else {
            (&[], "")
        };
        let scopes = opcodes.map(|opcode| {
            let is_scope = |word: &&str| ["cta", "cluster", "gpu", "sys"].contains(word);
            opcode.split('.').find(is_scope).unwrap_or("gpu")
        });
        Some(
            match scopes.iter().find(|scope| too_narrow.contains(scope)) {
                Some(scope) => format!(
                    "both accesses are atomic, but .{scope} leaves out the other's thread: give both \
                 the scope of {enough}"
                ),
                None => "both accesses are atomic, but not of the same bytes: give both the same \
                     address and size"
                    .to_owned(),
            },
        )
    }

    /// What to do where threads may take turns, which no barrier orders; or else this.
    fn about_lock(&self, are_plain: bool, order: &str) -> String {
        let fence = Names::at(&self.place).fence;
        let lock = match are_plain {
            true => format!(
                "if a lock (compare-and-swap, exchange) lets threads in here one by one, take it \
                 with acquire and free it with release, or put a fence ({fence}) after and before"
            ),
            false => "if this is a lock, or a loop that compares and swaps, make both accesses \
                      atomic: also the loop's first load, and the store that frees the lock"
                .to_owned(),
        };
        format!("{lock}; otherwise, {order}")
    }

    /// The advice that is the same in all languages.
    fn usual_advice(&self) -> Option<&'static str> {
        let by_topic = [
            Self::about_access,
            Self::about_order,
            Self::about_barrier,
            Self::about_lanes,
            Self::about_control,
        ];
        match &self.kind {
            FaultKind::Asynchronous(fault) => fault.advice(),
            _ => by_topic.into_iter().find_map(|about| about(self)),
        }
    }

    /// An access that is wrong on its own.
    fn about_access(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::OutOfBounds {
                relation: Relation::Nowhere,
                ..
            } => {
                "pass the kernel an address of device memory, not one of the host's memory or one \
                 that was never set"
            }
            FaultKind::OutOfBounds { relation, .. } if relation.is_of_no_dynamic_memory() => {
                Names::at(&self.place).no_dynamic_shared
            }
            FaultKind::OutOfBounds { relation, .. } if relation.is_of_a_negative_index() => {
                "check the index before the access: it is negative, or a subtraction of unsigned \
                 numbers went below 0"
            }
            FaultKind::OutOfBounds { space, .. } => match space {
                Space::Shared | Space::Local => "check the index against the array's size",
                _ => {
                    "check the index against the buffer's length: the grid may have more threads \
                     than there are elements"
                }
            },
            FaultKind::Misaligned { .. } => {
                "align the address to the size of the access, or access narrower elements"
            }
            FaultKind::NullPointer { address: 0, .. } => {
                "pass the kernel an address that was allocated"
            }
            FaultKind::NullPointer { .. } => {
                "pass the kernel an address that was allocated; if this is an offset in shared \
                 memory, use an instruction for shared memory"
            }
            FaultKind::NotAPeer { .. } => {
                "enable access before the launch, from this device to the other \
                 (`device.enable_peer(&other)`, `cuCtxEnablePeerAccess`, \
                 `cudaDeviceEnablePeerAccess`); the other direction is enabled separately"
            }
            FaultKind::UseAfterFree { .. } => {
                "free the memory after its last use: on the host, after the last launch that uses \
                 it"
            }
            FaultKind::InvalidFree { is_freed: true, .. } => {
                "let one thread free it, once: every thread that reaches a `free` frees"
            }
            FaultKind::InvalidFree { .. } => {
                "in a kernel, free only what `malloc` returned in a kernel, by the address that \
                 it returned; the host frees what the host allocated"
            }
            FaultKind::ReadOnly { .. } => "write to global memory, and leave constants as they are",
            FaultKind::WrongSpace { .. } => {
                "use an instruction for the address's space, or a generic one"
            }
            FaultKind::WrongBlock { why, .. } => return Some(about_block(*why)),
            _ => return None,
        })
    }

    /// An access that is wrong because of what was or was not done before.
    fn about_order(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::NotConstant { .. } => {
                "use an ordinary load: `ld.global.nc` may return what was there before the kernel \
                 began"
            }
            FaultKind::Unwritten { space, .. } => match space {
                Space::Shared => {
                    "write everything that is read, then put a block barrier; shared memory is \
                     not zero when a block begins"
                }
                Space::Local => "initialise the variable on every path that leads here",
                _ => {
                    "let the host or a kernel write it first; allocated memory is not zero on a GPU"
                }
            },
            FaultKind::CopyInFlight {
                space,
                copy,
                is_reading,
                ..
            } if copy.place.opcode.contains(".bulk") => about_bulk(*space, *is_reading),
            FaultKind::CopyOutlivesBlock { is_reading: false } => {
                "wait for the phase of the copy's mbarrier before the block ends, or do not start \
                 the copy: the next block could find its bytes in its own memory"
            }
            FaultKind::CopyOutlivesBlock { is_reading: true } => {
                "let the thread that started the copy wait until it has been read \
                 (cp.async.bulk.commit_group, cp.async.bulk.wait_group.read 0) before the block ends"
            }
            FaultKind::Pending { .. } => {
                "launch in the same stream, let the launch's stream wait for an event that is recorded \
                 after that work, or wait for its stream on the host"
            }
            FaultKind::CopyInFlight {
                space: Space::Shared,
                ..
            } => {
                "let the thread that copies wait first (cp.async.wait_all, or wait_group with \
                 fewer groups left), then put a block barrier for the others"
            }
            FaultKind::CopyInFlight { .. } => {
                "write the source only after the wait for the copy (cp.async.wait_all or \
                 wait_group)"
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
                "let every thread that has not ended reach the same barrier, or give the barrier \
                 the number of threads that do"
            }
            // The message says what must be.
            FaultKind::BadBulkCopy { .. } => return None,
            FaultKind::BadBarrier { message } if message.contains("barrier.cluster") => {
                "let each thread alternate between arriving (barrier.cluster.arrive) and waiting \
                 (barrier.cluster.wait)"
            }
            FaultKind::BadBarrier { message } if message.contains("mbarrier") => {
                "initialise an mbarrier (mbarrier.init) before its first use and in its own \
                 block, with the number of arrivals of each phase, and let it expect as many \
                 bytes as arrive"
            }
            FaultKind::BadBarrier { .. } => {
                "use barriers 0 to 15, with counts of whole warps; an arrival must give a count"
            }
            FaultKind::DifferentBarriers { .. } => {
                "move the barrier out of the condition, or give both the number of threads that \
                 meet there"
            }
            FaultKind::DifferentCounts { .. } => {
                "give the barrier one count, the number of threads that meet there"
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
                "name in the mask every lane that gets here, or keep the others out by a condition"
            }
            FaultKind::AbsentSource { .. } => {
                "shuffle only among the lanes of the mask, or let all lanes take part; otherwise \
                 the value read is undefined"
            }
            FaultKind::DifferentMasks { .. } => {
                "give all lanes that take part together the same mask"
            }
            _ => return None,
        })
    }

    /// A wrong turn in the control flow.
    fn about_control(&self) -> Option<&'static str> {
        Some(match &self.kind {
            FaultKind::DivisionByZero => "test the divisor first",
            FaultKind::BadBranchIndex { .. } => "check the index against the length of the list",
            FaultKind::BadCallTarget { .. } => {
                "call a function of this module, through a pointer to it"
            }
            FaultKind::WrongCallee { .. } => "give the call the function's prototype",
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
    ) -> Cow<'static, str> {
        let Names {
            block_barrier: block,
            warp_barrier: warp,
            grid_barrier: grid,
            ..
        } = Names::at(&self.place);
        let is_atomic = |kind| kind == AccessKind::Atomic;
        if other == AccessKind::AsyncCopy {
            format!(
                "a thread waits for its own copies only: put a block barrier ({block}) between \
                 its copy or wait and what other threads do there, before or after"
            )
            .into()
        } else if by.device != self.thread.device {
            "devices are ordered by a fence and a flag (release, acquire) for the system (.sys), or by \
             the host (a stream's or an event's end); or make both accesses atomic for the system"
                .into()
        } else if by.block != self.thread.block && space == Space::Shared {
            "put a cluster barrier (barrier.cluster.arrive and .wait) between the two, or let the \
             second wait for an mbarrier at which the first arrives (release, acquire, .cluster)"
                .into()
        } else if by.block != self.thread.block {
            let launches = format!("by another launch, or by a barrier of the grid ({grid})");
            match is_atomic(access) || is_atomic(other) {
                true => format!(
                    "make both accesses atomic, for the whole device (.gpu), or order them by a \
                     fence and a flag, {launches}"
                ),
                false => format!(
                    "blocks are ordered by a fence and a flag (release, acquire) for the whole \
                     device, {launches}; or make both accesses atomic"
                ),
            }
            .into()
        } else if by.warp == self.thread.warp {
            format!(
                "lanes of a warp need not run in step: put a warp barrier ({warp}) between the \
                 two, or a block barrier ({block}) if other warps use this, too"
            )
            .into()
        } else if space == Space::Shared {
            format!("put a block barrier ({block}) that both threads reach between the two").into()
        } else {
            format!(
                "put a block barrier ({block}) between the two, or make both accesses atomic and \
                 of the same size"
            )
            .into()
        }
    }
}

impl AsyncFault {
    /// What to do about it.
    fn advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::BadWarpgroup { .. } => return None,
            Self::RegisterInFlight { writes: true, .. } => {
                "write it after the wait for the product (wgmma.wait_group), or use other \
                 registers"
            }
            Self::RegisterInFlight { writes: false, .. } => {
                "commit the product (wgmma.commit_group) and wait for its group (wgmma.wait_group) \
                 first"
            }
            Self::MissingProductFence { .. } => {
                "execute wgmma.fence between the writes to the registers and the product"
            }
            Self::OtherShape { .. } => {
                "wait for the first product's group (wgmma.wait_group) first"
            }
            Self::MissingProxyFence { .. } => {
                "let the threads that store execute fence.proxy.async after their stores and \
                 before the barrier that the reader passes"
            }
            Self::UnpublishedBarrier { .. } => {
                "let the thread execute fence.mbarrier_init (or fence.proxy.async) after the \
                 initialisation, and before the barrier that other threads pass"
            }
            Self::InFlight { operation, .. } => match operation.kind {
                AccessKind::Product => {
                    "wait for the product's group (wgmma.wait_group), then put a barrier for the \
                     other threads"
                }
                _ => "wait for the operation to complete, then put a barrier for the other threads",
            },
            Self::UnknownRegisters => {
                "declare the block's size (launch bounds, `.maxntid`) or `.maxnreg`: without \
                 either, the assembler drops setmaxnreg"
            }
        })
    }
}

/// An access to shared memory of the cluster that no block has.
fn about_block(why: WrongBlock) -> &'static str {
    match why {
        WrongBlock::Ended { .. } | WrongBlock::MayHaveEnded { .. } => {
            "a block's shared memory is gone once its threads have ended: end the kernel with the \
             cluster's barrier (barrier.cluster.arrive and .wait), after the last access to other \
             blocks"
        }
        WrongBlock::NoSuchRank { .. } => {
            "give mapa a rank below %cluster_nctarank, and launch the kernel with clusters of as \
             many blocks as it expects"
        }
        WrongBlock::Nobody => {
            "give mapa an address of shared memory, and a rank below %cluster_nctarank"
        }
        WrongBlock::NotOwn { .. } => {
            "name the space .shared::cluster, or none: .shared is only the block's own memory"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Source;

    fn block_barrier(file: Option<&str>) -> &'static str {
        let source = file.map(|file| Source {
            file: file.to_owned(),
            line: 1,
            column: 0,
        });
        let place = Place {
            source,
            ..Place::default()
        };
        Names::at(&place).block_barrier
    }

    #[test]
    fn barriers_are_named_in_the_sources_language() {
        assert_eq!(block_barrier(Some("src/reduction.rs")), "sync_threads");
        assert_eq!(block_barrier(Some("/home/a/kernel.cu")), "__syncthreads()");
        assert_eq!(block_barrier(Some("tile.cuh")), "__syncthreads()");
        assert_eq!(block_barrier(None), "__syncthreads()");
    }
}

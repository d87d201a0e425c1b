//! The checks' findings as the error of a launch, with numbers looked up.

use crate::checks::finding::{Finding, Met, Side, Spot};
use crate::context::LaunchContext;
use crate::diagnostics::{
    AccessSide, AsyncFault, Fault, FaultKind, LaunchError, Relation, WrongBlock,
};
use ptx::ir::Space;

/// A finding in launches that run together, as their error.
pub(super) fn error(launches: &[LaunchContext<'_>], finding: Finding) -> LaunchError {
    let all = All(launches);
    let AccessSide { place, thread, .. } = all.side(finding.this());
    LaunchError::Fault(Box::new(Fault {
        kind: all.kind(finding),
        place,
        thread,
    }))
}

/// The launches that a finding's threads may belong to.
struct All<'a>(&'a [LaunchContext<'a>]);

impl All<'_> {
    /// The launch that a block belongs to.
    fn of(&self, block: u64) -> &LaunchContext<'_> {
        let found = self.0.iter().find(|launch| launch.has_block(block));
        found.unwrap_or(&self.0[0])
    }

    /// An access to what a copy may still be working on.
    fn in_flight(&self, at: Spot, this: &Side, copy: &Side, is_reading: bool) -> FaultKind {
        FaultKind::CopyInFlight {
            access: this.kind,
            space: at.space,
            address: at.address,
            bytes: at.bytes,
            relation: self.relation(at, this.block),
            copy: Box::new(self.side(copy)),
            is_reading,
        }
    }

    /// An access to what others may still work on.
    fn pending(&self, at: Spot, this: &Side, met: Met) -> FaultKind {
        let work = &self.of(this.block).pending[met.work as usize];
        FaultKind::Pending {
            access: this.kind,
            address: at.address,
            bytes: at.bytes,
            relation: self.relation(at, this.block),
            work: work.what.clone(),
            writes: met.writes,
        }
    }

    /// An access to the memory of a block that may have ended.
    fn may_have_ended(&self, at: Spot, this: &Side) -> FaultKind {
        FaultKind::WrongBlock {
            access: this.kind,
            address: at.address,
            bytes: at.bytes,
            why: WrongBlock::MayHaveEnded {
                rank: {
                    let launch = self.of(at.owner);
                    launch.cluster.rank_of(launch.ctaid(at.owner))
                },
            },
        }
    }

    /// What a finding is.
    fn kind(&self, finding: Finding) -> FaultKind {
        match finding {
            Finding::Race { at, this, other } => FaultKind::Race {
                access: this.kind,
                space: at.space,
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at, this.block),
                other: Box::new(self.side(&other)),
                may_lock: self.of(this.block).may_lock(this.instruction),
            },
            Finding::NotConstant { at, this, other } => FaultKind::NotConstant {
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at, this.block),
                other: Box::new(self.side(&other)),
            },
            Finding::DivisionByZero { .. } => FaultKind::DivisionByZero,
            Finding::Unwritten { at, this } => FaultKind::Unwritten {
                access: this.kind,
                space: at.space,
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at, this.block),
            },
            Finding::OutlivesBlock { is_reading, .. } => {
                FaultKind::CopyOutlivesBlock { is_reading }
            }
            Finding::InFlight {
                at,
                this,
                copy,
                is_reading,
            } => self.in_flight(at, &this, &copy, is_reading),
            Finding::Pending { at, this, met } => self.pending(at, &this, met),
            Finding::MayHaveEnded { at, this } => self.may_have_ended(at, &this),
            finding @ (Finding::MissingProxyFence { .. }
            | Finding::UnpublishedBarrier { .. }
            | Finding::AsyncInFlight { .. }
            | Finding::RegisterInFlight { .. }
            | Finding::MissingProductFence { .. }
            | Finding::OtherShape { .. }
            | Finding::UnknownRegisters { .. }) => {
                FaultKind::Asynchronous(Box::new(self.asynchronous(finding)))
            }
            Finding::AbsentSource {
                source,
                present,
                user,
                ..
            } => self.absent_source(source, present, &user),
            Finding::DifferentMasks {
                members,
                other_lane,
                other_members,
                ..
            } => FaultKind::DifferentMasks {
                members,
                other_lane,
                other_members,
            },
            Finding::DifferentBarriers { barrier, other, .. } => FaultKind::DifferentBarriers {
                barrier,
                other: Box::new(self.side(&other)),
            },
            Finding::DifferentCounts {
                barrier,
                threads,
                other,
                other_threads,
                ..
            } => FaultKind::DifferentCounts {
                barrier,
                threads,
                other_threads,
                other: Box::new(self.side(&other)),
            },
        }
    }

    /// A shuffle from a lane that does not take part, and who uses the value.
    fn absent_source(&self, source_lane: u32, present: u32, user: &Side) -> FaultKind {
        FaultKind::AbsentSource {
            source_lane,
            present,
            user: Box::new(self.side(user)),
        }
    }

    /// A finding about units that work alongside the threads.
    fn asynchronous(&self, finding: Finding) -> AsyncFault {
        let boxed = |side: &Side| Box::new(self.side(side));
        match finding {
            Finding::MissingProxyFence { at, this, store } => AsyncFault::MissingProxyFence {
                access: this.kind,
                space: at.space,
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at, this.block),
                store: boxed(&store),
            },
            Finding::UnpublishedBarrier { init, .. } => {
                AsyncFault::UnpublishedBarrier { init: boxed(&init) }
            }
            Finding::AsyncInFlight {
                at,
                this,
                operation,
                operation_writes,
            } => AsyncFault::InFlight {
                access: this.kind,
                space: at.space,
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at, this.block),
                operation: boxed(&operation),
                operation_writes,
            },
            Finding::RegisterInFlight {
                writes, product, ..
            } => AsyncFault::RegisterInFlight {
                writes,
                product: boxed(&product),
            },
            Finding::MissingProductFence { write, .. } => AsyncFault::MissingProductFence {
                write: write.as_ref().map(boxed),
            },
            Finding::OtherShape { product, .. } => AsyncFault::OtherShape {
                product: boxed(&product),
            },
            _ => AsyncFault::UnknownRegisters,
        }
    }

    /// A thread and its instruction as they are reported.
    fn side(&self, side: &Side) -> AccessSide {
        let launch = self.of(side.block);
        AccessSide {
            kind: side.kind,
            place: launch.numbered_place(side.instruction),
            thread: launch.thread_place(launch.ctaid(side.block), side.warp, side.lane),
        }
    }

    /// Where an address is that a block uses, relative to what is there.
    fn relation(&self, at: Spot, block: u64) -> Relation {
        let launch = self.of(block);
        match at.space {
            Space::Shared if launch.cluster.n_blocks() > 1 => {
                let relation = launch.shared_relation(at.address);
                relation.in_block(launch.ctaid(at.owner))
            }
            Space::Shared => launch.shared_relation(at.address),
            Space::Local => launch.local_relation(at.address, at.bytes),
            _ => launch.global_relation(at.address),
        }
    }
}

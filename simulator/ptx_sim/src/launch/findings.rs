//! The checks' findings as the error of a launch, with numbers looked up.

use crate::checks::finding::{Finding, Side, Spot};
use crate::context::LaunchContext;
use crate::diagnostics::{
    AccessSide, AsyncFault, Fault, FaultKind, LaunchError, Relation, WrongBlock,
};
use ptx::ir::Space;

impl LaunchContext<'_> {
    /// A finding as the launch's error.
    pub(super) fn finding(&self, finding: Finding) -> LaunchError {
        let AccessSide { place, thread, .. } = self.side(finding.this());
        LaunchError::Fault(Box::new(Fault {
            kind: self.kind(finding),
            place,
            thread,
        }))
    }

    /// An access to what a copy may still be working on.
    fn in_flight(&self, at: Spot, this: &Side, copy: &Side, is_reading: bool) -> FaultKind {
        FaultKind::CopyInFlight {
            access: this.kind,
            space: at.space,
            address: at.address,
            bytes: at.bytes,
            relation: self.relation(at),
            copy: Box::new(self.side(copy)),
            is_reading,
        }
    }

    /// An access to the memory of a block that may have ended.
    fn may_have_ended(&self, at: Spot, this: &Side) -> FaultKind {
        FaultKind::WrongBlock {
            access: this.kind,
            address: at.address,
            bytes: at.bytes,
            why: WrongBlock::MayHaveEnded {
                rank: self.cluster.rank_of(self.ctaid(at.owner)),
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
                relation: self.relation(at),
                other: Box::new(self.side(&other)),
            },
            Finding::NotConstant { at, other, .. } => FaultKind::NotConstant {
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at),
                other: Box::new(self.side(&other)),
            },
            Finding::DivisionByZero { .. } => FaultKind::DivisionByZero,
            Finding::Unwritten { at, this } => FaultKind::Unwritten {
                access: this.kind,
                space: at.space,
                address: at.address,
                bytes: at.bytes,
                relation: self.relation(at),
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
                relation: self.relation(at),
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
                relation: self.relation(at),
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
        AccessSide {
            kind: side.kind,
            place: self.numbered_place(side.instruction),
            thread: self.thread_place(self.ctaid(side.block), side.warp, side.lane),
        }
    }

    /// Where an address is, relative to what is there.
    fn relation(&self, at: Spot) -> Relation {
        match at.space {
            Space::Shared if self.cluster.n_blocks() > 1 => {
                let relation = self.shared_relation(at.address);
                relation.in_block(self.ctaid(at.owner))
            }
            Space::Shared => self.shared_relation(at.address),
            Space::Local => self.local_relation(at.address, at.bytes),
            _ => self
                .memory
                .find(at.address)
                .map_or(Relation::Nowhere, |a| a.relation(at.address)),
        }
    }
}

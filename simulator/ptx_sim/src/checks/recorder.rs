//! The recorder, which keeps more of a run than counts: what it overwrites, or its events.

use super::access::{BulkStart, WarpAccess};
use super::exact::Kind;
use super::races::lanes;
use super::tracer::Tracer;
use crate::memory::global::GlobalMemory;
use crate::memory::journal::{Bytes, Journal};
use ptx::ir::Space;

/// One of two things that are never wanted from the same run.
#[expect(clippy::large_enum_variant, reason = "one per worker, behind a box")]
pub(crate) enum Recorder<'a> {
    /// Memory as it was before the launch wrote there.
    Journal(Journal<'a>),
    /// The events of a block.
    Trace(Tracer),
}

impl<'a> Recorder<'a> {
    /// One that keeps what is written to memory of the host.
    pub fn of_the_host(memory: &'a GlobalMemory) -> Box<Self> {
        Box::new(Self::Journal(Journal::of_the_host(memory)))
    }

    /// Lanes access memory.
    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        match self {
            Self::Journal(journal) => keep(journal, access),
            Self::Trace(tracer) => tracer.access(instruction, access),
        }
    }

    /// Lanes may be about to write.
    pub fn may_write(&mut self, access: &WarpAccess<'_>) {
        if let Self::Journal(journal) = self {
            keep(journal, access);
        }
    }

    /// A thread starts a bulk copy.
    pub fn bulk_started(&mut self, start: &BulkStart) {
        if let Self::Journal(journal) = self
            && start.writes.space == Space::Global
        {
            for range in &start.writes.ranges {
                journal.keep(range.start, (range.end - range.start) as u32);
            }
        }
    }

    /// The events, if those are kept.
    pub fn tracer(&mut self) -> Option<&mut Tracer> {
        match self {
            Self::Trace(tracer) => Some(tracer),
            Self::Journal(_) => None,
        }
    }

    /// What was overwritten, if that was kept.
    pub fn into_journal(self) -> Option<Journal<'a>> {
        match self {
            Self::Journal(journal) => Some(journal),
            Self::Trace(_) => None,
        }
    }

    /// What was overwritten, without the journal.
    pub fn into_bytes(self) -> Option<Bytes> {
        self.into_journal().map(Journal::into_bytes)
    }

    /// The events, if those were kept.
    pub fn into_tracer(self) -> Option<Tracer> {
        match self {
            Self::Trace(tracer) => Some(tracer),
            Self::Journal(_) => None,
        }
    }
}

/// Keeps what lanes may be about to write.
fn keep(journal: &mut Journal<'_>, access: &WarpAccess<'_>) {
    if access.space == Space::Global && Kind::of(access).writes {
        for lane in lanes(access.mask) {
            journal.keep(access.addresses[lane], access.bytes);
        }
    }
}

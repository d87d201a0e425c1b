//! The exact judge: checks accesses one by one and reports what is wrong, with both sides.

use std::ops::Range;

use super::access::{AccessClass, WarpAccess};
use super::bulk::{self, BulkAccess, DoneBy};
use super::finding::{Finding, Side, Spot};
use super::judge::{Judge, Running};
use super::order::{BlockOrder, GridOrder, synchronises};
use super::passed_on::PassedOn;
use super::races;
use super::shadow::{GlobalLines, Lines, SharedLines, Site, Sites};
use super::written::{GlobalWritten, SharedWritten, WrittenBytes};
use crate::diagnostics::AccessKind;
use crate::memory::global::GlobalMemory;
use crate::memory::written::Written;
use crate::program::Scope;
use ptx::ir::Space;

/// What is remembered of all memory.
pub(crate) struct Exact<'a> {
    global: Remembered<GlobalLines, GlobalWritten<'a>>,
}

/// What is remembered of a block's shared memory.
pub(crate) type ExactShared = Remembered<SharedLines, SharedWritten>;

/// What is remembered of some memory, word by word.
#[derive(Default)]
pub(crate) struct Remembered<L, W> {
    lines: L,
    sites: Sites,
    written: W,
    /// The first read of unwritten memory. A write that comes later makes it a
    /// race.
    unwritten: Option<Finding>,
}

impl<L: Lines, W: WrittenBytes> Remembered<L, W> {
    /// Notes the first read of unwritten memory.
    fn note_unwritten(
        &mut self,
        instruction: u32,
        access: &WarpAccess<'_>,
        flags: u8,
        passed_on: &mut PassedOn,
    ) {
        let written = &mut self.written;
        let first = written.missing(access);
        let is_written = |_, at| written.has(at, at + 1);
        if let Some(lane) = passed_on.read(instruction, access, first, is_written) {
            let found = || unwritten(instruction, access, lane, flags);
            self.unwritten.get_or_insert_with(found);
        }
    }

    /// Marks what lanes write.
    fn mark_written(&mut self, instruction: u32, access: &WarpAccess<'_>, passed_on: &PassedOn) {
        self.written.mark(access);
        for (_, at) in passed_on.stored(instruction, access) {
            self.written.unset(at, at + 1);
        }
    }

    /// The same by a copy.
    fn note_unwritten_by(&mut self, access: &BulkAccess) {
        if access.writes && access.reduces.is_none() {
            return;
        }
        let mut ranges = access.touch.ranges.iter();
        if let Some((address, bytes)) = ranges.find_map(|range| self.written.missing_in(range)) {
            let at = access.spot(address, bytes);
            let this = access.side();
            self.unwritten
                .get_or_insert(Finding::Unwritten { at, this });
        }
    }

    /// Marks what a copy writes.
    fn mark_written_by(&mut self, access: &BulkAccess) {
        for range in access.touch.ranges.iter().filter(|_| access.writes) {
            self.written.set(range.start, range.end);
        }
    }

    fn races(
        &mut self,
        order: &BlockOrder,
        site: Site,
        access: &WarpAccess<'_>,
        remember: bool,
    ) -> Option<Finding> {
        let (lines, sites) = (&mut self.lines, &mut self.sites);
        races::access(lines, sites, order, site, access, remember)
    }

    fn bulk_begins(&mut self, order: &BlockOrder, access: &mut BulkAccess) -> Option<Finding> {
        bulk::begin(&mut self.lines, &mut self.sites, order, access)
    }

    fn bulk_ends(&mut self, order: &BlockOrder, access: &BulkAccess, by: DoneBy) {
        bulk::end(&mut self.lines, &mut self.sites, order, access, by);
    }
}

impl<'a> Exact<'a> {
    /// For a launch, with what has been written of each allocation.
    pub fn new(memory: &'a GlobalMemory, written: Vec<Written>) -> Self {
        Self {
            global: Remembered {
                lines: GlobalLines::default(),
                sites: Sites::default(),
                written: GlobalWritten::new(memory, written),
                unwritten: None,
            },
        }
    }

    /// What has been written of each allocation.
    pub fn into_written(self) -> Vec<Written> {
        self.global.written.list
    }
}

impl Judge for Exact<'_> {
    type Block = ExactShared;

    fn started(&mut self, block: &mut Running<ExactShared>, shared_bytes: u32) {
        let block = &mut block.memory;
        block.lines.reset(shared_bytes);
        block.sites.clear();
        block.written.reset(shared_bytes);
        block.unwritten = None;
    }

    fn ended(&mut self, block: &mut Running<ExactShared>) -> Option<Finding> {
        block.memory.unwritten.take()
    }

    fn access(
        &mut self,
        grid: &mut GridOrder,
        block: &mut Running<ExactShared>,
        instruction: u32,
        access: &WarpAccess<'_>,
    ) -> Option<Finding> {
        let Kind {
            flags,
            reads,
            writes,
        } = Kind::of(access);
        if !block.copies.is_empty() {
            let lane = access.mask.trailing_zeros();
            let side = races::side(&site_of(instruction, access, flags, 0), lane);
            let found = block.copies.conflict(side, writes, access);
            if found.is_some() {
                return found;
            }
        }
        let is_shared = access.space == Space::Shared;
        if reads && !access.overwrites {
            let passed_on = &mut block.passed_on;
            match is_shared {
                true => (block.memory).note_unwritten(instruction, access, flags, passed_on),
                false => (self.global).note_unwritten(instruction, access, flags, passed_on),
            }
        }
        if synchronises(access) && reads {
            grid.reads(&mut block.order, access);
        }
        let clock = block.order.warps[access.warp as usize].clock;
        let site = site_of(instruction, access, flags, clock);
        // A copy's target counts as written once the copy has been waited for.
        let starts_copy = is_copy(access) && is_shared;
        // What a product reads is remembered by `proxies`.
        let remember = !starts_copy && access.class != AccessClass::Product;
        let order = &block.order;
        let found = match is_shared {
            true => block.memory.races(order, site, access, remember),
            false => self.global.races(order, site, access, remember),
        };
        if let Some(found) = found {
            let earlier = match is_of_stores(&found) {
                true => (block.memory.unwritten.take()).or_else(|| self.global.unwritten.take()),
                false => None,
            };
            return earlier.or(Some(found));
        }
        if is_copy(access) {
            block.copies.starts(instruction, access);
        } else if writes {
            grid.wrote(&mut block.order, access, reads);
            match is_shared {
                true => (block.memory).mark_written(instruction, access, &block.passed_on),
                false => (self.global).mark_written(instruction, access, &block.passed_on),
            }
        }
        None
    }

    fn taken(&mut self, range: Range<u64>) {
        self.global.written.unset(range.start, range.end);
        self.global.lines.forget(range);
    }

    fn copied(
        &mut self,
        block: &mut ExactShared,
        order: &BlockOrder,
        instruction: u32,
        store: &WarpAccess<'_>,
    ) -> Option<Finding> {
        let clock = order.warps[store.warp as usize].clock;
        let flags = races::flags(store.class);
        let site = site_of(instruction, store, flags, clock);
        let found = block.races(order, site, store, true);
        block.written.mark(store);
        found
    }

    fn bulk_begins(
        &mut self,
        block: &mut Running<ExactShared>,
        access: &mut BulkAccess,
    ) -> Option<Finding> {
        let order = &block.order;
        if access.touch.space == Space::Shared {
            block.memory.note_unwritten_by(access);
            return block.memory.bulk_begins(order, access);
        }
        self.global.note_unwritten_by(access);
        // The end of the kernel is enough for what comes after it; whoever reads it before is
        // found otherwise.
        self.global.mark_written_by(access);
        self.global.bulk_begins(order, access)
    }

    fn bulk_ends(&mut self, block: &mut Running<ExactShared>, access: &BulkAccess, by: DoneBy) {
        let order = &block.order;
        if access.touch.space == Space::Shared {
            block.memory.bulk_ends(order, access, by);
            block.memory.mark_written_by(access);
        } else {
            self.global.bulk_ends(order, access, by);
        }
    }

    fn finished(&mut self) -> Option<Finding> {
        self.global.unwritten.take()
    }
}

/// Whether two stores race. A read of unwritten memory that came before has another cause, and what
/// it gave may be why they store to one place.
fn is_of_stores(found: &Finding) -> bool {
    let stores = |side: &Side| matches!(side.kind, AccessKind::Store | AccessKind::Atomic);
    matches!(found, Finding::Race { this, other, .. } if stores(this) && stores(other))
}

/// Everything about an access that matters for races.
pub(crate) struct Kind {
    /// As [`Site`] has them.
    pub flags: u8,
    pub reads: bool,
    pub writes: bool,
}

impl Kind {
    pub fn of(access: &WarpAccess<'_>) -> Self {
        let flags = flags_of(access);
        let writes = flags & Site::WRITES != 0;
        Self {
            flags,
            reads: flags & Site::ATOMIC != 0 || !writes,
            writes,
        }
    }
}

/// Whether it is a report of an asynchronous copy, of its source or of its target.
pub(crate) fn is_copy(access: &WarpAccess<'_>) -> bool {
    matches!(
        access.class,
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass
    )
}

/// What kind of access it is.
fn flags_of(access: &WarpAccess<'_>) -> u8 {
    let mut flags = races::flags(access.class);
    // The source of a copy is reported separately.
    let is_source = is_copy(access) && access.space != Space::Shared;
    if is_source || access.mask & !access.failed == 0 {
        flags &= !Site::WRITES;
    }
    if access.is_constant {
        flags |= Site::CONSTANT;
    }
    if synchronises(access) {
        flags |= Site::SYNCHRONISES;
        flags |= match access.scope {
            Scope::Block => 0,
            Scope::Device => Site::WIDE,
            Scope::System => Site::WIDE | Site::SYSTEM,
        };
    }
    flags
}

/// A read of unwritten memory.
pub(crate) fn unwritten(
    instruction: u32,
    access: &WarpAccess<'_>,
    lane: usize,
    flags: u8,
) -> Finding {
    Finding::Unwritten {
        at: Spot::of(access, lane),
        this: races::side(&site_of(instruction, access, flags, 0), lane as u32),
    }
}

/// The access as remembered.
pub(crate) fn site_of(instruction: u32, access: &WarpAccess<'_>, flags: u8, clock: u32) -> Site {
    Site {
        instruction,
        block: access.block as u32,
        clock,
        warp: access.warp as u8,
        size: access.bytes as u8,
        flags,
        device: 0,
    }
}

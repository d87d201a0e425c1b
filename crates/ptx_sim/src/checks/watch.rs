//! Tells each check what concerns it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::access::{AccessClass, BarrierArrival, Lanes, WarpAccess};
use super::copies::Copies;
use super::counters::Counters;
use super::finding::{Finding, Spot};
use super::observer::Observer;
use super::order::{BlockOrder, Depth, GridOrder, Place, synchronises};
use super::passed_on::only_passed_on;
use super::races;
use super::shadow::{GlobalLines, Mix, SharedLines, Site, Sites};
use super::together::{Meetings, thread_at, warp_wide};
use super::written::{GlobalWritten, LocalWritten, SharedWritten};
use crate::context::LaunchContext;
use crate::ir::Space;
use crate::memory::written::Written;
use crate::program::Scope;

/// Counts and, where asked to, checks.
pub(crate) struct Watch<'a> {
    pub counters: Counters,
    pub checks: Option<Box<Checks<'a>>>,
}

/// All checks of a launch.
pub(crate) struct Checks<'a> {
    launch: &'a LaunchContext<'a>,
    /// By load from local memory, whether what it gives is only passed on.
    only_passed_on: HashMap<u32, bool>,
    /// Blocks that run.
    blocks: Vec<BlockState>,
    /// By block, where in `blocks` it is.
    places: HashMap<u64, usize, BuildHasherDefault<Mix>>,
    /// Where the last one that was asked for is.
    last: usize,
    /// State of blocks that have ended, to be used again.
    spare: Vec<BlockState>,
    order: GridOrder,
    depth: Depth,
    lines: GlobalLines,
    sites: Sites,
    written: GlobalWritten<'a>,
    /// The first defect.
    finding: Option<Finding>,
    /// The first read of global memory that nobody had written. A write that
    /// comes later makes it a race.
    unwritten: Option<Finding>,
}

/// A block that runs.
struct BlockState {
    number: u64,
    order: BlockOrder,
    lines: SharedLines,
    sites: Sites,
    written: SharedWritten,
    /// By warp.
    local: Vec<LocalWritten>,
    copies: Copies,
    meetings: Meetings,
    /// As [`Checks::unwritten`], of shared memory.
    unwritten: Option<Finding>,
}

/// Of a block that has not begun.
const NOWHERE: Place = Place {
    block: 0,
    depth: Depth::NONE,
};

impl BlockState {
    fn new() -> Self {
        Self {
            number: 0,
            order: BlockOrder::new(NOWHERE, 0),
            lines: SharedLines::default(),
            sites: Sites::new(),
            written: SharedWritten::default(),
            local: Vec::new(),
            copies: Copies::default(),
            meetings: Meetings::default(),
            unwritten: None,
        }
    }

    fn start(&mut self, place: Place, n_threads: u32, shared_bytes: u32) {
        let n_warps = n_threads.div_ceil(32);
        self.number = place.block;
        self.order = BlockOrder::new(place, n_threads);
        self.lines.reset(shared_bytes);
        self.sites.clear();
        self.written.reset(shared_bytes);
        self.local
            .resize_with(n_warps as usize, LocalWritten::default);
        self.local.iter_mut().for_each(LocalWritten::reset);
        self.copies.reset(n_warps, shared_bytes);
        self.meetings = Meetings::default();
        self.unwritten = None;
    }
}

impl<'a> Checks<'a> {
    /// For a launch, with what has been written of each allocation.
    pub fn new(launch: &'a LaunchContext<'a>, written: Vec<Written>) -> Self {
        Self {
            launch,
            only_passed_on: HashMap::new(),
            blocks: Vec::new(),
            places: HashMap::default(),
            last: 0,
            spare: Vec::new(),
            order: GridOrder::new(),
            depth: Depth::of(launch.n_blocks()),
            lines: GlobalLines::default(),
            sites: Sites::new(),
            written: GlobalWritten::new(launch.memory, written),
            finding: None,
            unwritten: None,
        }
    }

    /// What has been written of each allocation.
    pub fn into_written(self) -> Vec<Written> {
        self.written.list
    }

    /// Where the block's state is.
    #[inline]
    fn place(&mut self, block: u64) -> Option<usize> {
        if self.blocks.get(self.last).map(|b| b.number) != Some(block) {
            self.last = *self.places.get(&block)?;
        }
        Some(self.last)
    }

    fn block(&mut self, block: u64) -> Option<&mut BlockState> {
        let place = self.place(block)?;
        Some(&mut self.blocks[place])
    }

    fn found(&mut self, finding: Option<Finding>) {
        self.finding = self.finding.or(finding);
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if self.finding.is_some() {
            return;
        }
        match access.space {
            Space::Local => self.local_access(instruction, access),
            Space::Shared | Space::Global => {
                for mask in [access.mask & !access.failed, access.mask & access.failed] {
                    match mask {
                        0 => {}
                        all if all == access.mask => self.shared_or_global(instruction, access),
                        _ => {
                            let stride = None;
                            let part = WarpAccess {
                                mask,
                                stride,
                                ..*access
                            };
                            self.shared_or_global(instruction, &part);
                        }
                    }
                }
            }
            Space::Const | Space::Param | Space::Generic => {}
        }
    }

    fn local_access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let Some(block) = self.block(access.block) else {
            return;
        };
        let local = &mut block.local[access.warp as usize];
        if access.class != AccessClass::Load {
            return local.mark(access);
        }
        let Some(lane) = local.missing(access) else {
            return;
        };
        let launch = self.launch;
        let only_passed_on = self
            .only_passed_on
            .entry(instruction)
            .or_insert_with(|| only_passed_on(launch.module, &launch.plan.numbering, instruction));
        if !*only_passed_on {
            self.finding = Some(unwritten(instruction, access, lane, 0));
        }
    }

    fn shared_or_global(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let Some(place) = self.place(access.block) else {
            return;
        };
        let block = &mut self.blocks[place];
        let is_shared = access.space == Space::Shared;
        let flags = flags_of(access);
        let writes = flags & Site::WRITES != 0;
        let reads = flags & Site::ATOMIC != 0 || !writes;
        if !block.copies.is_empty() {
            let lane = access.mask.trailing_zeros();
            let side = races::side(&site_of(instruction, access, flags, 0), lane);
            if let Some(finding) = block.copies.conflict(side, writes, access) {
                self.finding = Some(finding);
                return;
            }
        }
        if reads && !access.overwrites {
            self.note_unwritten(place, instruction, access, flags);
        }
        let block = &mut self.blocks[place];
        if synchronises(access) && reads {
            self.order.reads(&mut block.order, access);
        }
        let order = &block.order;
        let clock = order.warps[access.warp as usize].clock;
        let site = site_of(instruction, access, flags, clock);
        // A copy's target is written when it has been waited for.
        let starts_copy = is_copy(access) && is_shared;
        self.finding = if is_shared {
            let (lines, sites) = (&mut block.lines, &mut block.sites);
            races::access(lines, sites, order, site, access, !starts_copy)
        } else {
            races::access(&mut self.lines, &mut self.sites, order, site, access, true)
        };
        if self.finding.is_some() {
            return;
        }
        match is_copy(access) {
            true if is_shared => block.copies.starts_to(instruction, access),
            true => block.copies.starts_from(access),
            false if writes => self.wrote(place, access, reads),
            false => {}
        }
    }

    /// Memory has been written.
    fn wrote(&mut self, place: usize, access: &WarpAccess<'_>, reads: bool) {
        let block = &mut self.blocks[place];
        if synchronises(access) {
            self.order.writes(&mut block.order, access);
            if reads && !access.mask.is_power_of_two() {
                // Lanes that access the same come one after the other.
                self.order.reads(&mut block.order, access);
            }
        }
        if access.space == Space::Shared {
            block.written.mark(access);
        } else {
            self.written.mark(access);
        }
    }

    /// Notes the first read of what nobody wrote.
    fn note_unwritten(
        &mut self,
        place: usize,
        instruction: u32,
        access: &WarpAccess<'_>,
        flags: u8,
    ) {
        let (written, first) = if access.space == Space::Shared {
            let BlockState {
                written, unwritten, ..
            } = &mut self.blocks[place];
            (written.missing(access), unwritten)
        } else {
            (self.written.missing(access), &mut self.unwritten)
        };
        if let Some(lane) = written {
            first.get_or_insert(unwritten(instruction, access, lane, flags));
        }
    }

    fn awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        let Some(block) = self.block(lanes.block) else {
            return;
        };
        if block.copies.is_empty() {
            return;
        }
        let BlockState {
            order,
            lines,
            sites,
            written,
            copies,
            ..
        } = block;
        let clock = order.warps[lanes.warp as usize].clock;
        let mut found = None;
        copies.awaited(lanes, n_left, |instruction, lanes, to, bytes| {
            // As if the lanes stored it now.
            let class = AccessClass::AsyncCopy;
            let store = WarpAccess::new(lanes, class, Space::Shared, bytes, to);
            let flags = races::flags(store.class);
            let site = site_of(instruction, &store, flags, clock);
            let race = races::access(lines, sites, order, site, &store, true);
            found = found.or(race);
            written.mark(&store);
        });
        self.found(found);
    }

    fn started(&mut self, number: u64, shared_bytes: u32) {
        let mut block = self.spare.pop().unwrap_or_else(BlockState::new);
        let place = Place {
            block: number,
            depth: self.depth,
        };
        block.start(place, self.launch.n_threads(), shared_bytes);
        self.places.insert(number, self.blocks.len());
        self.blocks.push(block);
    }

    fn ended(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            let block = self.blocks.swap_remove(place);
            self.places.remove(&number);
            if let Some(moved) = self.blocks.get(place) {
                self.places.insert(moved.number, place);
            }
            self.found(block.unwritten);
            self.spare.push(block);
        }
    }

    fn take(&mut self, end: bool) -> Option<Finding> {
        let mut finding = self.finding.take();
        if end {
            for block in &mut self.blocks {
                finding = finding.or(block.unwritten.take());
            }
            finding = finding.or(self.unwritten.take());
        }
        finding
    }
}

fn is_copy(access: &WarpAccess<'_>) -> bool {
    matches!(
        access.class,
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass
    )
}

/// What kind of access it is.
fn flags_of(access: &WarpAccess<'_>) -> u8 {
    let mut flags = races::flags(access.class);
    // The source of a copy is told of by itself.
    let is_source = is_copy(access) && access.space != Space::Shared;
    if is_source || access.mask & !access.failed == 0 {
        flags &= !Site::WRITES;
    }
    if access.is_constant {
        flags |= Site::CONSTANT;
    }
    if synchronises(access) {
        flags |= Site::SYNCHRONISES;
        if access.scope == Scope::Device {
            flags |= Site::WIDE;
        }
    }
    flags
}

fn unwritten(instruction: u32, access: &WarpAccess<'_>, lane: usize, flags: u8) -> Finding {
    Finding::Unwritten {
        at: Spot::of(access, lane),
        this: races::side(&site_of(instruction, access, flags, 0), lane as u32),
    }
}

fn site_of(instruction: u32, access: &WarpAccess<'_>, flags: u8, clock: u32) -> Site {
    Site {
        instruction,
        block: access.block as u32,
        clock,
        warp: access.warp as u8,
        size: access.bytes as u8,
        flags,
    }
}

impl Observer for Watch<'_> {
    const ON: bool = true;

    #[inline(always)]
    fn block(&mut self, counter: u32, mask: u32) {
        self.counters.block(counter, mask);
    }

    #[inline(always)]
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32) {
        self.counters.guarded(instruction, mask, block_mask);
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.access(instruction, access);
        }
        self.counters.access(instruction, access);
    }

    fn request(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        self.counters.access(instruction, access);
    }

    fn part(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.access(instruction, access);
        }
    }

    fn block_started(&mut self, block: u64, shared_bytes: u32) {
        if let Some(checks) = &mut self.checks {
            checks.started(block, shared_bytes);
        }
    }

    fn block_ended(&mut self, block: u64) {
        if let Some(checks) = &mut self.checks {
            checks.ended(block);
        }
    }

    fn arrived(&mut self, arrival: &BarrierArrival) {
        let lanes = arrival.lanes;
        if let Some(checks) = &mut self.checks {
            let n_threads = checks.launch.n_threads();
            let Some(block) = checks.block(lanes.block) else {
                return;
            };
            let found = block.meetings.arrived(arrival, n_threads);
            block.order.arrived(arrival);
            checks.found(found);
        }
    }

    fn released(&mut self, block: u64, barrier: usize) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(block)
        {
            block.meetings.released(barrier);
            block.order.released(barrier);
        }
    }

    fn fence(&mut self, lanes: Lanes, scope: Scope) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.order.fence(lanes, scope);
        }
    }

    fn converged(&mut self, lanes: Lanes, members: &[u32; 32]) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.order.converged(lanes, members);
        }
    }

    fn together(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        members: &[u32; 32],
        sources: Option<&[u8; 32]>,
    ) {
        if let Some(checks) = &mut self.checks {
            checks.found(warp_wide(instruction, lanes, members, sources));
            if let Some(block) = checks.block(lanes.block) {
                block.order.shared(lanes, members);
            }
        }
    }

    fn divided_by_zero(&mut self, instruction: u32, lanes: Lanes) {
        if let Some(checks) = &mut self.checks {
            let lane = lanes.mask.trailing_zeros();
            let this = thread_at(instruction, lanes, lane);
            checks.found(Some(Finding::DivisionByZero { this }));
        }
    }

    fn copies_committed(&mut self, lanes: Lanes) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.copies.committed(lanes);
        }
    }

    fn copies_awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        if let Some(checks) = &mut self.checks {
            checks.awaited(lanes, n_left);
        }
    }

    fn local_begins(&mut self, lanes: Lanes, range: Range<u32>) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.local[lanes.warp as usize].begin(lanes.mask, range);
        }
    }

    fn local_passed(&mut self, lanes: Lanes, range: Range<u32>) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.local[lanes.warp as usize].write(lanes.mask, range);
        }
    }

    fn take_finding(&mut self, end: bool) -> Option<Finding> {
        self.checks.as_mut().and_then(|checks| checks.take(end))
    }
}

//! Tells each check what concerns it.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

use super::access::{AccessClass, BarrierArrival, Lanes, WarpAccess};
use super::counters::Counters;
use super::exact::{Kind, unwritten};
use super::finding::Finding;
use super::judge::{Judge, Running};
use super::observer::Observer;
use super::order::{BlockOrder, Depth, GridOrder, Place};
use super::passed_on::only_passed_on;
use super::races::lanes;
use super::shadow::Mix;
use super::together::{Meetings, thread_at, warp_wide};
use super::written::LocalWritten;
use crate::context::LaunchContext;
use crate::ir::Space;
use crate::memory::journal::Journal;
use crate::program::Scope;

/// Counts and, where asked to, checks, and keeps what is overwritten.
pub(crate) struct Watch<'a, J: Judge> {
    pub counters: Counters,
    pub checks: Option<Box<Checks<'a, J>>>,
    pub journal: Option<Box<Journal<'a>>>,
}

/// Keeps what lanes may be about to write.
fn keep(journal: &mut Journal<'_>, access: &WarpAccess<'_>) {
    if access.space == Space::Global && Kind::of(access).writes {
        for lane in lanes(access.mask) {
            journal.keep(access.addresses[lane], access.bytes);
        }
    }
}

/// All checks of a launch.
pub(crate) struct Checks<'a, J: Judge> {
    launch: &'a LaunchContext<'a>,
    /// By load from local memory, whether what it gives is only passed on.
    only_passed_on: HashMap<u32, bool>,
    /// Blocks that run.
    blocks: Vec<BlockState<J::Block>>,
    /// By block, where in `blocks` it is.
    places: HashMap<u64, usize, BuildHasherDefault<Mix>>,
    /// Where the last one that was asked for is.
    last: usize,
    /// State of blocks that have ended, to be used again.
    spare: Vec<BlockState<J::Block>>,
    order: GridOrder,
    depth: Depth,
    judge: J,
    /// The first defect.
    finding: Option<Finding>,
}

/// A block that runs.
struct BlockState<B> {
    number: u64,
    running: Running<B>,
    /// By warp.
    local: Vec<LocalWritten>,
    meetings: Meetings,
}

impl<B: Default> BlockState<B> {
    fn new() -> Self {
        Self {
            number: 0,
            running: Running::new(),
            local: Vec::new(),
            meetings: Meetings::default(),
        }
    }

    fn start(&mut self, place: Place, n_threads: u32, shared_bytes: u32) {
        let n_warps = n_threads.div_ceil(32);
        self.number = place.block;
        self.running.order = BlockOrder::new(place, n_threads);
        self.running.copies.reset(n_warps, shared_bytes);
        self.local
            .resize_with(n_warps as usize, LocalWritten::default);
        self.local.iter_mut().for_each(LocalWritten::reset);
        self.meetings = Meetings::default();
    }
}

impl<'a, J: Judge> Checks<'a, J> {
    /// For a launch.
    pub fn new(launch: &'a LaunchContext<'a>, judge: J) -> Self {
        Self {
            launch,
            only_passed_on: HashMap::new(),
            blocks: Vec::new(),
            places: HashMap::default(),
            last: 0,
            spare: Vec::new(),
            order: GridOrder::new(),
            depth: Depth::of(launch.n_blocks()),
            judge,
            finding: None,
        }
    }

    /// Who judged accesses to memory.
    pub fn into_judge(self) -> J {
        self.judge
    }

    /// Where the block's state is.
    #[inline]
    fn place(&mut self, block: u64) -> Option<usize> {
        if self.blocks.get(self.last).map(|b| b.number) != Some(block) {
            self.last = *self.places.get(&block)?;
        }
        Some(self.last)
    }

    fn block(&mut self, block: u64) -> Option<&mut BlockState<J::Block>> {
        let place = self.place(block)?;
        Some(&mut self.blocks[place])
    }

    fn found(&mut self, finding: Option<Finding>) {
        self.finding = self.finding.or(finding);
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if self.finding.is_some() {
            return self.judge.may_write(access);
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
        if let Some(place) = self.place(access.block) {
            let block = &mut self.blocks[place].running;
            let judge = &mut self.judge;
            let found = judge.access(&mut self.order, block, instruction, access);
            self.found(found);
        }
    }

    fn awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        let Some(place) = self.place(lanes.block) else {
            return;
        };
        let Running {
            order,
            copies,
            memory,
        } = &mut self.blocks[place].running;
        if copies.is_empty() {
            return;
        }
        let mut found = None;
        let judge = &mut self.judge;
        copies.awaited(lanes, n_left, |instruction, lanes, to, bytes| {
            // As if the lanes stored it now.
            let class = AccessClass::AsyncCopy;
            let store = WarpAccess::new(lanes, class, Space::Shared, bytes, to);
            let race = judge.copied(memory, order, instruction, &store);
            found = found.or(race);
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
        self.judge.started(&mut block.running.memory, shared_bytes);
        self.places.insert(number, self.blocks.len());
        self.blocks.push(block);
    }

    fn ended(&mut self, number: u64) {
        if let Some(place) = self.place(number) {
            let mut block = self.blocks.swap_remove(place);
            self.places.remove(&number);
            if let Some(moved) = self.blocks.get(place) {
                self.places.insert(moved.number, place);
            }
            let found = self.judge.ended(&mut block.running);
            self.found(found);
            self.spare.push(block);
        }
    }

    fn take(&mut self, end: bool) -> Option<Finding> {
        let mut finding = self.finding.take();
        if end {
            for block in &mut self.blocks {
                let found = self.judge.ended(&mut block.running);
                finding = finding.or(found);
            }
            finding = finding.or(self.judge.finished());
        }
        finding
    }
}

impl<J: Judge> Observer for Watch<'_, J> {
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
        if let Some(journal) = &mut self.journal {
            keep(journal, access);
        }
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

    fn may_write(&mut self, access: &WarpAccess<'_>) {
        if let Some(journal) = &mut self.journal {
            keep(journal, access);
        }
        if let Some(checks) = &mut self.checks {
            checks.judge.may_write(access);
        }
    }

    fn gives_up(&self) -> bool {
        let checks = self.checks.as_ref();
        checks.is_some_and(|checks| checks.judge.gives_up())
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
            block.running.order.arrived(arrival);
            checks.found(found);
        }
    }

    fn released(&mut self, block: u64, barrier: usize) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(block)
        {
            block.meetings.released(barrier);
            block.running.order.released(barrier);
        }
    }

    fn fence(&mut self, lanes: Lanes, scope: Scope) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.running.order.fence(lanes, scope);
        }
    }

    fn converged(&mut self, lanes: Lanes, members: &[u32; 32]) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.running.order.converged(lanes, members);
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
                block.running.order.shared(lanes, members);
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
            block.running.copies.committed(lanes);
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

    fn taken(&mut self, range: Range<u64>) {
        if let Some(checks) = &mut self.checks {
            checks.judge.taken(range);
        }
    }

    fn take_finding(&mut self, end: bool) -> Option<Finding> {
        self.checks.as_mut().and_then(|checks| checks.take(end))
    }
}

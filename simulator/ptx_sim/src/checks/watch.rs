//! The distribution of events to the checks that they concern.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;

use super::access::{AccessClass, BarrierArrival, BulkStart, Lanes, Row, RowAccess, WarpAccess};
use super::beside::{Beside, reads};
use super::bulk::{BulkAccess, BulkCopy, DoneBy};
use super::convergence::{Meetings, thread_at, warp_wide};
use super::counters::Counters;
use super::exact::unwritten;
use super::finding::Finding;
use super::judge::{Judge, Running};
use super::observer::{Events, Observer, ProductSeen};
use super::order::{BlockOrder, Depth, GridOrder, Place};
use super::recorder::Recorder;
use super::remote_shared::RemoteAccesses;
use super::shadow::Mix;
use super::stores::Stores;
use super::tracer::Tracer;
use super::undefined::Undefined;
use super::uses::Uses;
use super::written::LocalWritten;
use crate::bulk::CopyId;
use crate::context::LaunchContext;
use crate::numbering::Routes;
use crate::pending::Footprint;
use crate::program::{Order, Scope, Slot};
use crate::trace::TraceKind;
use crate::warp::FrameId;
use ptx::ir::Space;

/// Counts and, where asked to, checks, and keeps what is overwritten or what happens.
pub(crate) struct Watch<'a, J: Judge> {
    pub counters: Counters,
    pub checks: Option<Box<Checks<'a, J>>>,
    pub recorder: Option<Box<Recorder<'a>>>,
}

impl<J: Judge> Watch<'_, J> {
    /// What keeps events, if they are kept.
    fn tracer(&mut self) -> Option<&mut Tracer> {
        self.recorder.as_mut()?.tracer()
    }

    /// Whether the checks have found something.
    pub fn has_finding(&self) -> bool {
        let checks = self.checks.as_ref();
        checks.is_some_and(|checks| checks.finding.is_some())
    }

    /// Keeps an access, and checks it, if that is asked for.
    fn judge(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.access(instruction, access);
        }
        if let Some(checks) = &mut self.checks {
            checks.access(instruction, access);
        }
    }

    /// Keeps an event of a warp without data beyond its kind.
    fn trace(&mut self, lanes: Lanes, kind: TraceKind) {
        if let Some(tracer) = self.tracer() {
            tracer.warp(lanes, None, kind);
        }
    }
}

/// All checks of a launch.
pub(crate) struct Checks<'a, J: Judge> {
    launch: &'a LaunchContext<'a>,
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
    stores: Stores,
    uses: Uses<'a>,
    /// Whether a shuffle has given a lane an undefined value.
    follows: bool,
    /// Bulk copies that are not known to be done.
    copies: Vec<BulkCopy>,
    /// The first defect.
    finding: Option<Finding>,
}

/// A block that runs.
struct BlockState<B> {
    number: u64,
    running: Running<B>,
    /// Where something works alongside the threads: its shared memory, and by warp its
    /// registers.
    beside: Option<Box<Beside>>,
    /// By warp.
    local: Vec<LocalWritten>,
    /// By warp.
    undefined: Vec<Undefined>,
    meetings: Meetings,
    /// What other blocks did in its shared memory.
    remote_shared: RemoteAccesses,
}

impl<B: Default> BlockState<B> {
    fn new() -> Self {
        Self {
            number: 0,
            running: Running::new(),
            beside: None,
            local: Vec::new(),
            undefined: Vec::new(),
            meetings: Meetings::default(),
            remote_shared: RemoteAccesses::default(),
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
        self.undefined
            .resize_with(n_warps as usize, Undefined::default);
        self.undefined.iter_mut().for_each(Undefined::reset);
        self.meetings = Meetings::default();
        self.remote_shared.clear();
        if let Some(beside) = &mut self.beside {
            beside.reset(n_warps, shared_bytes);
        }
    }
}

impl<'a, J: Judge> Checks<'a, J> {
    /// For a launch.
    pub fn new(launch: &'a LaunchContext<'a>, judge: J) -> Self {
        Self {
            launch,
            blocks: Vec::new(),
            places: HashMap::default(),
            last: 0,
            spare: Vec::new(),
            order: GridOrder::new(launch.cluster.n_blocks() > 1, 1),
            depth: Depth::of(launch.among.n_blocks),
            judge,
            stores: Stores::default(),
            uses: Uses::new(launch.pending, launch.keeps_footprint),
            follows: false,
            copies: Vec::new(),
            finding: None,
        }
    }

    /// Exchanges what launches that run together share: what judges their accesses, and their
    /// order.
    pub fn exchange(&mut self, shared: &mut (J, GridOrder)) {
        std::mem::swap(&mut self.judge, &mut shared.0);
        std::mem::swap(&mut self.order, &mut shared.1);
    }

    /// The judge of accesses to memory, the places where the launch has stored, and the global
    /// memory that it has used, if that is kept.
    pub fn into_parts(self) -> (J, Stores, Option<Footprint>) {
        (self.judge, self.stores, self.uses.into_footprint())
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
        if !self.uses.are_ignored()
            && let Some(finding) = self.uses.access(instruction, access)
        {
            return self.found(Some(finding));
        }
        self.stores.add(self.launch, instruction, access);
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

    /// As [`access`](Self::access) of a row, if it is in order at a glance; gives whether it is.
    #[inline(always)]
    fn row(&mut self, instruction: u32, access: &RowAccess) -> bool {
        let space = access.row.space;
        if let Space::Const | Space::Param = space {
            return self.uses.are_ignored();
        }
        let is_plain = matches!(space, Space::Shared | Space::Global)
            && access.order == Order::Weak
            && access.owner == access.block;
        if !is_plain || self.finding.is_some() || !self.uses.are_ignored() {
            return false;
        }
        let Some(place) = self.place(access.block) else {
            return false;
        };
        let block = &mut self.blocks[place];
        let is_store = access.row.class == AccessClass::Store;
        if is_store && !block.running.passed_on.is_empty() {
            return false;
        }
        let is_beside = |beside: &Beside| is_store || beside.proxies.has_operations();
        if space == Space::Shared && block.beside.as_deref().is_some_and(is_beside)
            || !self.judge.row(&mut block.running, instruction, access)
        {
            return false;
        }
        if is_store && space == Space::Global {
            self.stores.add_row(self.launch, instruction, access);
        }
        true
    }

    fn local_access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let Some(block) = self.block(access.block) else {
            return;
        };
        let local = &mut block.local[access.warp as usize];
        let passed_on = &mut block.running.passed_on;
        if access.class != AccessClass::Load {
            local.mark(access);
            for (lane, at) in passed_on.stored(instruction, access) {
                local.begin(1 << lane, at as u32..at as u32 + 1);
            }
            return;
        }
        let first = local.missing(access);
        let found = passed_on.read(instruction, access, first, |lane, at| local.has(lane, at));
        self.finding = found.map(|lane| unwritten(instruction, access, lane, 0));
    }

    fn shared_or_global(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if access.owner != access.block && access.space == Space::Shared {
            return self.others_shared(instruction, access);
        }
        if let Some(place) = self.place(access.block) {
            let BlockState {
                running, beside, ..
            } = &mut self.blocks[place];
            let beside = beside.as_mut().filter(|_| access.space == Space::Shared);
            let found =
                beside.and_then(|beside| beside.access(&running.order, instruction, access));
            let judge = &mut self.judge;
            let found = found.or(judge.access(&mut self.order, running, instruction, access));
            self.found(found);
        }
    }

    /// An access to another block's shared memory: judged by what is remembered of that,
    /// and by what the block that accesses it knows.
    #[cold]
    fn others_shared(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        let places = [access.block, access.owner].map(|block| self.place(block));
        let [Some(block), Some(owner)] = places else {
            return;
        };
        let Ok([block, owner]) = self.blocks.get_disjoint_mut([block, owner]) else {
            return;
        };
        owner
            .remote_shared
            .add(instruction, access, &block.running.order);
        let swap = |block: &mut BlockState<J::Block>, owner: &mut BlockState<J::Block>| {
            std::mem::swap(&mut block.running.memory, &mut owner.running.memory);
            std::mem::swap(&mut block.running.copies, &mut owner.running.copies);
        };
        swap(block, owner);
        let judge = &mut self.judge;
        let found = judge.access(&mut self.order, &mut block.running, instruction, access);
        swap(block, owner);
        self.found(found);
    }

    /// Calls `f` with what is known of the thread's block, but with the memory of the block
    /// whose shared memory a copy accesses instead of its own.
    fn in_memory_of(
        &mut self,
        block: u64,
        access: &mut BulkAccess,
        f: impl FnOnce(&mut J, &mut Running<J::Block>, &mut BulkAccess),
    ) {
        let Some(place) = self.place(block) else {
            return;
        };
        if access.touch.space != Space::Shared || access.owner == block {
            return f(&mut self.judge, &mut self.blocks[place].running, access);
        }
        let Some(owner) = self.place(access.owner) else {
            return;
        };
        if let Ok([block, owner]) = self.blocks.get_disjoint_mut([place, owner]) {
            std::mem::swap(&mut block.running.memory, &mut owner.running.memory);
            f(&mut self.judge, &mut block.running, access);
            std::mem::swap(&mut block.running.memory, &mut owner.running.memory);
        }
    }

    #[cold]
    fn bulk_started(&mut self, instruction: u32, thread: Lanes, start: BulkStart) {
        if !self.uses.are_ignored() {
            let pending = self.uses.bulk(instruction, thread, &start);
            self.found(pending);
        }
        if let Some(barrier) = start.barrier.filter(|_| start.owner == thread.block) {
            self.beside(thread, |beside, _, _, _| {
                beside.counted_by(instruction, thread, barrier)
            });
        }
        let lane = |block: &mut BlockState<J::Block>| {
            start
                .barrier
                .map_or(0, |b| block.running.order.engine_lane(b))
        };
        let channel = self.block(start.owner).map_or(0, lane);
        let mut copy = BulkCopy::new(instruction, thread, start, channel);
        let mut found = None;
        for access in [&mut copy.reads, &mut copy.writes] {
            found = found.or(self.begins_beside(access));
            self.in_memory_of(thread.block, access, |judge, block, access| {
                found = found.or(judge.bulk_begins(block, access));
            });
        }
        self.found(found);
        self.copies.push(copy);
    }

    /// As [`Judge::bulk_begins`], of what else works on shared memory.
    fn begins_beside(&mut self, access: &mut BulkAccess) -> Option<Finding> {
        if access.touch.space != Space::Shared {
            return None;
        }
        let places = [access.thread.block, access.owner].map(|block| self.place(block));
        let [Some(block), Some(owner)] = places else {
            return None;
        };
        let mut beside = self.blocks[owner].beside.take();
        let order = &self.blocks[block].running.order;
        let begun = beside.as_mut().map(|beside| {
            let (side, units) = (access.side(), access.units());
            beside.begins(order, access.owner, side, access.writes, &units)
        });
        self.blocks[owner].beside = beside;
        match begun? {
            Ok(operation) => {
                access.operation = Some(operation);
                None
            }
            Err(finding) => Some(finding),
        }
    }

    fn ends_beside(&mut self, access: &mut BulkAccess) {
        if let Some(operation) = access.operation.take()
            && let Some(block) = self.block(access.owner)
            && let Some(beside) = &mut block.beside
        {
            beside.proxies.completes(operation);
        }
    }

    /// The phase of a barrier is over: so are the copies that it has counted.
    fn phase_over(&mut self, owner: u64, barrier: u32) {
        let is_over = |copy: &mut BulkCopy| {
            copy.id.0 == owner && copy.barrier == Some(barrier) && copy.has_arrived
        };
        let over: Vec<BulkCopy> = self.copies.extract_if(.., is_over).collect();
        if over.is_empty() {
            return;
        }
        let Some(block) = self.block(owner) else {
            return;
        };
        let clock = block.running.order.phase_over(barrier);
        for mut copy in over {
            let by = DoneBy::Engine { clock };
            for access in [&mut copy.reads, &mut copy.writes] {
                self.ends_beside(access);
                self.in_memory_of(owner, access, |judge, block, access| {
                    judge.bulk_ends(block, access, by);
                });
            }
        }
    }

    /// A thread has waited for a copy to global memory, or for it to be read.
    fn bulk_waited(&mut self, thread: Lanes, id: CopyId, is_done: bool) {
        let Some(place) = self.copies.iter().position(|copy| copy.id == id) else {
            return;
        };
        let mut copy = self.copies.swap_remove(place);
        let by = DoneBy::Thread(thread);
        if !std::mem::replace(&mut copy.has_read, true) {
            self.ends_beside(&mut copy.reads);
            self.in_memory_of(thread.block, &mut copy.reads, |judge, block, access| {
                judge.bulk_ends(block, access, by);
            });
        }
        if is_done {
            self.in_memory_of(thread.block, &mut copy.writes, |judge, block, access| {
                judge.bulk_ends(block, access, by);
            });
        } else {
            self.copies.push(copy);
        }
    }

    /// A block ends before a copy is known to be done with its shared memory.
    fn bulk_abandoned(&mut self, id: CopyId) {
        let copy = self.copies.iter().find(|copy| copy.id == id);
        let found = copy.map(|copy| Finding::OutlivesBlock {
            this: copy.writes.side(),
            is_reading: copy.barrier.is_none(),
        });
        self.found(found);
        self.copies
            .retain(|copy| copy.id != id || copy.barrier.is_none());
    }

    fn awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        let Some(place) = self.place(lanes.block) else {
            return;
        };
        let BlockState {
            running, beside, ..
        } = &mut self.blocks[place];
        let Running {
            order,
            copies,
            memory,
            ..
        } = running;
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
            if let Some(beside) = beside {
                beside.arrived(order, instruction, &store);
            }
            found = found.or(race);
        });
        self.found(found);
    }

    /// What works alongside the threads of a block, with all that a check of it needs.
    fn beside(
        &mut self,
        lanes: Lanes,
        check: impl FnOnce(
            &mut Beside,
            &mut Running<J::Block>,
            &mut J,
            &mut GridOrder,
        ) -> Option<Finding>,
    ) {
        let Some(place) = self.place(lanes.block) else {
            return;
        };
        let BlockState {
            running, beside, ..
        } = &mut self.blocks[place];
        if let Some(beside) = beside {
            let found = check(beside, running, &mut self.judge, &mut self.order);
            self.found(found);
        }
    }

    /// Lanes let others know what they initialised.
    fn published(&mut self, lanes: Lanes) {
        self.beside(lanes, |beside, _, _, _| {
            beside.published(lanes);
            None
        });
    }

    fn started(&mut self, number: u64, shared_bytes: u32) {
        let mut block = self.spare.pop().unwrap_or_else(BlockState::new);
        if self.launch.plan.uses_async_proxy {
            block.beside.get_or_insert_default();
        }
        let place = Place {
            block: number,
            depth: self.depth,
            device: self.launch.among.index,
        };
        block.start(place, self.launch.n_threads(), shared_bytes);
        let LaunchContext { module, plan, .. } = self.launch;
        let routes = || Arc::new(Routes::of(module, &plan.numbering));
        block
            .running
            .passed_on
            .reset(plan.routes.get_or_init(routes));
        self.judge.started(&mut block.running, shared_bytes);
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
            self.found(found.or_else(|| block.remote_shared.too_late(&block.running.order)));
            self.spare.push(block);
            self.order.block_ended(number);
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

impl<J: Judge> Events for Watch<'_, J> {
    #[inline(always)]
    fn block(&mut self, counter: u32, mask: u32) {
        self.counters.block(counter, mask);
    }

    #[inline(always)]
    fn guarded(&mut self, instruction: u32, mask: u32, block_mask: u32) {
        self.counters.guarded(instruction, mask, block_mask);
    }

    fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        self.judge(instruction, access);
        self.counters.access(instruction, access);
    }

    fn request(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(tracer) = self.tracer() {
            tracer.access(instruction, access);
        }
        self.counters.access(instruction, access);
    }

    fn part(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.access(instruction, access);
        }
    }

    fn may_write(&mut self, access: &WarpAccess<'_>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.may_write(access);
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
        if let Some(tracer) = self.tracer() {
            tracer.arrived(arrival);
        }
        let lanes = arrival.lanes;
        if let Some(checks) = &mut self.checks {
            let n_threads = checks.launch.n_threads();
            let Some(block) = checks.block(lanes.block) else {
                return;
            };
            let found = block.meetings.arrived(arrival, n_threads);
            block.running.order.arrived(arrival);
            checks.published(lanes);
            checks.found(found);
        }
    }

    fn released(&mut self, block: u64, barrier: usize) {
        if let Some(tracer) = self.tracer() {
            tracer.released(block, barrier);
        }
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(block)
        {
            block.meetings.released(barrier);
            block.running.order.released(barrier);
        }
    }

    fn cluster_arrived(&mut self, lanes: Lanes, cluster: u64, releases: bool) {
        self.trace(lanes, TraceKind::ClusterArrived);
        if let Some(checks) = &mut self.checks
            && let Some(place) = checks.place(lanes.block)
        {
            checks.published(lanes);
            let order = &mut checks.blocks[place].running.order;
            checks
                .order
                .cluster_arrived(order, lanes, cluster, releases);
        }
    }

    fn cluster_opened(&mut self, cluster: u64) {
        if let Some(checks) = &mut self.checks {
            checks.order.cluster_opened(cluster);
        }
    }

    fn cluster_ended(&mut self, cluster: u64) {
        if let Some(checks) = &mut self.checks {
            checks.order.cluster_ended(cluster);
        }
    }

    fn cluster_left(&mut self, lanes: Lanes, cluster: u64) {
        self.trace(lanes, TraceKind::ClusterLeft);
        if let Some(checks) = &mut self.checks
            && let Some(place) = checks.place(lanes.block)
        {
            let order = &mut checks.blocks[place].running.order;
            checks.order.cluster_left(order, lanes, cluster);
        }
    }

    fn fence(&mut self, lanes: Lanes, scope: Scope) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.running.order.fence(lanes, scope);
            checks.published(lanes);
        }
    }

    fn barrier_initialised(&mut self, instruction: u32, lanes: Lanes, addresses: &[u64; 32]) {
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, _, _, _| {
                beside.initialised(instruction, lanes, addresses);
                None
            });
        }
    }

    fn converged(&mut self, lanes: Lanes, members: &[u32; 32]) {
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.running.order.converged(lanes, members);
        }
    }

    fn warp_wide(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        members: &[u32; 32],
        sources: Option<&[u8; 32]>,
    ) {
        if let Some(checks) = &mut self.checks {
            checks.found(warp_wide(instruction, lanes, members));
            if let Some(block) = checks.block(lanes.block) {
                block.running.order.shared(lanes, members);
                if let Some(sources) = sources {
                    block.undefined[lanes.warp as usize].shuffled(sources);
                }
            }
        }
    }

    fn carried_out(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        (frame, function, ptx): (FrameId, usize, u32),
        chosen: Option<u32>,
    ) {
        if let Some(checks) = &mut self.checks {
            let body = checks.launch.module.functions[function].body.as_ref();
            let carried_out = body.and_then(|body| body.get(ptx as usize));
            let block = checks.block(lanes.block);
            if let (Some(carried_out), Some(block)) = (carried_out, block) {
                let undefined = &mut block.undefined[lanes.warp as usize];
                let found = undefined.carried_out(instruction, lanes, (frame, carried_out), chosen);
                let is_empty = undefined.is_empty();
                checks.follows |= !is_empty;
                checks.found(found);
            }
        }
    }

    fn follows(&self) -> bool {
        self.checks.as_ref().is_some_and(|checks| checks.follows)
    }

    fn divided_by_zero(&mut self, instruction: u32, lanes: Lanes) {
        if let Some(checks) = &mut self.checks {
            let lane = lanes.mask.trailing_zeros();
            let this = thread_at(instruction, lanes, lane);
            checks.found(Some(Finding::DivisionByZero { this }));
        }
    }

    fn copies_committed(&mut self, lanes: Lanes) {
        self.trace(lanes, TraceKind::CopiesCommitted);
        if let Some(checks) = &mut self.checks
            && let Some(block) = checks.block(lanes.block)
        {
            block.running.copies.committed(lanes);
        }
    }

    fn copies_awaited(&mut self, lanes: Lanes, n_left: Option<u32>) {
        self.trace(lanes, TraceKind::CopiesAwaited { n_left });
        if let Some(checks) = &mut self.checks {
            checks.awaited(lanes, n_left);
        }
    }

    fn bulk_started(&mut self, instruction: u32, thread: Lanes, start: BulkStart) {
        self.counters.bulk(instruction, &start);
        if let Some(recorder) = &mut self.recorder {
            recorder.bulk_started(&start);
            if let Some(tracer) = recorder.tracer() {
                tracer.bulk_started(instruction, thread, &start);
            }
        }
        if let Some(checks) = &mut self.checks {
            checks.bulk_started(instruction, thread, start);
        }
    }

    fn bulk_arrived(&mut self, copy: CopyId) {
        if let Some(tracer) = self.tracer() {
            tracer.bulk_arrived(copy);
        }
        if let Some(checks) = &mut self.checks
            && let Some(copy) = checks.copies.iter_mut().find(|known| known.id == copy)
        {
            copy.has_arrived = true;
        }
    }

    fn phase_over(&mut self, block: u64, barrier: u32) {
        if let Some(tracer) = self.tracer() {
            tracer.phase_over(block, barrier);
        }
        if let Some(checks) = &mut self.checks {
            checks.phase_over(block, barrier);
        }
    }

    fn bulk_has_read(&mut self, thread: Lanes, copy: CopyId) {
        if let Some(tracer) = self.tracer() {
            tracer.bulk_done(thread, copy);
        }
        if let Some(checks) = &mut self.checks {
            checks.bulk_waited(thread, copy, false);
        }
    }

    fn bulk_done(&mut self, thread: Lanes, copy: CopyId) {
        if let Some(tracer) = self.tracer() {
            tracer.bulk_done(thread, copy);
        }
        if let Some(checks) = &mut self.checks {
            checks.bulk_waited(thread, copy, true);
        }
    }

    fn bulk_abandoned(&mut self, copy: CopyId) {
        if let Some(checks) = &mut self.checks {
            checks.bulk_abandoned(copy);
        }
    }

    fn proxy_fence(&mut self, lanes: Lanes) {
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, running, _, _| {
                beside.proxies.fenced(&running.order, lanes);
                beside.published(lanes);
                None
            });
        }
    }

    fn product_issued(&mut self, instruction: u32, lanes: Lanes, product: &ProductSeen<'_>) {
        if let Some(tracer) = self.tracer() {
            tracer.warp(lanes, Some(instruction), TraceKind::ProductIssued);
        }
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, running, judge, grid| {
                let mut found = None;
                reads(lanes, product.addresses, |access| {
                    let race = judge.access(grid, running, instruction, access);
                    found = found.or(race);
                });
                let wrong = beside.issued(&running.order, (instruction, lanes), product);
                found.or(wrong)
            });
        }
    }

    fn products_committed(&mut self, lanes: Lanes) {
        self.trace(lanes, TraceKind::ProductsCommitted);
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, _, _, _| {
                beside.fragments(lanes).committed();
                None
            });
        }
    }

    fn products_awaited(&mut self, lanes: Lanes, n_left: u32) {
        self.trace(lanes, TraceKind::ProductsAwaited { n_left });
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, running, _, _| {
                beside.awaited(&running.order, lanes, n_left);
                None
            });
        }
    }

    fn products_fenced(&mut self, lanes: Lanes) {
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, _, _, _| {
                beside.fragments(lanes).fenced();
                None
            });
        }
    }

    fn fragments_touched(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        frame: FrameId,
        registers: (&[Slot], &[Slot]),
    ) {
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, _, _, _| {
                let fragments = beside.fragments(lanes);
                fragments.touched(instruction, lanes, frame, registers)
            });
        }
    }

    fn fragment_carried(
        &mut self,
        instruction: u32,
        lanes: Lanes,
        frame: FrameId,
        registers: (Slot, Slot),
    ) {
        if let Some(checks) = &mut self.checks {
            checks.beside(lanes, |beside, _, _, _| {
                let fragments = beside.fragments(lanes);
                fragments.carried(instruction, lanes, frame, registers)
            });
        }
    }

    fn registers_unknown(&mut self, instruction: u32, lanes: Lanes) {
        if let Some(checks) = &mut self.checks {
            let this = thread_at(instruction, lanes, 0);
            checks.found(Some(Finding::UnknownRegisters { this }));
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

impl<J: Judge> Observer for Watch<'_, J> {
    #[inline(always)]
    fn row(&mut self, instruction: u32, row: Row, whole: impl FnOnce() -> RowAccess) {
        let is_counted = self.counters.row(instruction, row);
        if is_counted && self.recorder.is_none() && self.checks.is_none() {
            return;
        }
        let access = whole();
        let checks = self.checks.as_mut().filter(|_| self.recorder.is_none());
        let is_judged = checks.is_some_and(|checks| checks.row(instruction, &access));
        if is_counted && is_judged {
            return;
        }
        access.with_addresses(|access| {
            if !is_judged {
                self.judge(instruction, access);
            }
            if !is_counted {
                self.counters.access(instruction, access);
            }
        });
    }
}

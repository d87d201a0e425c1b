//! The recorder of one block's events, which [`trace`](crate::trace) describes.

use std::collections::HashMap;

use super::access::{BarrierArrival, BulkStart, Lanes, WarpAccess};
use crate::bulk::CopyId;
use crate::context::{LaunchContext, source_of, sources_around};
use crate::trace::{Trace, TraceEvent, TraceKind, TraceOptions, TracedAccess, TracedInstruction};
use ptx::ir::Space;

/// Keeps the events of one block.
pub(crate) struct Tracer {
    options: TraceOptions,
    events: Vec<TraceEvent>,
    is_cut: bool,
    n_omitted: u64,
    /// Instructions that events name, by their number in the launch.
    places: HashMap<u32, u32>,
    numbers: Vec<u32>,
    /// Accesses kept of each instruction of each warp.
    kept: HashMap<(u32, u32), u32>,
    /// By warp, its last event.
    last: HashMap<u32, usize>,
    /// Copies that were started, by the numbers that they have here.
    copies: HashMap<CopyId, u64>,
}

impl Tracer {
    pub fn new(options: TraceOptions) -> Self {
        Self {
            options,
            events: Vec::new(),
            is_cut: false,
            n_omitted: 0,
            places: HashMap::new(),
            numbers: Vec::new(),
            kept: HashMap::new(),
            last: HashMap::new(),
            copies: HashMap::new(),
        }
    }

    fn is_wanted(&self, block: u64) -> bool {
        block == self.options.block
    }

    fn add(&mut self, lanes: Lanes, instruction: Option<u32>, kind: TraceKind) {
        if !self.is_wanted(lanes.block) {
            return;
        }
        let instruction = instruction.map(|number| self.place_of(number));
        let event = TraceEvent {
            warp: lanes.warp,
            lanes: lanes.mask,
            instruction,
            kind,
            times: 1,
        };
        self.push(event);
    }

    /// Something that happens to the block.
    fn add_of_block(&mut self, block: u64, kind: TraceKind) {
        let (warp, mask) = (0, 0);
        self.add(Lanes { block, warp, mask }, None, kind);
    }

    fn push(&mut self, event: TraceEvent) {
        if event.lanes != 0
            && let Some(last) = self.last.get(&event.warp)
            && let Some(last) = self.events.get_mut(*last)
            && (last.instruction, last.lanes) == (event.instruction, event.lanes)
            && last.kind == event.kind
        {
            last.times += 1;
            return;
        }
        if self.events.len() >= self.options.events {
            self.is_cut = true;
            return;
        }
        if event.lanes != 0 {
            self.last.insert(event.warp, self.events.len());
        }
        self.events.push(event);
    }

    /// Where an instruction is among those that events name.
    fn place_of(&mut self, number: u32) -> u32 {
        let next = self.numbers.len() as u32;
        let place = *self.places.entry(number).or_insert(next);
        if place == next {
            self.numbers.push(number);
        }
        place
    }

    pub fn access(&mut self, instruction: u32, access: &WarpAccess<'_>) {
        if !self.is_wanted(access.block) {
            return;
        }
        let mask = access.fetching();
        let is_active = |lane: usize| mask >> lane & 1 != 0;
        let kind = TraceKind::Access(Box::new(TracedAccess {
            class: access.class,
            space: access.space,
            bytes: access.bytes,
            mask,
            addresses: std::array::from_fn(|lane| match is_active(lane) {
                true => access.addresses[lane],
                false => 0,
            }),
            is_of_other_block: access.space == Space::Shared && access.owner != access.block,
        }));
        let kept = self.kept.entry((instruction, access.warp)).or_default();
        if *kept >= self.options.accesses {
            self.n_omitted += 1;
            return;
        }
        *kept += 1;
        let lanes = Lanes {
            block: access.block,
            warp: access.warp,
            mask: access.mask,
        };
        self.add(lanes, Some(instruction), kind);
    }

    pub fn arrived(&mut self, arrival: &BarrierArrival) {
        let kind = TraceKind::Arrived {
            barrier: arrival.barrier as u32,
            waits: arrival.waits,
        };
        self.add(arrival.lanes, Some(arrival.instruction), kind);
    }

    pub fn released(&mut self, block: u64, barrier: usize) {
        let barrier = barrier as u32;
        self.add_of_block(block, TraceKind::Released { barrier });
    }

    pub fn bulk_started(&mut self, instruction: u32, thread: Lanes, start: &BulkStart) {
        if !self.is_wanted(thread.block) {
            return;
        }
        let next = self.copies.len() as u64;
        let copy = *self.copies.entry(start.id).or_insert(next);
        let written = start
            .writes
            .ranges
            .iter()
            .map(|range| range.end - range.start);
        let kind = TraceKind::BulkStarted {
            copy,
            bytes: written.sum(),
            to_shared: start.writes.space == Space::Shared,
            target: start.writes.ranges.to_vec(),
            barrier: start.barrier,
        };
        self.add(thread, Some(instruction), kind);
    }

    pub fn bulk_arrived(&mut self, id: CopyId) {
        if let Some(&copy) = self.copies.get(&id) {
            self.add_of_block(self.options.block, TraceKind::BulkArrived { copy });
        }
    }

    pub fn bulk_done(&mut self, thread: Lanes, id: CopyId) {
        if let Some(&copy) = self.copies.get(&id) {
            self.add(thread, None, TraceKind::BulkDone { copy });
        }
    }

    pub fn phase_over(&mut self, block: u64, barrier: u32) {
        self.add_of_block(block, TraceKind::PhaseOver { barrier });
    }

    /// An event of a warp without data beyond its kind.
    pub fn warp(&mut self, lanes: Lanes, instruction: Option<u32>, kind: TraceKind) {
        self.add(lanes, instruction, kind);
    }

    /// Whether the block was seen.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The trace, with the names of its instructions.
    pub fn finish(self, launch: &LaunchContext<'_>) -> Trace {
        let named = self.numbers.iter().map(|&number| named(launch, number));
        Trace {
            block: self.options.block,
            instructions: named.collect(),
            events: self.events,
            is_cut: self.is_cut,
            n_omitted: self.n_omitted,
        }
    }
}

/// An instruction's names by its number in the launch.
fn named(launch: &LaunchContext<'_>, number: u32) -> TracedInstruction {
    let module = launch.module;
    let (function, place) = launch
        .plan
        .numbering
        .instruction(number)
        .expect("observers are notified of numbered instructions");
    let function = &module.functions[function];
    let body = function.body.as_ref().expect("it was run");
    let instruction = &body[place as usize];
    TracedInstruction {
        function: function.name.clone(),
        ptx_line: instruction.line,
        opcode: instruction.opcode.clone(),
        loc: source_of(module, instruction.loc),
        inlined_at: sources_around(module, instruction.loc),
    }
}

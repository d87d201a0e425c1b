//! The accesses of a trace, instruction by instruction.

use ptx_sim::ir::Space;
use ptx_sim::trace::{Trace, TraceKind, TracedInstruction};

use crate::{Access, BankMap, SectorMap};

/// The accesses of a block's warps by one instruction.
#[derive(Clone, Debug)]
pub struct InstructionAccesses<'a> {
    /// The instruction.
    pub instruction: &'a TracedInstruction,
    /// Number of traced accesses.
    pub n_accesses: u32,
    /// The first of the most wasteful ones, or without waste, of the most costly ones.
    pub worst: &'a Access,
    /// The warp that made it.
    pub warp: u32,
}

/// The map of an access: of banks or of sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessMap {
    /// In shared memory.
    Banks(BankMap),
    /// In global or local memory.
    Sectors(SectorMap),
}

impl AccessMap {
    /// The map of an access.
    pub fn of(access: &Access) -> Self {
        match access.space {
            Space::Shared => Self::Banks(BankMap::of(access)),
            _ => Self::Sectors(SectorMap::of(access)),
        }
    }

    /// What it shows, in a sentence.
    pub fn summary(&self) -> String {
        match self {
            Self::Banks(map) => map.summary(),
            Self::Sectors(map) => map.summary(),
        }
    }

    /// The cost, in words.
    pub fn cost(&self) -> String {
        match self {
            Self::Banks(map) => map.cost_in_words(),
            Self::Sectors(map) => map.cost_in_words(),
        }
    }

    /// The map in lines of this many columns.
    pub fn text(&self, columns: usize) -> String {
        match self {
            Self::Banks(map) => map.text(columns),
            Self::Sectors(map) => map.text(),
        }
    }

    /// The picture.
    pub fn svg(&self) -> String {
        match self {
            Self::Banks(map) => map.svg(),
            Self::Sectors(map) => map.svg(),
        }
    }
}

/// Wavefronts or sectors of an access beyond what its bytes need.
pub fn waste(access: &Access) -> u32 {
    let shared = access.shared_cost();
    let global = access.global_cost();
    (shared.wavefronts.saturating_sub(shared.ideal_wavefronts))
        + global.sectors.saturating_sub(global.ideal_sectors)
}

/// The waste, then the total cost.
fn cost(access: &Access) -> (u32, u32) {
    let work = access.shared_cost().wavefronts + access.global_cost().sectors;
    (waste(access), work)
}

/// The instructions that accessed memory, in the PTX's order. Those on barriers in memory are
/// left out, since they are for waiting.
pub fn by_instruction(trace: &Trace) -> Vec<InstructionAccesses<'_>> {
    let mut all: Vec<Option<InstructionAccesses<'_>>> = vec![None; trace.instructions.len()];
    for event in &trace.events {
        let (TraceKind::Access(access), Some(at)) = (&event.kind, event.instruction) else {
            continue;
        };
        let instruction = &trace.instructions[at as usize];
        if instruction.opcode.starts_with("mbarrier.") || access.mask == 0 {
            continue;
        }
        let known = all[at as usize].get_or_insert(InstructionAccesses {
            instruction,
            n_accesses: 0,
            worst: access,
            warp: event.warp,
        });
        known.n_accesses += event.times;
        if cost(access) > cost(known.worst) {
            known.worst = access;
            known.warp = event.warp;
        }
    }
    let mut all: Vec<_> = all.into_iter().flatten().collect();
    all.sort_by_key(|one| one.instruction.ptx_line);
    all
}

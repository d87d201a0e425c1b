//! A launch's blocks, warps and lanes at a moment: where they are, and what they wait for.

use std::collections::BTreeSet;

use super::here::{Here, Position};
use crate::block::BlockRun;
use crate::bulk::{Source, Span};
use crate::context::LaunchContext;
use crate::program::BarrierWord;
use crate::warp::{self, FrameId, Path, Warp};

use super::values::shared_bytes;

/// A launch's blocks at a moment: those that have begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct State {
    /// By the order in which they began.
    pub blocks: Vec<BlockState>,
}

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockState {
    /// Its number in the grid.
    pub number: u64,
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// Its warps.
    pub warps: Vec<WarpState>,
    /// A sentence for each barrier that threads wait at.
    pub barriers: Vec<String>,
    /// Barriers in its shared memory.
    pub in_memory: Vec<BarrierInMemory>,
    /// Copies that have not arrived.
    pub copies: Vec<CopyInFlight>,
}

/// A warp.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WarpState {
    /// Its number in the block.
    pub index: u32,
    /// Lanes that have not ended.
    pub live: u32,
    /// Its lanes, as far as they are together.
    pub paths: Vec<PathState>,
    /// Whether sums of its products are in flight.
    pub has_products: bool,
}

/// Lanes that are at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathState {
    /// The lanes.
    pub lanes: u32,
    /// What they wait for, if they do.
    pub waits: Option<Waits>,
    /// Their calls, the innermost first.
    pub frames: Vec<Frame>,
}

/// A call, at an instruction: in all but the innermost, the call of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// By which [`Session::register`](super::Session::register) knows it.
    pub id: u32,
    /// Where it is.
    pub position: Position,
    /// Where its local memory begins.
    pub local_base: u32,
}

/// What lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// For others of the block, at a barrier.
    Barrier,
    /// For the other blocks of the cluster.
    Cluster,
    /// For other warps of the warpgroup, or for registers.
    Warpgroup,
    /// For these lanes of the warp, at a warp-wide instruction.
    Lanes(u32),
    /// For these lanes of the warp, where they meet again after they went different ways.
    Join(u32),
}

/// A barrier in shared memory (`mbarrier`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BarrierInMemory {
    /// Its address.
    pub address: u64,
    /// Arrivals that are still to come, of those that a phase needs.
    pub to_come: u32,
    /// Arrivals of a phase.
    pub of_phase: u32,
    /// Bytes of copies that are still to come.
    pub bytes: i64,
    /// The parity of the phase.
    pub parity: bool,
}

/// A copy that has not arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyInFlight {
    /// The warp that started it, where that is known, and the lanes.
    pub warp: Option<(u32, u32)>,
    /// Whether it writes the block's shared memory, and not global memory.
    pub to_shared: bool,
    /// Where in shared memory it writes or reads: of each lane or once.
    pub shared: Vec<(u64, u32)>,
    /// Where global memory begins that it reads or writes, where that is one range.
    pub global: Option<u64>,
    /// The barrier in memory that counts it.
    pub barrier: Option<u64>,
}

/// A variable in shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedVariable {
    /// Its name in the PTX text.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// Size in bytes; of dynamic memory, what the launch gives.
    pub size_bytes: u64,
}

/// Shared memory of a launch, by variable.
pub(crate) fn shared_variables(launch: &LaunchContext<'_>) -> Vec<SharedVariable> {
    let placed = launch.plan.shared.placed.iter();
    let variables = placed.map(|&(id, offset)| {
        let variable = &launch.module.variables[id.0 as usize];
        SharedVariable {
            name: variable.name.clone(),
            address: u64::from(offset),
            size_bytes: match variable.is_open() {
                true => u64::from(launch.dynamic_shared_bytes),
                false => variable.size_bytes,
            },
        }
    });
    variables.collect()
}

/// A block at a moment.
pub(crate) fn of_block(
    launch: &LaunchContext<'_>,
    block: &BlockRun,
    here: Option<Here>,
    barriers: &BTreeSet<(u64, u64)>,
) -> BlockState {
    let here = here.filter(|here| here.block == block.number);
    let of_warp = |warp: &Warp| {
        let here = here.filter(|here| here.warp == warp.index);
        warp_state(launch, warp, here)
    };
    BlockState {
        number: block.number,
        ctaid: block.ctaid,
        warps: block.warps().iter().map(of_warp).collect(),
        barriers: block.barriers_waiting(),
        in_memory: in_memory(block, barriers),
        copies: copies(block),
    }
}

fn warp_state(launch: &LaunchContext<'_>, warp: &Warp, here: Option<Here>) -> WarpState {
    let mut paths = Vec::new();
    // The first to run comes first.
    for path in warp.paths.iter().rev() {
        let at = here.filter(|here| here.lanes == path.mask && here.frame == path.frame);
        let instruction = at.map_or_else(|| reached(launch, warp, path), |here| here.ptx);
        paths.push(PathState {
            lanes: path.mask,
            waits: waits(path.state),
            frames: frames(launch, warp, path.frame, instruction),
        });
    }
    for join in warp.joins.iter().filter(|join| join.arrived != 0) {
        let function = launch.function(warp.frames[join.frame as usize].function);
        let instruction = function.blocks[join.block as usize].ptx_first;
        paths.push(PathState {
            lanes: join.arrived,
            waits: Some(Waits::Join(join.expected & !join.arrived)),
            frames: frames(launch, warp, join.frame, instruction),
        });
    }
    WarpState {
        index: warp.index,
        live: warp.live,
        paths,
        has_products: !warp.in_flight.is_empty(),
    }
}

/// The instruction that a path waits at or goes on with.
fn reached(launch: &LaunchContext<'_>, warp: &Warp, path: &Path) -> u32 {
    let function = warp.frames[path.frame as usize].function;
    let blocks = &launch.function(function).blocks;
    let block = &blocks[path.block as usize];
    match path.state {
        warp::PathState::AtBarrier | warp::PathState::AtCluster => {
            launch.waiting_at(function, path.block, path.at.min(block.end - block.first))
        }
        _ => {
            let code = &launch.function(function).code;
            let code = &code[block.first as usize..block.end as usize];
            let next = code.get(path.at as usize);
            match next {
                Some(next) => next.ptx,
                None if path.at == 0 => block.ptx_first,
                None => block.last(),
            }
        }
    }
}

fn waits(state: warp::PathState) -> Option<Waits> {
    match state {
        warp::PathState::Ready => None,
        warp::PathState::AtBarrier => Some(Waits::Barrier),
        warp::PathState::AtCluster => Some(Waits::Cluster),
        warp::PathState::AtWarpgroup => Some(Waits::Warpgroup),
        warp::PathState::AtCollective { members } => Some(Waits::Lanes(members)),
    }
}

fn frames(
    launch: &LaunchContext<'_>,
    warp: &Warp,
    innermost: FrameId,
    instruction: u32,
) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut next = Some((innermost, instruction));
    while let Some((id, instruction)) = next {
        let frame = &warp.frames[id as usize];
        frames.push(Frame {
            id,
            position: Position {
                function: frame.function,
                instruction,
            },
            local_base: frame.local_base,
        });
        next = frame.caller.map(|(caller, block)| {
            let function = launch.function(warp.frames[caller as usize].function);
            (caller, function.blocks[block as usize].last())
        });
    }
    frames
}

/// The barriers in memory that have been initialised, as far as there still are such words.
fn in_memory(block: &BlockRun, barriers: &BTreeSet<(u64, u64)>) -> Vec<BarrierInMemory> {
    let own = barriers.range((block.number, 0)..=(block.number, u64::MAX));
    let known = own.filter_map(|&(_, address)| {
        let bytes = shared_bytes(block.shared(), address, 8)?;
        let word = u64::from_le_bytes(bytes.try_into().ok()?);
        if !BarrierWord::may_be(word) {
            return None;
        }
        let word = BarrierWord::unpack(word);
        Some(BarrierInMemory {
            address,
            to_come: word.to_come as u32,
            of_phase: word.of_phase as u32,
            bytes: word.tx,
            parity: word.phase != 0,
        })
    });
    known.collect()
}

fn copies(block: &BlockRun) -> Vec<CopyInFlight> {
    let mut all = Vec::new();
    for warp in block.warps() {
        for copy in warp.copies.in_flight() {
            let lanes = crate::lanes::lanes(copy.mask);
            all.push(CopyInFlight {
                warp: Some((warp.index, copy.mask)),
                to_shared: true,
                shared: lanes
                    .map(|lane| (u64::from(copy.to[lane]), copy.n_bytes))
                    .collect(),
                global: None,
                barrier: None,
            });
        }
    }
    let global = |span: &Span| match span {
        Span::Range { address, .. } => Some(*address),
        Span::Tile(_) => None,
    };
    block.bulk().each_incoming(|copy| {
        all.push(CopyInFlight {
            warp: None,
            to_shared: true,
            shared: vec![(u64::from(copy.to), copy.bytes)],
            global: match &copy.source {
                Source::Global(span) => global(span),
                Source::Bytes(_) => None,
            },
            barrier: Some(u64::from(copy.barrier)),
        });
    });
    block.bulk().each_outgoing(|copy| {
        let bytes = match &copy.target {
            Span::Range { bytes, .. } => *bytes,
            Span::Tile(tile) => tile.bytes() as u32,
        };
        let (warp, lane) = copy.thread();
        all.push(CopyInFlight {
            warp: Some((warp, 1 << lane)),
            to_shared: false,
            shared: vec![(u64::from(copy.from), bytes)],
            global: global(&copy.target),
            barrier: None,
        });
    });
    all
}

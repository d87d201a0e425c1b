//! A block's run as a film: a frame for each event of its trace.
//!
//! A frame says who did what, and by which instruction; of an access also where each lane went,
//! the wavefront that served it, and the cost. The [`Board`] of a frame is what is under way after
//! it: warps that wait, copies and products in flight. What many frames have in common is kept
//! once, and frames name it by number, so that a film is small enough for a page.
//!
//! Left out: values, and instructions that neither access memory nor wait, which a trace does
//! not have; time, as in the [timeline](crate::timeline); source text, which the page adds.

mod board;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use ptx_sim::AccessClass;
use ptx_sim::ir::Space;
use ptx_sim::trace::{Trace, TraceEvent, TraceKind, TracedInstruction};
use serde::Serialize;

use crate::{Access, BankMap, instructions, lanes};

pub use board::{Board, InFlight};

/// A film.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Film {
    /// The block's number in the grid.
    pub block: u64,
    /// The warps that occur in frames.
    pub warps: Vec<u32>,
    /// In the simulator's order.
    pub frames: Vec<Frame>,
    /// How many events of the trace have no frame: those after the last one.
    pub n_cut: usize,
    /// Whether the trace itself was cut, so that there is more beyond.
    pub is_trace_cut: bool,
    /// Accesses between the frames that the trace does not have.
    pub n_omitted: u64,
    /// Instructions that frames name.
    pub instructions: Vec<Instruction>,
    /// What happens in frames, in words.
    pub texts: Vec<String>,
    /// What is under way after frames.
    pub boards: Vec<Board>,
    /// Where lanes access, as the distance from the lowest active lane's address, by active lane.
    pub patterns: Vec<Vec<i64>>,
    /// How the banks serve lanes.
    pub served: Vec<Served>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Instruction {
    /// The opcode as written.
    pub opcode: String,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The kind, for its colour.
    pub kind: Kind,
    /// The warp; `None` for what happens to the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<u32>,
    /// The lanes; those of an asynchronous copy that only fills with zeros are left out.
    #[serde(skip_serializing_if = "is_usual")]
    pub lanes: u32,
    /// The instruction, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<u32>,
    /// What happens, in [`Film::texts`].
    pub text: u32,
    /// What is under way afterwards, in [`Film::boards`].
    pub board: u32,
    /// How often it was repeated.
    #[serde(skip_serializing_if = "is_one")]
    pub times: u32,
    /// Memory that lanes access; nothing for barriers in memory, which are for waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touch: Option<Touch>,
    /// The bulk copy that starts or arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy: Option<u64>,
    /// The bytes of shared memory that it will write: their first one, and the one after the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub target: Vec<(u64, u64)>,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An access to global, constant or parameter memory.
    Global,
    /// To shared memory.
    Shared,
    /// To local memory.
    Local,
    /// A barrier in memory is worked on, or its phase ends.
    Mbarrier,
    /// A barrier of the block or the cluster.
    Barrier,
    /// Asynchronous and bulk copies.
    Copy,
    /// Products of a warpgroup.
    Product,
}

/// An access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Touch {
    /// Whether it writes.
    #[serde(skip_serializing_if = "is_usual")]
    pub writes: bool,
    /// Bytes per lane.
    pub bytes: u32,
    /// The address of the lowest active lane.
    pub first: u64,
    /// Where the lanes are from there, in [`Film::patterns`].
    pub pattern: u32,
    /// How the banks serve it, in [`Film::served`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub served: Option<u32>,
    /// Bank conflicts.
    #[serde(skip_serializing_if = "is_usual")]
    pub conflicts: u32,
    /// Wavefronts in shared memory.
    #[serde(skip_serializing_if = "is_usual")]
    pub wavefronts: u32,
    /// Sectors of global or local memory.
    #[serde(skip_serializing_if = "is_usual")]
    pub sectors: u32,
    /// Wavefronts and sectors beyond what its bytes need.
    #[serde(skip_serializing_if = "is_usual")]
    pub waste: u32,
}

/// How the banks of shared memory serve an access.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Served {
    /// The wavefront that serves each active lane, counted through all phases.
    pub wavefronts: Vec<u32>,
    /// Wavefronts of each phase.
    pub phases: Vec<u32>,
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(number: &u32) -> bool {
    *number == 1
}

impl Film {
    /// The film of a trace, of at most `most` frames: the first ones.
    pub fn of(trace: &Trace, most: usize) -> Self {
        let mut cutter = Cutter::default();
        let shown = trace.events.iter().take(most);
        let frames: Vec<Frame> = shown.map(|event| cutter.frame(trace, event)).collect();
        let warps: BTreeSet<u32> = frames.iter().filter_map(|frame| frame.warp).collect();
        Self {
            block: trace.block,
            warps: warps.into_iter().collect(),
            n_cut: trace.events.len() - frames.len(),
            is_trace_cut: trace.is_cut,
            n_omitted: trace.n_omitted,
            frames,
            instructions: trace.instructions.iter().map(Instruction::of).collect(),
            texts: cutter.texts.all,
            boards: cutter.boards.all,
            patterns: cutter.patterns.all,
            served: cutter.served.all,
        }
    }

    /// What happens in a frame: `Warp 2: lanes 0–15 wait at barrier 0.`
    pub fn sentence(&self, frame: &Frame) -> String {
        let text = &self.texts[frame.text as usize];
        let warp = frame.warp.map(|warp| format!("Warp {warp}: "));
        let times = match frame.times {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        format!("{}{text}{times}.", warp.unwrap_or_default())
    }

    /// How much of the run it shows, in a sentence.
    pub fn extent(&self) -> String {
        let (n, block) = (self.frames.len(), self.block);
        let omitted = match self.n_omitted {
            0 => String::new(),
            n => format!(", without {n} repeated accesses"),
        };
        let all = n + self.n_cut;
        match (self.n_cut, self.is_trace_cut) {
            (0, false) => format!("All {n} events of block {block}{omitted}"),
            (0, true) => format!("The first {n} events of block {block}{omitted}"),
            (_, false) => format!("The first {n} of {all} events of block {block}{omitted}"),
            (_, true) => {
                format!("The first {n} of more than {all} events of block {block}{omitted}")
            }
        }
    }

    /// The first frame of each kind, with how many frames are of it: the same lanes do the same at
    /// the same place, which `place_of` names by an instruction's number.
    pub fn main_frames<P: Eq + Hash>(&self, place_of: impl Fn(u32) -> P) -> Vec<(usize, usize)> {
        let mut main: Vec<(usize, usize)> = Vec::new();
        let mut known = HashMap::new();
        for (at, frame) in self.frames.iter().enumerate() {
            let waste = frame.touch.as_ref().is_some_and(|touch| touch.waste > 0);
            let what = match frame.instruction {
                Some(at) => &*self.instructions[at as usize].opcode,
                // Without an instruction, the first word tells what it is.
                None => self.texts[frame.text as usize]
                    .split(' ')
                    .next()
                    .unwrap_or_default(),
            };
            let key = (frame.instruction.map(&place_of), what, frame.lanes, waste);
            let place = *known.entry(key).or_insert(main.len());
            match main.get_mut(place) {
                Some((_, n)) => *n += 1,
                None => main.push((at, 1)),
            }
        }
        main
    }
}

impl Instruction {
    fn of(traced: &TracedInstruction) -> Self {
        Self {
            opcode: traced.opcode.clone(),
            ptx_line: traced.ptx_line,
        }
    }
}

/// What frames have in common, while they are made.
#[derive(Default)]
struct Cutter {
    board: Board,
    texts: Table<String>,
    boards: Table<Board>,
    patterns: Table<Vec<i64>>,
    served: Table<Served>,
}

impl Cutter {
    fn frame(&mut self, trace: &Trace, event: &TraceEvent) -> Frame {
        let before = self.board.clone();
        self.board.follow(event);
        let instruction = event.instruction.and_then(|at| {
            let instruction = trace.instructions.get(at as usize)?;
            Some(&*instruction.opcode)
        });
        let opcode = instruction.unwrap_or_default();
        let text = words::of(event, opcode, &before, &self.board);
        let kind = Kind::of(event, opcode);
        let touched = match &event.kind {
            _ if kind == Kind::Mbarrier => None,
            TraceKind::Access(access) if access.mask != 0 => Some(access),
            _ => None,
        };
        let (copy, target) = match &event.kind {
            TraceKind::BulkStarted {
                copy,
                target,
                to_shared,
                ..
            } => {
                let shared = target.iter().filter(|_| *to_shared);
                let shared = shared.map(|range| (range.start, range.end));
                (Some(*copy), shared.collect())
            }
            TraceKind::BulkArrived { copy } | TraceKind::BulkDone { copy } => {
                (Some(*copy), Vec::new())
            }
            _ => (None, Vec::new()),
        };
        Frame {
            kind,
            warp: (event.lanes != 0).then_some(event.warp),
            lanes: touched.map_or(event.lanes, |access| access.mask),
            instruction: event.instruction,
            text: self.texts.number(text),
            board: self.boards.number(self.board.clone()),
            times: event.times,
            touch: touched.map(|access| self.touch(access)),
            copy,
            target,
        }
    }

    fn touch(&mut self, access: &Access) -> Touch {
        let first = access.addresses[access.mask.trailing_zeros() as usize];
        let distance = |lane: usize| access.addresses[lane].wrapping_sub(first) as i64;
        let cost = access.shared_cost();
        let map = BankMap::of(access);
        Touch {
            writes: writes(access.class),
            bytes: access.bytes,
            first,
            pattern: self
                .patterns
                .number(lanes(access.mask).map(distance).collect()),
            served: (!map.phases.is_empty()).then(|| self.served.number(served(access, &map))),
            conflicts: cost.conflicts,
            wavefronts: cost.wavefronts,
            sectors: access.global_cost().sectors,
            waste: instructions::waste(access),
        }
    }
}

impl Kind {
    fn of(event: &TraceEvent, opcode: &str) -> Self {
        match &event.kind {
            TraceKind::Access(_) if opcode.starts_with("mbarrier.") => Self::Mbarrier,
            TraceKind::Access(access) => match (access.class, access.space) {
                (AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass, _) => Self::Copy,
                (_, Space::Shared) => Self::Shared,
                (_, Space::Local) => Self::Local,
                _ => Self::Global,
            },
            TraceKind::PhaseOver { .. } => Self::Mbarrier,
            TraceKind::Arrived { .. }
            | TraceKind::Released { .. }
            | TraceKind::ClusterArrived
            | TraceKind::ClusterLeft => Self::Barrier,
            TraceKind::ProductIssued
            | TraceKind::ProductsCommitted
            | TraceKind::ProductsAwaited { .. } => Self::Product,
            _ => Self::Copy,
        }
    }
}

fn writes(class: AccessClass) -> bool {
    !matches!(
        class,
        AccessClass::Load | AccessClass::LoadMatrix | AccessClass::Product
    )
}

/// The wavefront of each active lane. The phases are those of the map.
fn served(access: &Access, map: &BankMap) -> Served {
    let mut by_lane = [0; crate::LANES];
    let mut before = 0;
    for phase in &map.phases {
        for cell in &phase.cells {
            for &lane in &cell.lanes {
                by_lane[usize::from(lane)] = before + cell.wavefront;
            }
        }
        before += phase.wavefronts;
    }
    Served {
        wavefronts: lanes(access.mask).map(|lane| by_lane[lane]).collect(),
        phases: map.phases.iter().map(|phase| phase.wavefronts).collect(),
    }
}

/// Things without duplicates, by number.
struct Table<T> {
    all: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            numbers: HashMap::new(),
        }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn number(&mut self, thing: T) -> u32 {
        let next = self.all.len() as u32;
        let number = *self.numbers.entry(thing.clone()).or_insert(next);
        if number == next {
            self.all.push(thing);
        }
        number
    }
}

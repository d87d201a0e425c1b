//! The memory accesses of a kernel: banks, sectors, and the waits of its warps.
//!
//! A kernel's lesson is run on the simulator at a small size, and one block of its first launch
//! is traced. The maps come from the crate `maps`; here they are joined with source lines.
//!
//! In reading order: this file, a kernel; [`text`], its display; [`player`], its run, frame by
//! frame; [`tile`], a tile and accesses
//! to it without a kernel; [`pictures`], those of docs/tools.md.
//!
//! Left out: counts of whole launches, which belong to the [`profile`](crate::profile).

pub mod pictures;
pub mod player;
pub mod text;
pub mod tile;

use crate::profile::run_case;
use lesson::{CaseError, Effort, Registered, Shape};
use lockstep::engine::sim::{Sim, Traced};
use lockstep::engine::{EngineKind, LaunchConfig, PtxModule};
use lockstep::source::{Place, places_of};
use maps::{Access, AccessMap, Timeline};
use ptx_sim::TraceOptions;

/// What one block of a kernel does to memory.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The kernel's entry.
    pub kernel: &'static str,
    /// What its lesson says about it.
    pub technique: &'static str,
    /// The file of its lesson, relative to the repository.
    pub source: &'static str,
    /// The shape's name.
    pub shape: String,
    /// Geometry of the launch.
    pub config: LaunchConfig,
    /// The block, by its number in the grid.
    pub block: u64,
    /// Its memory instructions, in the PTX's order.
    pub lines: Vec<ExplainedLine>,
    /// The waits of its warps.
    pub timeline: Timeline,
    /// What was wrong with the run, if its result or its counts were not right.
    pub trouble: Option<String>,
}

/// One memory instruction.
#[derive(Clone, Debug)]
pub struct ExplainedLine {
    /// The line of the kernel's own source that it comes from.
    pub line: Option<Place>,
    /// The line that it was written on, if it is a different one.
    pub written_at: Option<Place>,
    /// Line of the PTX module, from 1.
    pub ptx_line: u32,
    /// The opcode.
    pub opcode: String,
    /// Accesses that were traced: the first of each warp.
    pub n_accesses: u32,
    /// The most wasteful of them; the first one, if several are equal.
    pub access: Access,
    /// The warp that made it.
    pub warp: u32,
}

impl ExplainedLine {
    /// The map of its access.
    pub fn map(&self) -> AccessMap {
        AccessMap::of(&self.access)
    }

    /// Wavefronts and sectors that its access wastes.
    pub fn waste(&self) -> u32 {
        maps::instructions::waste(&self.access)
    }

    /// `01_tiles.rs:178`, or the PTX line if no source is known.
    pub fn place(&self) -> String {
        match &self.line {
            Some(line) => line.short(),
            None => format!("PTX line {}", self.ptx_line),
        }
    }
}

impl Explained {
    /// Whether its warps wait for anything other than barriers that all of them reach.
    pub fn has_timeline(&self) -> bool {
        self.timeline.has_more_than_barriers()
    }
}

/// The shape at which a kernel is explained by default: the smallest for which
/// the catalogue states its counts, else the smallest that its lesson runs.
pub fn default_shape(registered: Registered) -> Option<Shape> {
    let lesson = registered.lesson;
    let efforts = [Effort::Quick, Effort::Sample, Effort::Default];
    let shapes = efforts
        .iter()
        .flat_map(|&effort| (lesson.shapes)(EngineKind::Sim, effort))
        .filter(|shape| !shape.is_sweep());
    let shapes: Vec<Shape> = shapes.collect();
    let work = |shape: &&Shape| (lesson.work)(shape).bytes;
    let claimed = shapes.iter().filter(|shape| (lesson.expects_at)(shape));
    claimed
        .min_by_key(work)
        .or_else(|| shapes.iter().min_by_key(work))
        .cloned()
}

/// What block `block` does in the kernel's first launch on a shape; `None` if the lesson never
/// launched it.
///
/// # Errors
///
/// The case stopped before the launch ended, or the launch does not have that block.
pub fn of(
    registered: Registered,
    shape: &Shape,
    modules: Vec<PtxModule>,
    block: u64,
) -> Result<Option<Explained>, CaseError> {
    on(&Sim::new(modules), registered, shape, block)
}

/// The same on a simulator that has the kernel's module, and perhaps those of other kernels.
///
/// # Errors
///
/// As [`of`].
pub fn on(
    sim: &Sim,
    registered: Registered,
    shape: &Shape,
    block: u64,
) -> Result<Option<Explained>, CaseError> {
    let options = TraceOptions {
        block,
        accesses: 4,
        ..TraceOptions::default()
    };
    let Some((traced, trouble)) = traced(sim, registered, shape, options)? else {
        return Ok(None);
    };
    let source = registered.lesson.source;
    let lines = maps::by_instruction(&traced.trace).into_iter().map(|one| {
        let instruction = one.instruction;
        let loc = instruction.loc.as_ref();
        let (line, written_at) = places_of(loc, &instruction.inlined_at, source);
        ExplainedLine {
            line,
            written_at,
            ptx_line: instruction.ptx_line,
            opcode: instruction.opcode.clone(),
            n_accesses: one.n_accesses,
            access: one.worst.clone(),
            warp: one.warp,
        }
    });
    Ok(Some(Explained {
        kernel: registered.kernel.id,
        technique: registered.kernel.technique,
        source,
        shape: shape.to_string(),
        config: traced.config,
        block,
        lines: lines.collect(),
        timeline: Timeline::of(&traced.trace),
        trouble: trouble.map(|error| error.to_string()),
    }))
}

/// The trace of a kernel's first launch on a shape, and what was wrong with the run; `None` if the
/// lesson never launched it.
fn traced(
    sim: &Sim,
    registered: Registered,
    shape: &Shape,
    options: TraceOptions,
) -> Result<Option<(Traced, Option<CaseError>)>, CaseError> {
    sim.trace_next(registered.kernel.id, options);
    let ended = run_case(registered, shape, sim);
    match sim.traced() {
        Some(traced) => Ok(Some((traced, ended.err()))),
        None => ended.map(|()| None),
    }
}

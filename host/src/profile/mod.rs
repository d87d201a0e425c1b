//! Where a kernel's memory work is done: instruction by instruction, and line by
//! line of its source.
//!
//! The simulator counts every access of every instruction, exactly and by the
//! hardware's rules. Here those counts meet the source: which line of which file,
//! how much of its work is needed, how much is wasted, and why.
//!
//! Reading order: this file (what a profile is), [`record`] (how one is made),
//! [`verdict`] (what its figures mean), [`sources`] (the text of the lines),
//! [`hardware`] (the same figures from a GPU), then the two ways to show it,
//! [`text`] and [`html`].
//!
//! Left out: time. A wavefront and a sector are work, and what they cost depends
//! on what else the GPU has to do.

pub mod hardware;
pub mod html;
pub mod record;
pub mod sources;
pub mod text;
pub mod verdict;

use crate::bench::{Bench, CaseError};
use crate::counts::InstructionCounts;
use crate::engine::sim::Sim;
use crate::engine::{Engine, PtxModule};
use crate::registry::{Registered, Shape};
use ptx_sim::ir;
use serde::Serialize;
use std::collections::BTreeMap;

/// The memory work of one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The kernel's entry.
    pub kernel: String,
    /// What its lesson says of it.
    pub technique: &'static str,
    /// The file of its lesson, relative to the repository.
    pub source: &'static str,
    /// The shape's name.
    pub shape: String,
    /// The module that was run: `kernels.ptx`.
    pub module: String,
    /// What it was compiled for: `sm_80`.
    pub target: String,
    /// Launches of the kernel.
    pub n_launches: usize,
    /// Geometry of the first launch.
    pub geometry: String,
    /// Other kernels that were launched with it, and how often.
    pub others: Vec<(String, usize)>,
    /// Its memory instructions, in the PTX's order.
    pub rows: Vec<Row>,
    /// All that was counted, by name.
    pub totals: Vec<(&'static str, u64)>,
}

/// One memory instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The line of the kernel's own source that it comes from; of whatever source
    /// the PTX names, if none is the kernel's; none without line tables.
    pub line: Option<Place>,
    /// The line that it was written on, if that is another: in a function that was
    /// inlined.
    pub written_at: Option<Place>,
    /// Line of the PTX module, from 1.
    pub ptx_line: u32,
    /// The instruction as the PTX has it.
    pub ptx: String,
    /// The opcode.
    pub opcode: String,
    /// Where it accesses memory.
    pub space: Space,
    /// Times that a warp executed it.
    pub executions: u64,
    /// Those in which a lane accessed memory.
    pub requests: u64,
    /// Passes through the banks of shared memory.
    pub wavefronts: u64,
    /// Passes without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Passes that bank conflicts add.
    pub conflicts: u64,
    /// The most lanes of a group that met in one bank.
    pub ways: u32,
    /// Sectors of global or local memory.
    pub sectors: u64,
    /// Sectors that the bytes asked for would fill.
    pub ideal_sectors: u64,
}

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Path, relative to the repository.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

impl Place {
    /// `transpose.rs:178`.
    pub fn short(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        // A file named `mod.rs` says nothing without its folder.
        let from = if name == "mod.rs" {
            let folder = self.file[..self.file.len() - name.len()].trim_end_matches('/');
            folder.rfind('/').map_or(0, |at| at + 1)
        } else {
            self.file.len() - name.len()
        };
        format!("{}:{}", &self.file[from..], self.line)
    }
}

/// Where an instruction accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Space {
    /// Shared memory.
    Shared,
    /// Global memory.
    Global,
    /// The thread's own memory.
    Local,
    /// From global to shared memory.
    GlobalToShared,
}

impl Row {
    /// Work: wavefronts and sectors. One of either keeps the memory system busy
    /// for about as long.
    pub fn work(&self) -> u64 {
        self.wavefronts + self.sectors
    }

    /// Work that a better access pattern would save.
    pub fn wasted(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
            + self.sectors.saturating_sub(self.ideal_sectors)
    }
}

impl Profile {
    /// Wavefronts and sectors of all instructions.
    pub fn work(&self) -> u64 {
        self.rows.iter().map(Row::work).sum()
    }

    /// A total by its name.
    pub fn total(&self, name: &str) -> u64 {
        self.totals
            .iter()
            .find(|(other, _)| *other == name)
            .map_or(0, |&(_, value)| value)
    }

    /// Lines with memory instructions: work, and wasted work, of each.
    pub fn lines(&self) -> BTreeMap<&Place, (u64, u64)> {
        let mut lines = BTreeMap::new();
        for row in &self.rows {
            if let Some(place) = &row.line {
                let entry: &mut (u64, u64) = lines.entry(place).or_default();
                entry.0 += row.work();
                entry.1 += row.wasted();
            }
        }
        lines
    }
}

/// The memory instructions among what was counted. `ptx` is the module's text,
/// `source` the lesson's file.
fn rows(instructions: &[InstructionCounts], ptx: &str, source: &str) -> Vec<Row> {
    let lines: Vec<&str> = ptx.lines().collect();
    instructions
        .iter()
        .filter_map(|counted| {
            let space = space(counted)?;
            let (line, written_at) = places(counted, source);
            let text = lines.get(counted.ptx_line as usize - 1);
            Some(Row {
                line,
                written_at,
                ptx_line: counted.ptx_line,
                ptx: text.map_or_else(String::new, |text| text.trim().replace('\t', " ")),
                opcode: counted.opcode.clone(),
                space,
                executions: counted.executions,
                requests: counted.requests,
                wavefronts: counted.wavefronts,
                ideal_wavefronts: counted.ideal_wavefronts,
                conflicts: counted.conflicts,
                ways: counted.max_way,
                sectors: counted.sectors,
                ideal_sectors: counted.ideal_sectors,
            })
        })
        .collect()
}

/// Where an instruction accessed memory, if it did.
fn space(counted: &InstructionCounts) -> Option<Space> {
    use ptx_sim::AccessClass::{AsyncCopy, AsyncCopyBypass};
    if let Some(AsyncCopy | AsyncCopyBypass) = counted.class {
        return Some(Space::GlobalToShared);
    }
    match counted.space? {
        ir::Space::Shared => Some(Space::Shared),
        ir::Space::Local => Some(Space::Local),
        ir::Space::Global | ir::Space::Const | ir::Space::Generic => Some(Space::Global),
        ir::Space::Param => None,
    }
}

/// The line of the kernel's own source, and the one that the instruction was
/// written on if it is another.
fn places(counted: &InstructionCounts, source: &str) -> (Option<Place>, Option<Place>) {
    let chain: Vec<Place> = counted
        .loc
        .iter()
        .chain(&counted.inlined_at)
        .map(|loc| Place {
            file: loc.file.clone(),
            line: loc.line,
        })
        .collect();
    // The innermost line of the lesson's file, or of its neighbours.
    let folder = &source[..source.find("/src/").map_or(0, |at| at + 1)];
    let own = chain
        .iter()
        .find(|place| place.file == source)
        .or_else(|| chain.iter().find(|place| place.file.starts_with(folder)))
        .or(chain.first());
    let written_at = chain.first().filter(|first| Some(*first) != own);
    (own.cloned(), written_at.cloned())
}

/// Runs a lesson's case for one kernel, its checks included.
///
/// # Errors
///
/// The case does not run to its end, or its result is wrong.
pub fn run_case(
    registered: Registered,
    shape: &Shape,
    engine: &dyn Engine,
) -> Result<(), CaseError> {
    let Registered { lesson, kernel } = registered;
    let mut bench = Bench::new(engine, lesson, kernel, shape, None);
    (kernel.run)(&mut bench)
}

/// The profile of a kernel of `module` on a shape, by the simulator; none if the
/// lesson never launched it.
///
/// # Errors
///
/// As [`run_case`].
pub fn simulate(
    registered: Registered,
    shape: &Shape,
    module: &PtxModule,
) -> Result<Option<Profile>, CaseError> {
    let sim = Sim::new(with_helpers(module)).with_record();
    run_case(registered, shape, &sim)?;
    let text = module.text()?;
    Ok(of(registered, shape, module, text, sim.recorded()))
}

/// The module, and after it those of other topics for the same architecture: a lesson
/// may launch their kernels too.
fn with_helpers(module: &PtxModule) -> Vec<PtxModule> {
    let mut modules = vec![module.clone()];
    if let Some(topic) = module.topic() {
        let is_helper = |other: &PtxModule| {
            other.topic() != Some(topic) && other.target_name() == module.target_name()
        };
        let all = crate::kernels::modules().unwrap_or_default();
        modules.extend(all.into_iter().filter(is_helper));
    }
    modules
}

/// A profile of what was recorded.
fn of(
    registered: Registered,
    shape: &Shape,
    module: &PtxModule,
    text: &str,
    recorded: record::Recorded,
) -> Option<Profile> {
    let Registered { lesson, kernel } = registered;
    let mut others = Vec::new();
    let mut own = None;
    for (entry, launches) in recorded.kernels {
        if entry == kernel.id {
            own = Some(launches);
        } else {
            others.push((entry, launches.n_launches));
        }
    }
    let own = own?;
    Some(Profile {
        kernel: kernel.id.to_owned(),
        technique: kernel.technique,
        source: lesson.source,
        shape: shape.to_string(),
        module: module.name.clone(),
        target: module.target_name().unwrap_or_default().to_owned(),
        n_launches: own.n_launches,
        geometry: own.config.to_string(),
        others,
        rows: rows(&own.instructions, text, lesson.source),
        totals: own.total.entries(),
    })
}

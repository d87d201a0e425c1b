//! The memory work of a kernel, instruction by instruction, with the lines it comes from.
//!
//! Left out: time. A wavefront and a sector are work, and their cost depends on what else
//! the GPU has to do.

use lockstep::counts::InstructionCounts;
use lockstep::source::{Place, places};
use ptx_sim::ir;
use serde::Serialize;
use std::collections::BTreeMap;

/// One memory instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The line of the kernel's own source that it comes from; if none is the kernel's, of
    /// any source that the PTX names; `None` without line tables.
    pub line: Option<Place>,
    /// The line that it was written on, if it is a different one: in a function that was
    /// inlined.
    pub written_at: Option<Place>,
    /// Line of the PTX module, from 1.
    pub ptx_line: u32,
    /// The instruction as written in the PTX.
    pub ptx: String,
    /// The opcode.
    pub opcode: String,
    /// The memory that it accesses.
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
    /// Sectors that the requested bytes would fill.
    pub ideal_sectors: u64,
}

/// The memory that an instruction accesses.
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

/// Work, and the part of it that a better access pattern would save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Wavefronts and sectors.
    pub work: u64,
    /// Those that are not needed.
    pub wasted: u64,
}

impl Cost {
    /// The part that is needed.
    pub fn needed(self) -> u64 {
        self.work.saturating_sub(self.wasted)
    }
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

    /// Whether it has passes through shared memory.
    pub fn is_in_shared(&self) -> bool {
        self.wavefronts > 0 || self.space == Space::Shared
    }

    /// Whether it has sectors.
    pub fn is_in_sectors(&self) -> bool {
        self.space != Space::Shared
    }
}

/// The memory instructions among the counted ones. `ptx` is the module's text, `file` the
/// kernel's own.
pub fn rows(instructions: &[InstructionCounts], ptx: &str, file: &str) -> Vec<Row> {
    let lines: Vec<&str> = ptx.lines().collect();
    let row = |counted: &InstructionCounts| {
        let space = space(counted)?;
        let (line, written_at) = places(counted, file);
        let text = lines.get((counted.ptx_line as usize).wrapping_sub(1));
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
    };
    instructions.iter().filter_map(row).collect()
}

/// The memory that an instruction accessed, if any.
fn space(counted: &InstructionCounts) -> Option<Space> {
    use ptx_sim::AccessClass::{AsyncCopy, AsyncCopyBypass};
    // Barriers in memory are for waiting: no access pattern can save that.
    if counted.opcode.split('.').any(|part| part == "mbarrier") {
        return None;
    }
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

/// All their work.
pub fn total(rows: &[Row]) -> Cost {
    rows.iter().fold(Cost::default(), |sum, row| Cost {
        work: sum.work + row.work(),
        wasted: sum.wasted + row.wasted(),
    })
}

/// The work of each line that has some.
pub fn lines(rows: &[Row]) -> BTreeMap<&Place, Cost> {
    let mut lines = BTreeMap::new();
    for row in rows {
        if let Some(place) = &row.line {
            let sum: &mut Cost = lines.entry(place).or_default();
            sum.work += row.work();
            sum.wasted += row.wasted();
        }
    }
    lines
}

/// The work of each line by file, that of the kernel's `own` first.
pub fn files<'r>(rows: &'r [Row], own: &str) -> Vec<(&'r str, BTreeMap<u32, Cost>)> {
    let mut files: BTreeMap<&str, BTreeMap<u32, Cost>> = BTreeMap::new();
    for (Place { file, line }, cost) in lines(rows) {
        files.entry(file).or_default().insert(*line, cost);
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(file, _)| *file != own);
    files
}

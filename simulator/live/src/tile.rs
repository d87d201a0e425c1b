//! A tile in shared memory, laid out and read as the reader chooses: the playground's kernel is
//! run, its result checked, its accesses counted and drawn.

use crate::common::{accesses, elements, told};
use crate::show;
use maps::layout::Chunks;
use maps::{BankMap, LINE_BYTES, Layout, Tile, TileMap};
use ptx_sim::ir::Space;
use ptx_sim::trace::{TraceOptions, TracedAccess};
use ptx_sim::{AccessClass, Device, LaunchOptions, Module, Report};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Threads of the playground's block.
const BLOCK_THREADS: u32 = 256;
/// Sides of the blocks that its kernel loads by `ldmatrix`.
const MATRICES: u32 = 16;
/// The largest number of rows and columns that a page can show.
const MOST_SIDE: u32 = 128;
/// Bytes of shared memory that a block can have.
const MOST_BYTES: u32 = 227 << 10;
/// More warp instructions than any choice needs.
const FUEL: u64 = 20_000_000;

/// The reader's choice.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// The playground's PTX.
    pub ptx: String,
    /// Rows of the tile.
    pub rows: u32,
    /// Columns of the tile.
    pub columns: u32,
    /// The elements' type, as `explain` names it: `f32`.
    #[serde(rename = "type")]
    pub element: String,
    /// The layout, as `explain` names it: `pad:1`.
    pub layout: String,
    /// `row`, `column` or `ldmatrix`.
    pub access: String,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Whether every element arrived in its place.
    pub is_right: bool,
    /// Wavefronts of the reads.
    pub wavefronts: u64,
    /// Bank conflicts of the reads.
    pub conflicts: u64,
    /// Phases of the read that is drawn.
    pub n_phases: usize,
    /// Verdict, counts and maps, as a part of a page.
    pub html: String,
}

/// How the tile is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Row,
    Column,
    Matrices,
}

impl FromStr for Access {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "row" => Ok(Self::Row),
            "column" => Ok(Self::Column),
            "ldmatrix" => Ok(Self::Matrices),
            other => Err(format!(
                "`{other}` is not an access; these are: row, column, ldmatrix"
            )),
        }
    }
}

/// The experiment to run.
struct Experiment {
    tile: Tile,
    layout: Layout,
    access: Access,
}

/// Runs the reader's choice.
///
/// # Errors
///
/// There is no such tile or layout, or the kernel fails: in words for the reader.
pub fn answer(question: &Question) -> Result<Answer, String> {
    let experiment = Experiment::of(question)?;
    let module = Module::parse(&question.ptx).map_err(told)?;
    let (output, report) = experiment.run(&module)?;
    let is_right = output == experiment.expected();
    let counts = &report.counts;
    let (wavefronts, conflicts) = match experiment.access {
        Access::Matrices => (counts.ldmatrix_wavefronts, counts.ldmatrix_conflicts),
        _ => (counts.shared_load_wavefronts, counts.shared_load_conflicts),
    };
    let trace = report.trace.as_ref().ok_or("nothing was traced")?;
    let reads = accesses(trace).filter(|(_, access)| is_read(access));
    // The first of the worst reads.
    let worst = reads.min_by_key(|(_, read)| std::cmp::Reverse(read.shared_cost().wavefronts));
    let (event, read) = worst.ok_or("the kernel read nothing from its tile")?;
    let banks = BankMap::of(read);
    let places = experiment.places(read).map_err(told)?;
    let html = [
        show::verdict(is_right),
        show::shared_counts(&report),
        show::picture(
            &format!("Bank map of a read by warp {}", event.warp),
            &banks.svg(),
        ),
        show::picture("The tile: the bank of each cell", &places.svg()),
        show::picture(
            "The memory: the place of each cell",
            &places.svg_of_memory(),
        ),
        show::command(&explain(question)),
    ];
    Ok(Answer {
        is_right,
        wavefronts,
        conflicts,
        n_phases: banks.phases.len(),
        html: html.concat(),
    })
}

/// The command that shows the same in a terminal.
fn explain(question: &Question) -> String {
    let access = match question.access.as_str() {
        "ldmatrix" => "ldmatrix.x4",
        other => other,
    };
    format!(
        "cargo xtask explain --rows {} --cols {} --type {} --access {access} --layout {}",
        question.rows, question.columns, question.element, question.layout
    )
}

fn is_read(access: &TracedAccess) -> bool {
    let is_load = matches!(access.class, AccessClass::Load | AccessClass::LoadMatrix);
    access.space == Space::Shared && is_load
}

impl Experiment {
    fn of(question: &Question) -> Result<Self, String> {
        let bytes = maps::tile::element_bytes(&question.element).map_err(told)?;
        let (rows, columns) = (question.rows, question.columns);
        let tile = Tile::new(rows, columns, bytes).map_err(told)?;
        let layout: Layout = question.layout.parse().map_err(told)?;
        let access: Access = question.access.parse()?;
        if rows > MOST_SIDE || columns > MOST_SIDE {
            return Err(format!("a page shows at most {MOST_SIDE} rows and columns"));
        }
        if !matches!(bytes, 2 | 4 | 8 | 16) {
            return Err("the live kernels have elements of 2, 4, 8 and 16 bytes".to_owned());
        }
        let n_bytes = layout.n_places(&tile).map_err(told)? * bytes;
        if n_bytes > MOST_BYTES {
            return Err(format!(
                "the tile takes {n_bytes} bytes of shared memory, and a block has {MOST_BYTES}"
            ));
        }
        if access == Access::Matrices {
            if bytes != 2 {
                return Err("ldmatrix loads matrices of 16-bit elements: choose f16".to_owned());
            }
            if !rows.is_multiple_of(MATRICES) || !columns.is_multiple_of(MATRICES) {
                return Err(format!(
                    "the live kernel takes blocks of {MATRICES}×{MATRICES} by ldmatrix: both sides \
                     must be multiples of {MATRICES}"
                ));
            }
            if layout.vector(&tile).map_err(told)? < 8 {
                return Err(format!(
                    "`{layout}` tears rows of a matrix apart: ldmatrix needs 16 bytes together, \
                     and aligned"
                ));
            }
        }
        Ok(Self {
            tile,
            layout,
            access,
        })
    }

    fn kernel(&self) -> String {
        match self.access {
            Access::Matrices => "tile_ldmatrix".to_owned(),
            _ => format!("tile_{}", self.tile.element_bytes()),
        }
    }

    /// The layout as the kernel's arguments: pitch, kind and two numbers.
    fn place(&self) -> Result<[u32; 4], String> {
        let columns = self.tile.columns();
        let in_elements = |chunks: &Chunks| {
            let or = |bytes: u32, usual: u32| if bytes == 0 { usual } else { bytes };
            let element = self.tile.element_bytes();
            let chunk = or(chunks.chunk_bytes, element);
            let line = or(chunks.line_bytes, LINE_BYTES);
            [chunk / element, line / chunk]
        };
        Ok(match &self.layout {
            Layout::Plain => [columns, 0, 0, 0],
            Layout::Padded(n) => [columns + n, 0, 0, 0],
            Layout::Swizzled(steps) => match steps.as_slice() {
                [step] => {
                    let mask = ((1 << step.bits) - 1) << step.base;
                    [columns, 1, step.distance, mask]
                }
                _ => return Err("the live kernels take one swizzle at a time".to_owned()),
            },
            Layout::Xor(chunks) => {
                let [chunk, line] = in_elements(chunks);
                [columns, 2, chunk, line]
            }
            Layout::Shift(chunks) => {
                let [chunk, line] = in_elements(chunks);
                [columns, 3, chunk, line]
            }
        })
    }

    /// Runs the kernel; returns its output, and the counts and the trace.
    fn run(&self, module: &Module) -> Result<(Vec<u8>, Report), String> {
        let (tile, bytes) = (&self.tile, self.tile.element_bytes());
        let [pitch, kind, a, b] = self.place()?;
        let device = Device::new();
        let loaded = device.load(module).map_err(told)?;
        let input = elements(tile.n_elements(), bytes);
        let input = device.upload(&input, "input").map_err(told)?;
        let n_bytes = (tile.n_elements() * bytes) as usize;
        let output = device.zeros::<u8>(n_bytes, "output").map_err(told)?;
        let options = LaunchOptions {
            fuel: Some(FUEL),
            trace: Some(TraceOptions::default()),
            ..LaunchOptions::default()
        };
        let shared_bytes = self.layout.n_places(tile).map_err(told)? * bytes;
        let report = device
            .call(&loaded, &self.kernel())
            .block(BLOCK_THREADS)
            .dynamic_shared_bytes(shared_bytes.next_multiple_of(16))
            .arg(input)
            .arg(output)
            .arg(tile.rows())
            .arg(tile.columns())
            .arg(u32::from(self.access == Access::Column))
            .arg(pitch)
            .arg(kind)
            .arg(a)
            .arg(b)
            .options(options)
            .run()
            .map_err(told)?;
        Ok((device.download(output).map_err(told)?, report))
    }

    /// The expected output of the kernel.
    fn expected(&self) -> Vec<u8> {
        let (rows, columns) = (self.tile.rows(), self.tile.columns());
        let bytes = self.tile.element_bytes() as usize;
        let input = elements(self.tile.n_elements(), bytes as u32);
        let element = |row: u32, column: u32| {
            let at = (row * columns + column) as usize * bytes;
            &input[at..at + bytes]
        };
        let all = 0..self.tile.n_elements();
        let source: Vec<(u32, u32)> = match self.access {
            Access::Row => all.map(|i| (i / columns, i % columns)).collect(),
            Access::Column => all.map(|i| (i % rows, i / rows)).collect(),
            Access::Matrices => all.map(|i| in_matrices(i, columns)).collect(),
        };
        let elements = source.into_iter().map(|(row, column)| element(row, column));
        elements.flatten().copied().collect()
    }

    /// The tile with the elements that the lanes of an access read.
    fn places(&self, read: &TracedAccess) -> Result<TileMap, maps::Invalid> {
        let map = TileMap::by_vectors(self.tile, self.layout.clone(), self.vector())?;
        let bytes = u64::from(self.tile.element_bytes());
        let places = self.layout.all_places(&self.tile)?;
        let of_lane = |address: u64| {
            let place = (address / bytes) as u32;
            let at = places.iter().position(|&other| other == place)? as u32;
            Some((at / self.tile.columns(), at % self.tile.columns()))
        };
        let lanes = (0..32).filter(|lane| read.mask >> lane & 1 != 0);
        let marked: Option<Vec<_>> = lanes.map(|lane| of_lane(read.addresses[lane])).collect();
        Ok(map.marking(&marked.unwrap_or_default()))
    }

    /// Elements that a lane reads at once.
    fn vector(&self) -> u32 {
        match self.access {
            Access::Matrices => 8,
            _ => 1,
        }
    }
}

/// The element of the tile that is written to place `i`: blocks of 16×16 by rows of blocks, in
/// each of them four matrices, the lower left one before the upper right one, by rows.
fn in_matrices(i: u32, columns: u32) -> (u32, u32) {
    let (block, in_block) = (i / 256, i % 256);
    let (matrix, in_matrix) = (in_block / 64, in_block % 64);
    let per_row = columns / MATRICES;
    let row = block / per_row * MATRICES + matrix % 2 * 8 + in_matrix / 8;
    let column = block % per_row * MATRICES + matrix / 2 * 8 + in_matrix % 8;
    (row, column)
}

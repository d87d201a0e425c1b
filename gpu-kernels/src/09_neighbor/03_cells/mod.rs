//! Cell list: sort the atoms by place, then search only adjacent cells.
//!
//! The plane is divided into square cells, no narrower than the cut-off. An
//! atom's neighbours are then in its own cell or in one of the eight around it,
//! and it is enough to test the atoms there: about 12 in graphene, however many
//! atoms there are in all.
//!
//! ```text
//!   ┌───┬───┬───┐
//!   │ · │  ·│   │      row above:  one run of sorted atoms
//!   ├───┼───┼───┤
//!   │·  │ @ │· ·│      own row:    one run
//!   ├───┼───┼───┤
//!   │  ·│   │ · │      row below:  one run
//!   └───┴───┴───┘
//! ```
//!
//! The cells are numbered row by row. When the atoms are sorted by cell, the
//! three cells of a row follow each other, and so do their atoms: three runs,
//! each from the start of one cell to the end of another.
//!
//! # Four launches
//!
//! It is a counting sort. No atom is compared with another; each step is linear
//! in the number of atoms or of cells.
//!
//! 1. [`neighbor_cells_count`] counts each cell's atoms with atomics. What the
//!    atomic returns is the atom's rank in its cell.
//! 2. [`neighbor_cells_scan`] adds up the counts of all cells before each cell:
//!    where its atoms start.
//! 3. [`neighbor_cells_scatter`] puts every atom at its cell's start plus its
//!    rank. No atomics: the rank is known.
//! 4. [`neighbor_cells_build`] tests the three runs around each sorted atom.
//!
//! Each is marked `pdl`: by programmatic dependent launch it waits for the previous
//! launch (`grid::wait_for_previous`) and then lets the next one start. So the next
//! launch's blocks take their places while the last blocks of this one are still at work,
//! which hides the launch itself. Among the first three it is the scan, a small grid, that
//! leaves most of the device to its successor: the scatter meanwhile reads its atoms,
//! which have not been written since before the count.
//!
//! # The same result every time
//!
//! The ranks depend on which thread came first, and so does the order of atoms
//! within a cell. The lists do not: step 4 puts the neighbours that it finds
//! in ascending order, in registers.
//!
//! # Nothing to clear
//!
//! Counters must be 0 before the first launch, and the launches leave them 0:
//! the scan takes the counts away as it reads them, and the scatter resets the
//! tiles' states.
//!
//! # Limits
//!
//! Neither bytes nor tests: both would take a fraction of the time. Count and scatter keep
//! the second-level cache busy with atomics and with partly written sectors;
//! the search takes about half of the total. `docs/tuning/neighbor_cells.md` has the
//! measurements.

#[path = "01_sort.rs"]
mod sort;
#[path = "02_scan.rs"]
mod scan;
#[path = "03_build.rs"]
mod build;
#[path = "parts/grid.rs"]
mod grid;

pub use build::{BUILD_BLOCK, build_grid, neighbor_cells_build};
pub use grid::{CellGrid, cell_index, scan_grid};
pub use scan::{SCAN_BLOCK, SCAN_TILE, neighbor_cells_scan};
pub use sort::{count_grid, neighbor_cells_count, neighbor_cells_scatter};

/// Threads in a block of the counting sort's two steps over the atoms.
const BLOCK_THREADS: u32 = 256;

/// Block of [`neighbor_cells_count`] and [`neighbor_cells_scatter`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`neighbor_cells_scatter`]: one thread per atom, and at least one block,
/// since no launch may be empty.
pub const fn atom_grid(n_atoms: u32) -> [u32; 3] {
    let n_blocks = n_atoms.div_ceil(BLOCK_THREADS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

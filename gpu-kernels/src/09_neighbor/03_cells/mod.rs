//! Cell list: sort the atoms by place, then look only next door.
//!
//! The plane is divided into square cells, no narrower than the cut-off. An
//! atom's neighbours are then in its own cell or in one of the eight around it,
//! and it is enough to test the atoms there: about 12 in graphene, whatever the
//! number of all.
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
//! Each is marked `early`, waits for the launch before it (`grid::wait_for_previous`)
//! and then lets the next one start. So the next one's blocks take their places while
//! the last blocks of this one still work, and nobody waits for a launch. Between the
//! first three it is the scan, a small grid, that leaves most of the device to those
//! who come: the scatter reads its atoms meanwhile, which nobody has written since
//! before the count.
//!
//! # The same result every time
//!
//! The ranks depend on which thread came first, so that the order of atoms
//! within a cell does. The lists do not: step 4 puts the neighbours that it finds
//! in ascending order, in registers.
//!
//! # Nothing to clear
//!
//! Counters must be 0 before the first launch, and the launches leave them 0:
//! the scan takes the counts away as it reads them, and the scatter resets the
//! tiles' states.
//!
//! # Record of tuning, on an H200: a million atoms of graphene
//!
//! Fewest bytes: 8 an atom in, its count and three neighbours out, 24 MB, which is
//! 6 µs. Fewest operations: 12.6 tests an atom, less than a microsecond. The yardstick
//! is the time to clear the output's 44 MB, 15.5 to 17 µs. All four launches took 52.4 µs,
//! then 48.6, and take 45.2: 2.7 times that. One after the other, count, scan and scatter
//! take 9.4, 8.5 and 10 µs, and the search 22.
//!
//! | step | predicted | measured |
//! |---|---|---|
//! | early launches: wait, then let the next start, in all four | −5 µs | −5 µs (−4.4 by the wait alone) |
//! | the scatter reads its atoms, or their ranks too, before it waits | −1 µs | 0 to −0.5 µs |
//! | the place as a `u32` in one instruction, not five (`whole_part`) | −0.5 µs | within noise |
//! | no sort: each cell has places for four atoms, filled by atomics; 3 launches | −15 µs | +15 µs: 29 for filling, half sectors all over 34 MB, and 35 for the search |
//! | near atoms as bits of a mask, four loads under way (was: noted in shared memory) | −10 µs | −3 µs |
//! | two atoms a thread in the count | −3 µs | −0.7 µs |
//! | four neighbouring atoms a thread in count and scatter, 16-byte loads | −6 µs | +50 µs: a warp's atomics meet more sectors |
//! | the scan without look-back: the count adds up tiles too | −3 µs | −4 µs alone, 0 to +4 in all: the count becomes slower |
//! | the search in the order of atoms, so that stores are coalesced | −6 µs | 0 |
//! | the block's atoms in shared memory | −5 µs | +7 µs |
//! | position and index of an atom in one record of 16 bytes | −2 µs | +2 µs |
//! | 64, 256 or 512 threads, 2, 3, 6 or 8 loads under way | ±1 µs | ±0.5 µs |
//!
//! The hardware's counters say of count and scatter that the second-level cache is
//! busy to 70%, by atomics and by sectors that are written in parts. To be tried
//! next: cells half as wide along the rows, with 10.5 tests an atom instead of 12.6; and
//! a scan by more, smaller blocks, since it takes 8.5 µs for 6 MB.

#[path = "01_sort.rs"]
mod sort;
#[path = "02_scan.rs"]
mod scan;
#[path = "03_build.rs"]
mod build;
#[path = "parts/grid.rs"]
mod grid;

pub use build::{BUILD_BLOCK, build_grid, neighbor_cells_build};
pub use grid::{CellGrid, cell_index};
pub use scan::{SCAN_BLOCK, SCAN_TILE, neighbor_cells_scan, scan_grid};
pub use sort::{count_grid, neighbor_cells_count, neighbor_cells_scatter};

/// Threads in a block of the counting sort's two steps over the atoms.
const BLOCK_THREADS: u32 = 256;

/// Block of [`neighbor_cells_count`] and [`neighbor_cells_scatter`], in threads.
pub const BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`neighbor_cells_scatter`]: a thread an atom, and at least one block,
/// since no launch may be empty.
pub const fn atom_grid(n_atoms: u32) -> [u32; 3] {
    let n_blocks = n_atoms.div_ceil(BLOCK_THREADS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

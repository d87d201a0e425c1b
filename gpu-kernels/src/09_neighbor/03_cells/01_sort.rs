//! The counting sort's two steps over the atoms: count them by cell, and put
//! them in order of their cells.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::grid;
use cuda_std::prelude::*;
use cuda_std::vector::Float2;

use super::scan::{UNKNOWN, state};
use super::{BLOCK_THREADS, CellGrid, SCAN_TILE, cell_index};

/// Atoms of a thread of [`neighbor_cells_count`], a block's width apart: two
/// atomics in flight.
const COUNT_ATOMS: u32 = 2;
const COUNT_BLOCK_ATOMS: u32 = COUNT_ATOMS * BLOCK_THREADS;

/// Grid of [`neighbor_cells_count`]; at least one block, since no launch may be
/// empty.
pub const fn count_grid(n_atoms: u32) -> [u32; 3] {
    let n_blocks = n_atoms.div_ceil(COUNT_BLOCK_ATOMS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

/// Counts the atoms of each cell, and gives each atom its rank in its cell.
///
/// # Safety
///
/// `x`, `y` and `ranks` hold `n_atoms` elements; `counts` holds
/// [`CellGrid::padded_len`] zeros. The five parameters in the middle are a
/// [`CellGrid`]'s fields. Launch with [`BLOCK`](super::BLOCK) threads and [`count_grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS), pdl)]
pub unsafe fn neighbor_cells_count(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    origin_x: f32,
    origin_y: f32,
    cells_per_length: f32,
    n_columns: u32,
    n_rows: u32,
    counts: *mut u32,
    ranks: *mut u32,
) {
    let cells = CellGrid {
        origin_x,
        origin_y,
        cells_per_length,
        n_columns,
        n_rows,
    };
    grid::wait_for_previous();
    grid::let_next_start();
    let first = thread::block_idx_x() * COUNT_BLOCK_ATOMS + thread::thread_idx_x();
    let second = first + BLOCK_THREADS;
    let position = |atom: u32| Float2::new(*x.add(atom as usize), *y.add(atom as usize));
    let rank = |at: Float2| {
        let counter = counts.add(cell_index(&cells, at.x, at.y) as usize);
        atomic::add(counter, 1, Global, Device, Relaxed)
    };
    if second < n_atoms {
        let (a, b) = (position(first), position(second));
        let (rank_a, rank_b) = (rank(a), rank(b));
        *ranks.add(first as usize) = rank_a;
        *ranks.add(second as usize) = rank_b;
    } else if first < n_atoms {
        *ranks.add(first as usize) = rank(position(first));
    }
}

// The code above names both atoms.
const _: () = assert!(COUNT_ATOMS == 2);

/// Puts every atom at its place in the order of cells, and resets what the scan
/// left behind.
///
/// # Safety
///
/// As [`neighbor_cells_count`], but launch with [`atom_grid`](super::atom_grid)
/// blocks; `ranks` and `starts` are what the two previous launches wrote, `sorted` and
/// `sorted_atoms` hold `n_atoms` elements, `tile_states` and `n_tiles` are the scan's.
#[kernel(launch_bounds(BLOCK_THREADS), pdl)]
pub unsafe fn neighbor_cells_scatter(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    origin_x: f32,
    origin_y: f32,
    cells_per_length: f32,
    n_columns: u32,
    n_rows: u32,
    ranks: *const u32,
    starts: *const u32,
    sorted: *mut Float2,
    sorted_atoms: *mut u32,
    tile_states: *mut u64,
    n_tiles: *mut u32,
) {
    let cells = CellGrid {
        origin_x,
        origin_y,
        cells_per_length,
        n_columns,
        n_rows,
    };
    let atom = thread::index_1d();
    let is_atom = atom < n_atoms;

    // The atoms were counted two launches ago, so their positions can be read while the
    // scan is still in flight.
    let (mut at, mut cell) = (Float2::default(), 0);
    if is_atom {
        at = Float2::new(*x.add(atom as usize), *y.add(atom as usize));
        cell = cell_index(&cells, at.x, at.y);
    }
    grid::wait_for_previous();
    grid::let_next_start();

    let mut tile = atom;
    while tile < cells.padded_len() / SCAN_TILE {
        *tile_states.add(tile as usize) = state(UNKNOWN, 0);
        tile += thread::grid_dim_x() * BLOCK_THREADS;
    }
    if atom == 0 {
        *n_tiles = 0;
    }

    if is_atom {
        let place = (*starts.add(cell as usize) + *ranks.add(atom as usize)) as usize;
        *sorted.add(place) = at;
        *sorted_atoms.add(place) = atom;
    }
}

//! The neighbours of each sorted atom, from the cells around it.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::vector::Float2;

use super::{BLOCK_THREADS, CellGrid};
use crate::neighbor::{MAX_NEIGHBORS, are_near, place_by_place};

/// Length of what a block notes during the search: a row for each place in a
/// list, and one for all that find none, which nobody reads.
const FOUND_LEN: usize = ((MAX_NEIGHBORS + 1) * BLOCK_THREADS) as usize;

/// An atom's neighbours so far, in ascending order; [`u32::MAX`] where there is
/// none yet.
type Neighbors = [u32; MAX_NEIGHBORS as usize];

/// Puts `neighbor` in its place; the largest falls out at the end.
///
/// Every step is a minimum and a maximum of two registers. An insertion that
/// moves elements up to a place *found* would index an array by a variable,
/// which puts it in local memory.
///
/// The steps are written out. In a loop, the compiler may find that the array is
/// in registers, or may not.
#[inline(always)]
fn insert(neighbors: &mut Neighbors, neighbor: u32) {
    let mut moving = neighbor;
    macro_rules! pass {
        ($($place:literal)*) => { $(
            let here = neighbors[$place];
            neighbors[$place] = here.min(moving);
            moving = here.max(moving);
        )* };
    }
    pass!(0 1 2 3 4 5 6 7 8);
    let last = &mut neighbors[9];
    *last = (*last).min(moving);
}

// `insert` names every place.
const _: () = assert!(MAX_NEIGHBORS == 10);

/// Four numbers in ascending order, by five exchanges.
#[inline(always)]
const fn sort_four([a, b, c, d]: [u32; 4]) -> [u32; 4] {
    const fn exchange(a: u32, b: u32) -> (u32, u32) {
        if a < b { (a, b) } else { (b, a) }
    }
    let ((a, b), (c, d)) = (exchange(a, b), exchange(c, d));
    let ((a, c), (b, d)) = (exchange(a, c), exchange(b, d));
    let (b, c) = exchange(b, c);
    [a, b, c, d]
}

/// Finds each atom's neighbours in the nine cells around it. The lists are by
/// place and ascending.
///
/// Threads go through the sorted atoms, so that the lanes of a warp look at the
/// same few cells, and find them in the cache.
///
/// A lane in four finds a near atom at any one step of the search, and the warp
/// waits for what such lanes do. So they do as little as can be: they note in
/// shared memory where it is, each lane in a column of its own. All else is done
/// after the search, by all lanes together.
///
/// # Safety
///
/// `sorted`, `sorted_atoms` and `starts` are what the launches before wrote, of
/// the same grid; `n_neighbors` holds `n_atoms` elements, `list`
/// [`MAX_NEIGHBORS`] times as many, `overflow` one,
/// [`NO_OVERFLOW`](crate::neighbor::NO_OVERFLOW). The cut-off distance is at most what the
/// grid was made for. Launch with [`BLOCK`](super::BLOCK) threads and [`atom_grid`](super::atom_grid) blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_cells_build(
    sorted: *const Float2,
    sorted_atoms: *const u32,
    n_atoms: u32,
    origin_x: f32,
    origin_y: f32,
    cells_per_length: f32,
    n_columns: u32,
    n_rows: u32,
    starts: *const u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let grid = CellGrid {
        origin_x,
        origin_y,
        cells_per_length,
        n_columns,
        n_rows,
    };
    let own = thread::index_1d();
    if own >= n_atoms {
        return;
    }
    let at = ldg(sorted.add(own as usize));
    let (column, row) = (grid.column(at.x), grid.row(at.y));
    let first_column = column.saturating_sub(1);
    let end_column = (column + 2).min(n_columns);
    // The sorted atoms of the three cells of a row: where they start, and how
    // many they are; none outside the grid.
    let run = |row: u32| {
        if row < n_rows {
            let start = |column: u32| ldg(starts.add((row * n_columns + column) as usize));
            let first = start(first_column);
            (first, start(end_column) - first)
        } else {
            (0, 0)
        }
    };
    // Row −1 is, as a u32, outside the grid too.
    let (below, n_below) = run(row.wrapping_sub(1));
    let (beside, n_beside) = run(row);
    let (above, n_above) = run(row + 1);

    // One loop over all three runs: a warp goes round as often as its lane with
    // the most atoms to look at, not as often as the longest first run, second
    // run and third run together.
    let (end_below, end_beside) = (n_below, n_below + n_beside);
    let end = end_beside + n_above;
    let (from_below, from_beside, from_above) = (
        below,
        beside.wrapping_sub(end_below),
        above.wrapping_sub(end_beside),
    );
    // First only where the near ones are, in the order of the search.
    let found = shared_array![u32; FOUND_LEN];
    let thread = thread::thread_idx_x();
    let found_place = |k: u32| k * BLOCK_THREADS + thread;
    let mut place = found_place(0);
    let mut count = 0;
    let mut i = 0;
    while i < end {
        let from = if i < end_beside {
            from_beside
        } else {
            from_above
        };
        let from = if i < end_below { from_below } else { from };
        let other = from.wrapping_add(i);
        let there = ldg(sorted.add(other as usize));
        if are_near(there.x - at.x, there.y - at.y, cutoff_squared) && other != own {
            *found.add(place as usize) = other;
            place = (place + BLOCK_THREADS).min(found_place(MAX_NEIGHBORS));
            count += 1;
        }
        i += 1;
    }

    // Then who they are, in order.
    let atom = ldg(sorted_atoms.add(own as usize));
    *n_neighbors.add(atom as usize) = count;
    let who = |k: u32| ldg(sorted_atoms.add(*found.add(found_place(k) as usize) as usize));
    let store = |k: u32, neighbor: u32| *list.add(place_by_place(atom, k, n_atoms)) = neighbor;
    if count <= 4 {
        // So it is in graphene, and in most of nature.
        let who = |k: u32| if k < count { who(k) } else { u32::MAX };
        let [a, b, c, d] = sort_four([who(0), who(1), who(2), who(3)]);
        if count > 0 {
            store(0, a);
        }
        if count > 1 {
            store(1, b);
        }
        if count > 2 {
            store(2, c);
        }
        if count > 3 {
            store(3, d);
        }
        return;
    }
    let n_kept = count.min(MAX_NEIGHBORS);
    let mut neighbors: Neighbors = [u32::MAX; MAX_NEIGHBORS as usize];
    let mut k = 0;
    while k < n_kept {
        insert(&mut neighbors, who(k));
        k += 1;
    }
    for (k, neighbor) in (0..MAX_NEIGHBORS).zip(neighbors) {
        if k < n_kept {
            store(k, neighbor);
        }
    }
    if count > MAX_NEIGHBORS {
        atomic::min(overflow, atom, Global, Device, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Neighbors, insert, sort_four};

    #[test]
    fn insertion_keeps_the_smallest_in_order() {
        let mut neighbors: Neighbors = [u32::MAX; 10];
        for neighbor in [5, 3, 11, 2, 7, 13, 0, 1, 12, 8, 4, 9] {
            insert(&mut neighbors, neighbor);
        }
        assert_eq!(neighbors, [0, 1, 2, 3, 4, 5, 7, 8, 9, 11]);
    }

    #[test]
    fn four_are_sorted_whatever_their_order() {
        for i in 0..256_u32 {
            let mut numbers = [i & 3, i >> 2 & 3, i >> 4 & 3, i >> 6 & 3];
            let sorted = sort_four(numbers);
            numbers.sort_unstable();
            assert_eq!(sorted, numbers);
        }
    }
}

//! The neighbours of each sorted atom, from the cells around it.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::grid;
use cuda_std::prelude::*;
use cuda_std::vector::Float2;

use super::CellGrid;
use crate::neighbor::{MAX_NEIGHBORS, are_near, place_by_place};

/// An atom's neighbours so far, in ascending order; [`u32::MAX`] where there is
/// none yet.
type Neighbors = [u32; MAX_NEIGHBORS as usize];

/// Puts `neighbor` in its place; the largest falls out at the end.
///
/// Every step is a minimum and a maximum of two registers. An insertion that
/// moves elements up to a place *found* would index an array by a variable,
/// which puts it in local memory.
///
/// The steps are written out. In a loop, the compiler may or may not keep the
/// array in registers.
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

/// The atoms of the 3×3 cells around one: three runs of the sorted atoms, one
/// after the other.
#[derive(Clone, Copy)]
struct Around {
    /// How many there are in the first run, in the first two, and in all three.
    ends: [u32; 3],
    /// What to add, in each run, to an index into all three to get the index of the
    /// sorted atom. May wrap around.
    from: [u32; 3],
}

impl Around {
    /// Of runs given by their first sorted atom and their length.
    #[inline(always)]
    const fn new(
        [(below, n_below), (beside, n_beside), (above, n_above)]: [(u32, u32); 3],
    ) -> Self {
        let (end_below, end_beside) = (n_below, n_below + n_beside);
        Self {
            ends: [end_below, end_beside, end_beside + n_above],
            from: [
                below,
                beside.wrapping_sub(end_below),
                above.wrapping_sub(end_beside),
            ],
        }
    }

    /// Sorted index of atom `i` of all three runs.
    #[inline(always)]
    const fn sorted(&self, i: u32) -> u32 {
        let [below, beside, above] = self.from;
        let from = if i < self.ends[1] { beside } else { above };
        let from = if i < self.ends[0] { below } else { from };
        from.wrapping_add(i)
    }

    /// Index, in all three runs, of the middle run's atom with sorted index
    /// `sorted`: the inverse of [`Self::sorted`].
    #[inline(always)]
    const fn beside(&self, sorted: u32) -> u32 {
        sorted.wrapping_sub(self.from[1])
    }

    /// Number of atoms.
    #[inline(always)]
    const fn len(&self) -> u32 {
        self.ends[2]
    }
}

/// Atoms that one mask covers.
const MASK_ATOMS: u32 = u32::BITS;

/// Finds each atom's neighbours in the nine cells around it. The lists are by
/// place and ascending.
///
/// Threads go through the sorted atoms, so that the lanes of a warp look at the
/// same few cells, and find them in the cache.
///
/// At any one step of the search, a lane in four finds a near atom, and the warp
/// waits for what such lanes do. So they do as little as possible: they set a bit,
/// which takes no branch. Without one, the loads of four steps are in flight
/// together. Everything else is done after the search, by all lanes together.
///
/// # Safety
///
/// `sorted`, `sorted_atoms` and `starts` are what the launches before wrote, of
/// the same grid; `n_neighbors` holds `n_atoms` elements, `list`
/// [`MAX_NEIGHBORS`] times as many, `overflow` one,
/// [`NO_OVERFLOW`](crate::neighbor::NO_OVERFLOW). The cut-off distance is at most what the
/// grid was made for. Launch with [`BUILD_BLOCK`] threads and [`build_grid`] blocks.
#[kernel(launch_bounds(BUILD_THREADS), pdl)]
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
    let cells = CellGrid {
        origin_x,
        origin_y,
        cells_per_length,
        n_columns,
        n_rows,
    };
    grid::wait_for_previous();
    grid::let_next_start();
    let own = thread::index_1d();
    if own >= n_atoms {
        return;
    }
    let at = *sorted.add(own as usize);
    let atom = *sorted_atoms.add(own as usize);
    let (column, row) = (cells.column(at.x), cells.row(at.y));
    let first_column = column.saturating_sub(1);
    let end_column = (column + 2).min(n_columns);
    // The sorted atoms of the three cells of a row: where they start, and how
    // many there are; none outside the grid.
    let run = |row: u32| {
        if row < n_rows {
            let start = |column: u32| *starts.add((row * n_columns + column) as usize);
            let first = start(first_column);
            (first, start(end_column) - first)
        } else {
            (0, 0)
        }
    };
    // Row −1 is, as a u32, outside the grid too. One loop goes over all three
    // runs: a warp iterates as often as its lane with the most atoms to look
    // at, not as often as the longest first run, second run and third run
    // together.
    let around = Around::new([run(row.wrapping_sub(1)), run(row), run(row + 1)]);

    // Which of the atoms around are near, from number `first` on: bit 0 for the
    // first, and so on.
    let near_from = |first: u32| {
        let end = around.len().min(first + MASK_ATOMS);
        let mut near = 0;
        let mut i = first;
        while i < end {
            // Beyond the end, the last atom again: its bit stays what it is.
            let [a, b, c, d] = [i, i + 1, i + 2, i + 3].map(|i| if i < end { i } else { end - 1 });
            let position = |i: u32| *sorted.add(around.sorted(i) as usize);
            let (at_a, at_b, at_c, at_d) = (position(a), position(b), position(c), position(d));
            let bit = |i: u32, there: Float2| {
                u32::from(are_near(there.x - at.x, there.y - at.y, cutoff_squared)) << (i - first)
            };
            near |= bit(a, at_a) | bit(b, at_b) | bit(c, at_c) | bit(d, at_d);
            i += 4;
        }
        // An atom is near itself, but not its own neighbour.
        match around.beside(own).wrapping_sub(first) {
            itself @ 0..MASK_ATOMS => near & !(1 << itself),
            _ => near,
        }
    };
    let who = |i: u32| *sorted_atoms.add(around.sorted(i) as usize);
    let store = |k: u32, neighbor: u32| *list.add(place_by_place(atom, k, n_atoms)) = neighbor;

    if around.len() <= MASK_ATOMS {
        let mut near = near_from(0);
        let count = near.count_ones();
        if count <= 4 {
            // The common case, in graphene and in most of nature.
            let mut next = |k: u32| {
                if k < count {
                    let i = near.trailing_zeros();
                    near &= near - 1;
                    who(i)
                } else {
                    u32::MAX
                }
            };
            let [a, b, c, d] = sort_four([next(0), next(1), next(2), next(3)]);
            *n_neighbors.add(atom as usize) = count;
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
    }

    let mut count = 0;
    let mut neighbors: Neighbors = [u32::MAX; MAX_NEIGHBORS as usize];
    let mut first = 0;
    while first < around.len() {
        let mut near = near_from(first);
        count += near.count_ones();
        while near != 0 {
            insert(&mut neighbors, who(first + near.trailing_zeros()));
            near &= near - 1;
        }
        first += MASK_ATOMS;
    }
    *n_neighbors.add(atom as usize) = count;
    for (k, neighbor) in (0..MAX_NEIGHBORS).zip(neighbors) {
        if k < count {
            store(k, neighbor);
        }
    }
    if count > MAX_NEIGHBORS {
        atomic::min(overflow, atom, Global, Device, Relaxed);
    }
}

/// Threads in a block of [`neighbor_cells_build`].
const BUILD_THREADS: u32 = 128;

/// Block of [`neighbor_cells_build`], in threads.
pub const BUILD_BLOCK: [u32; 3] = [BUILD_THREADS, 1, 1];

/// Grid of [`neighbor_cells_build`]: a thread per atom, and at least one block,
/// since no launch may be empty.
pub const fn build_grid(n_atoms: u32) -> [u32; 3] {
    let n_blocks = n_atoms.div_ceil(BUILD_THREADS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

#[cfg(test)]
mod tests {
    use super::{Around, Neighbors, insert, sort_four};

    #[test]
    fn the_atoms_around_are_three_runs() {
        let around = Around::new([(10, 2), (50, 0), (3, 3)]);
        let sorted = [0, 1, 2, 3, 4].map(|i| around.sorted(i));
        assert_eq!((around.len(), sorted), (5, [10, 11, 3, 4, 5]));
        let around = Around::new([(0, 0), (7, 3), (90, 1)]);
        let sorted = [0, 1, 2, 3].map(|i| around.sorted(i));
        assert_eq!((around.len(), sorted), (4, [7, 8, 9, 90]));
        assert_eq!([7, 8, 9].map(|sorted| around.beside(sorted)), [0, 1, 2]);
    }

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

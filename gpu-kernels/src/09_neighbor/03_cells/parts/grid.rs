//! The cells that the plane is divided into.

use super::SCAN_TILE;
use cuda_std::convert::whole_part;

/// The cells that the plane is divided into.
/// They need not cover all atoms: one outside belongs to the nearest cell at the
/// border, which keeps near atoms in neighbouring cells.
/// border, which keeps near atoms in neighbouring cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellGrid {
    /// Where the first cell begins, along x, in Å.
    pub origin_x: f32,
    /// Where the first cell begins, along y, in Å.
    pub origin_y: f32,
    /// Cells per Å.
    pub cells_per_length: f32,
    /// Cells in a row.
    pub n_columns: u32,
    /// Rows of cells.
    pub n_rows: u32,
}

/// Most cells along an axis.
const MAX_SIDE_CELLS: u32 = 1 << 15;
/// How much wider than the cut-off a cell is, at least.
const MARGIN: f32 = 1.01;
// An atom's place along an axis, counted in cells, is rounded twice: it is wrong
// by up to `place · 2⁻²³`. Two atoms that are near, at most 1 / MARGIN cells
// apart (and a little, since distances are rounded as well), must not seem more
// than 1 apart.
const _: () =
    assert!(1.0 / MARGIN as f64 + 2.0 * MAX_SIDE_CELLS as f64 / (1 << 23) as f64 + 1e-6 < 1.0);

impl CellGrid {
    /// Cells over the rectangle from `min` to `max`, for the cut-off distance
    /// `cutoff` (not squared). Where atoms are few, the cells are wider than
    /// necessary, so that there are not many more cells than atoms.
    pub fn over(min: [f32; 2], max: [f32; 2], cutoff: f32, n_atoms: u32) -> Self {
        let n_cells_wanted = n_atoms.saturating_mul(2).saturating_add(64);
        let mut side = cutoff * MARGIN;
        // A cast from a float saturates, and NaN becomes 0.
        let n_along =
            |axis: usize, side: f32| (((max[axis] - min[axis]) / side) as u32).saturating_add(1);
        let fits = |side: f32| {
            let (n_columns, n_rows) = (n_along(0, side), n_along(1, side));
            n_columns <= MAX_SIDE_CELLS
                && n_rows <= MAX_SIDE_CELLS
                && n_columns.saturating_mul(n_rows) <= n_cells_wanted
        };
        while !fits(side) && side.is_finite() {
            side *= 1.25;
        }
        Self {
            origin_x: min[0],
            origin_y: min[1],
            cells_per_length: 1.0 / side,
            n_columns: n_along(0, side),
            n_rows: n_along(1, side),
        }
    }

    /// Number of cells.
    pub const fn n_cells(&self) -> u32 {
        self.n_columns * self.n_rows
    }

    /// Length in elements of the arrays of counts and starts: one more than there
    /// are cells, so that the last cell's end is the start of the next, and
    /// rounded up to whole tiles of the scan.
    pub const fn padded_len(&self) -> u32 {
        (self.n_cells() + 1).next_multiple_of(SCAN_TILE)
    }

    /// The column of the cell of an atom at `x`.
    #[inline(always)]
    pub fn column(&self, x: f32) -> u32 {
        nearest_cell((x - self.origin_x) * self.cells_per_length, self.n_columns)
    }

    /// The row of the cell of an atom at `y`.
    #[inline(always)]
    pub fn row(&self, y: f32) -> u32 {
        nearest_cell((y - self.origin_y) * self.cells_per_length, self.n_rows)
    }
}

/// The cell at `place` cells from the origin, of `n` along the axis.
#[inline(always)]
fn nearest_cell(place: f32, n: u32) -> u32 {
    // Below 0 and NaN become 0.
    whole_part(place).min(n - 1)
}

/// Index of the cell of an atom at `(x, y)`.
#[inline(always)]
pub fn cell_index(grid: &CellGrid, x: f32, y: f32) -> u32 {
    grid.row(y) * grid.n_columns + grid.column(x)
}

/// Grid of [`neighbor_cells_scan`](super::neighbor_cells_scan).
pub const fn scan_grid(grid: &CellGrid) -> [u32; 3] {
    [grid.padded_len() / SCAN_TILE, 1, 1]
}

#[cfg(test)]
mod tests {
    use super::{CellGrid, MAX_SIDE_CELLS, cell_index};
    use crate::neighbor::SCAN_TILE;

    #[test]
    fn near_atoms_are_in_neighbouring_cells() {
        let cutoff = 1.9_f32;
        let extent = MAX_SIDE_CELLS as f32 * cutoff * 1.01;
        let grid = CellGrid::over([-7.0, 3.0], [extent - 8.0, 4.0], cutoff, u32::MAX);
        assert!(grid.n_columns > MAX_SIDE_CELLS - 2, "{grid:?}");
        // Pairs just within the cut-off of each other, all along the row.
        let mut x = -7.0_f32;
        while x < extent - 12.0 {
            let mut other = x + cutoff;
            while other - x >= cutoff {
                other = other.next_down();
            }
            assert!(grid.column(other) - grid.column(x) <= 1, "{x} and {other}");
            x += 0.37;
        }
    }

    #[test]
    fn an_atom_outside_counts_to_the_border() {
        let grid = CellGrid::over([0.0, 0.0], [19.0, 19.0], 1.9, 1000);
        assert_eq!((grid.column(-1e9), grid.row(f32::NAN)), (0, 0));
        assert_eq!(grid.column(1e9), grid.n_columns - 1);
        assert_eq!(cell_index(&grid, 1e9, 1e9), grid.n_cells() - 1);
    }

    #[test]
    fn cells_are_not_many_more_than_atoms() {
        for extent in [0.0, 1.0, 1e3, 1e6, 1e30, f32::INFINITY] {
            for n_atoms in [0, 1, 100, 1_000_000] {
                let grid = CellGrid::over([0.0, 0.0], [extent, extent], 1.9, n_atoms);
                assert!(grid.n_cells() <= 2 * n_atoms + 64, "{grid:?}");
                assert!(grid.n_cells() >= 1 && grid.padded_len() > grid.n_cells());
                assert!(grid.padded_len().is_multiple_of(SCAN_TILE));
            }
        }
    }
}

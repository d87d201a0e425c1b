//! The tile of C that a block computes.
//!
//! Blocks start in index order, and as many run at a time as fit the device:
//! a *wave*. A wave should read as little of A and B as possible, so that it stays in the
//! second-level cache. Row by row, a wave of 132 blocks would be a few rows of tiles, each with
//! all of B. So rows of tiles are grouped, and within a group blocks go down its
//! columns first:
//!
//! ```text
//!     groups of 3     0  3  6  9
//!                     1  4  7 10
//!                     2  5  8 11
//!                    12 14 16 18       the last group has what is left
//!                    13 15 17 19
//! ```

use super::matrices::min;
use crate::quotient::quotient;

/// Row and column of the tile of block `block`, where C has `rows` by `columns` tiles, and
/// groups are of `group` rows.
#[inline(always)]
pub const fn tile_of(block: u32, rows: u32, columns: u32, group: u32) -> (u32, u32) {
    let first_row = quotient(block, group * columns) * group;
    let within = block - first_row * columns;
    let height = min(group, rows - first_row);
    let column = quotient(within, height);
    (first_row + within - column * height, column)
}

#[cfg(test)]
mod tests {
    use super::tile_of;

    #[test]
    fn groups_are_as_in_the_picture() {
        let tiles: [(u32, u32); 20] = core::array::from_fn(|block| tile_of(block as u32, 5, 4, 3));
        assert_eq!(tiles[..4], [(0, 0), (1, 0), (2, 0), (0, 1)]);
        assert_eq!(tiles[11], (2, 3));
        assert_eq!(tiles[12..15], [(3, 0), (4, 0), (3, 1)]);
        assert_eq!(tiles[19], (4, 3));
    }

    #[test]
    fn every_tile_has_one_block() {
        for (rows, columns, group) in [(1, 1, 8), (5, 4, 3), (8, 3, 8), (17, 5, 8), (3, 7, 1)] {
            let mut taken = [[false; 8]; 32];
            for block in 0..rows * columns {
                let (row, column) = tile_of(block, rows, columns, group);
                assert!(row < rows && column < columns);
                let taken = &mut taken[row as usize][column as usize];
                assert!(!core::mem::replace(taken, true), "({row}, {column}) twice");
            }
        }
    }
}

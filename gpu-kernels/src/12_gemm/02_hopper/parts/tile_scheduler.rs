//! The tile scheduler: the order in which tiles are computed.
//!
//! Tiles that are computed at the same time should share operands: then most copies find them in
//! the L2 cache. 132 tiles side by side in one row of C need 132 different tiles of B; as a block
//! of 16 × 8 they need 16 of A and 8 of B. So rows of tiles are taken in groups, a column
//! of a group at a time; every other group starts from the right, since the last columns of B are
//! still in the cache.

use super::Sizes;
use crate::quotient::quotient;

/// A tile's place among the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePlace {
    /// Row of tiles.
    pub row: u32,
    /// Column of tiles.
    pub column: u32,
}

/// The tiles of C, each of this many rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    rows: u32,
    columns: u32,
    /// Rows of tiles in a group.
    group: u32,
}

impl Tiles {
    /// The tiles of a product.
    #[inline(always)]
    pub const fn new(sizes: Sizes, tile_m: u32, tile_n: u32, group: u32) -> Self {
        Self {
            rows: sizes.m.div_ceil(tile_m),
            columns: sizes.n.div_ceil(tile_n),
            group,
        }
    }

    /// The number of tiles.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.rows * self.columns
    }

    /// The place of the tile with this number.
    #[inline(always)]
    pub const fn place(self, number: u32) -> TilePlace {
        let in_group = self.group * self.columns;
        let group = quotient(number, in_group);
        let first = group * self.group;
        let left = self.rows - first;
        let height = if left < self.group { left } else { self.group };
        let within = number - group * in_group;
        let column = quotient(within, height);
        TilePlace {
            row: first + (within - column * height),
            column: if group & 1 == 1 {
                self.columns - 1 - column
            } else {
                column
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_has_one_number() {
        for (m, n, group) in [
            (1, 1, 16),
            (1000, 3000, 4),
            (4096, 4096, 16),
            (128, 5000, 7),
        ] {
            let tiles = Tiles::new(Sizes { m, n, k: 1 }, 128, 256, group);
            let mut places: Vec<_> = (0..tiles.count())
                .map(|number| tiles.place(number))
                .map(|place| (place.row, place.column))
                .collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), tiles.count() as usize);
            assert!(
                places
                    .iter()
                    .all(|&(row, column)| row < m.div_ceil(128) && column < n.div_ceil(256))
            );
        }
    }
}

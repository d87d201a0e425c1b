//! The places of a tile's elements in shared memory, before and after a layout.

use crate::{BANKS, Invalid, LINE_BYTES, Layout, Pattern, Tile, WORD_BYTES};

/// A tile by places. Its unit is the vector that the layout keeps together, of at most 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileMap {
    /// The tile.
    pub tile: Tile,
    /// Its layout.
    pub layout: Layout,
    /// Elements of a vector.
    pub vector: u32,
    /// The place of each vector, row by row, in elements.
    pub places: Vec<u32>,
    /// The lane that accesses each vector, where an access is shown.
    pub marked: Vec<Option<u8>>,
}

impl TileMap {
    /// The map of a tile under a layout, by the longest vectors that the layout keeps together.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn new(tile: Tile, layout: Layout) -> Result<Self, Invalid> {
        let vector = layout.vector(&tile)?;
        Self::by_vectors(tile, layout, vector)
    }

    /// The same by vectors of this many elements, or shorter ones if the layout does not keep
    /// that many together.
    ///
    /// # Errors
    ///
    /// The layout does not suit this tile.
    pub fn by_vectors(tile: Tile, layout: Layout, vector: u32) -> Result<Self, Invalid> {
        let vector = layout.vector(&tile)?.min(vector.max(1));
        let places = layout.all_places(&tile)?;
        let places: Vec<u32> = places.into_iter().step_by(vector as usize).collect();
        Ok(Self {
            tile,
            layout,
            vector,
            marked: vec![None; places.len()],
            places,
        })
    }

    /// The map of a tile that is accessed, by the vectors that a lane accesses at once, with the
    /// lanes of the access marked.
    ///
    /// # Errors
    ///
    /// The layout or the pattern does not suit this tile.
    pub fn accessed(tile: Tile, layout: Layout, pattern: &Pattern) -> Result<Self, Invalid> {
        let map = Self::by_vectors(tile, layout, pattern.vector(&tile))?;
        Ok(map.marking(&pattern.elements(&tile)?))
    }

    /// The same with marks on the vectors that hold these elements, which lanes access in order.
    pub fn marking(mut self, elements: &[(u32, u32)]) -> Self {
        for (lane, &(row, column)) in elements.iter().enumerate() {
            if self.tile.has(row, column) {
                let at = (row * self.vectors_per_row() + column / self.vector) as usize;
                self.marked[at] = self.marked[at].or(Some(lane as u8));
            }
        }
        self
    }

    /// Vectors of a row of the tile.
    pub fn vectors_per_row(&self) -> u32 {
        self.tile.columns().div_ceil(self.vector)
    }

    /// The first bank of a vector.
    pub fn bank(&self, row: u32, vector: u32) -> u32 {
        let place = self.places[(row * self.vectors_per_row() + vector) as usize];
        place * self.tile.element_bytes() / WORD_BYTES % BANKS
    }

    /// Bytes of memory that it takes.
    pub fn n_bytes(&self) -> u32 {
        let last = self.places.iter().max().copied().unwrap_or(0);
        (last + self.vector) * self.tile.element_bytes()
    }

    /// The memory by lines of 128 bytes: for each vector's place, the vector that lies there, as
    /// row and number in the row; `None` where there is nothing.
    pub fn memory(&self) -> Vec<Vec<Option<(u32, u32)>>> {
        let bytes = self.vector * self.tile.element_bytes();
        let per_line = (LINE_BYTES / bytes) as usize;
        let n_lines = self.n_bytes().div_ceil(LINE_BYTES) as usize;
        let mut lines = vec![vec![None; per_line]; n_lines];
        for (at, place) in self.places.iter().enumerate() {
            let of_vector = (place / self.vector) as usize;
            let row = at as u32 / self.vectors_per_row();
            let in_row = at as u32 % self.vectors_per_row();
            lines[of_vector / per_line][of_vector % per_line] = Some((row, in_row));
        }
        lines
    }

    /// What the map shows, in a sentence.
    pub fn summary(&self) -> String {
        let (rows, columns) = (self.tile.rows(), self.tile.columns());
        let bytes = self.tile.element_bytes();
        let unit = match self.vector * bytes {
            n if n == bytes => "elements".to_owned(),
            n => format!("vectors of {n} bytes"),
        };
        format!(
            "{rows}×{columns} elements of {bytes} bytes, {}: bank of its {unit}, {} bytes in all",
            self.layout,
            self.n_bytes()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::TileMap;
    use crate::Tile;

    fn map(tile: (u32, u32, u32), layout: &str) -> TileMap {
        let tile = Tile::new(tile.0, tile.1, tile.2).unwrap();
        TileMap::new(tile, layout.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_column_of_a_plain_square_is_one_bank() {
        let map = map((32, 32, 4), "swizzle:5,0,5");
        let banks: Vec<u32> = (0..4).map(|row| map.bank(row, 1)).collect();
        assert_eq!(banks, [1, 0, 3, 2]);
    }

    #[test]
    fn memory_is_the_tile_the_other_way_round() {
        for layout in ["plain", "pad:1", "swizzle:3,3,3", "xor:16,128"] {
            let map = map((16, 64, 2), layout);
            let memory = map.memory();
            let vector = map.vector as usize;
            let mut n = 0;
            for (line, cells) in memory.iter().enumerate() {
                for (at, cell) in cells.iter().enumerate() {
                    let Some((row, of_row)) = cell else { continue };
                    let place = map.places[(row * map.vectors_per_row() + of_row) as usize];
                    assert_eq!(place as usize, (line * cells.len() + at) * vector);
                    n += 1;
                }
            }
            assert_eq!(n, map.places.len(), "{layout}");
        }
    }

    #[test]
    fn marks_are_lanes() {
        let tile = Tile::new(32, 32, 4).unwrap();
        let map = TileMap::by_vectors(tile, "plain".parse().unwrap(), 1).unwrap();
        let map = map.marking(&[(0, 3), (1, 3), (40, 3)]);
        assert_eq!(map.marked[3], Some(0));
        assert_eq!(map.marked[32 + 3], Some(1));
        assert_eq!(map.marked.iter().flatten().count(), 2);
    }
}

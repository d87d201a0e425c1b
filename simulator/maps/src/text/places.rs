//! A tile map as text: the bank of each vector.

use crate::TileMap;

/// Rows that are shown.
const MOST_ROWS: u32 = 32;
/// Columns that a vector takes.
const CELL: usize = 3;
const MARGIN: usize = 7;

impl TileMap {
    /// The bank of each vector, in lines of so many columns, those that lanes access marked
    /// with `*`.
    pub fn text(&self, columns: usize) -> String {
        let mut text = self.summary();
        text.push('\n');
        let room = (columns.saturating_sub(MARGIN) / CELL).max(1) as u32;
        let n_vectors = self.vectors_per_row();
        let shown = n_vectors.min(room);
        for row in 0..self.tile.rows().min(MOST_ROWS) {
            text.push_str(&format!("row {row:>2}:"));
            for vector in 0..shown {
                let is_marked = self.marked[(row * n_vectors + vector) as usize].is_some();
                let mark = if is_marked { '*' } else { ' ' };
                text.push_str(&format!("{:>2}{mark}", self.bank(row, vector)));
            }
            let cut = if shown < n_vectors { "…" } else { "" };
            text.truncate(text.trim_end().len());
            text.push_str(cut);
            text.push('\n');
        }
        if self.tile.rows() > MOST_ROWS {
            text.push_str(&format!("… {} more rows\n", self.tile.rows() - MOST_ROWS));
        }
        if self.marked.iter().any(Option::is_some) {
            text.push_str("* what the lanes access\n");
        }
        text
    }
}

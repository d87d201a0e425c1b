//! A tile map as text: the bank of each vector.

use crate::TileMap;
use std::ops::Range;

/// Rows that are shown.
const MOST_ROWS: u32 = 32;
/// Columns that a vector takes.
const CELL: usize = 3;
/// Columns of a row's number.
const MARGIN: usize = 4;
/// Vectors of a row that are shown at any width, in parts one below another: the number
/// of banks, so that all are shown if a vector has one.
const ALWAYS: u32 = 32;
/// Vectors of such a part, if there is room.
const PART: u32 = 16;

impl TileMap {
    /// The bank of each vector, in lines of this many columns; accessed vectors are marked
    /// with `*`.
    pub fn text(&self, columns: usize) -> String {
        let mut text = self.summary();
        text.push('\n');
        let room = (columns.saturating_sub(MARGIN) / CELL).max(1) as u32;
        let n_vectors = self.vectors_per_row();
        let shown = n_vectors.min(room.max(ALWAYS));
        let part = if shown <= room { room } else { room.min(PART) };
        for first in (0..shown).step_by(part as usize) {
            self.push_part(&mut text, first..shown.min(first + part));
        }
        if shown < n_vectors {
            text.push_str(&format!("… {} more in each row\n", n_vectors - shown));
        }
        if self.tile.rows() > MOST_ROWS {
            text.push_str(&format!("… {} more rows\n", self.tile.rows() - MOST_ROWS));
        }
        if self.marked.iter().any(Option::is_some) {
            text.push_str("* accessed by the lanes\n");
        }
        text
    }

    /// These vectors of each row.
    fn push_part(&self, text: &mut String, vectors: Range<u32>) {
        let n_vectors = self.vectors_per_row();
        if vectors.len() < n_vectors as usize {
            let (first, last) = (vectors.start * self.vector, vectors.end * self.vector - 1);
            text.push_str(&format!("columns {first} to {last}:\n"));
        }
        for row in 0..self.tile.rows().min(MOST_ROWS) {
            text.push_str(&format!("{row:>2}: "));
            for vector in vectors.clone() {
                let is_marked = self.marked[(row * n_vectors + vector) as usize].is_some();
                let mark = if is_marked { '*' } else { ' ' };
                text.push_str(&format!("{:>2}{mark}", self.bank(row, vector)));
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
    }
}

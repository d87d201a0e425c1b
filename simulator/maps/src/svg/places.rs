//! A tile map as a picture: the tile with the bank of each vector, and the memory with its
//! contents.

use super::drawing::Drawing;
use crate::{LINE_BYTES, TileMap, WORD_BYTES};

const CELL: (u32, u32) = (24, 18);
const LEFT: u32 = 64;
/// Rows and vectors that are drawn.
const MOST: u32 = 64;

impl TileMap {
    /// The tile as the kernel sees it: the bank of each vector, accessed vectors framed.
    pub fn svg(&self) -> String {
        let mut drawing = Drawing::new();
        drawing.heading("map-head", (4, 16), &self.summary());
        drawing.text("map-faint map-end", (LEFT - 8, 38), self.unit());
        let n_vectors = self.vectors_per_row();
        for vector in 0..n_vectors.min(MOST) {
            let at = (LEFT + vector * CELL.0 + CELL.0 / 2, 38);
            drawing.text("map-faint map-center", at, &vector.to_string());
        }
        for row in 0..self.tile.rows().min(MOST) {
            let y = 44 + row * CELL.1;
            drawing.text(
                "map-faint map-end",
                (LEFT - 8, y + 13),
                &format!("row {row}"),
            );
            for vector in 0..n_vectors.min(MOST) {
                self.draw_vector(&mut drawing, (row, vector), (LEFT + vector * CELL.0, y));
            }
        }
        drawing.finish("Tile map", &self.summary())
    }

    /// The memory: in each line of 128 bytes the vector at each place, as `row.vector`;
    /// accessed vectors framed.
    pub fn svg_of_memory(&self) -> String {
        let mut drawing = Drawing::new();
        let bytes = self.vector * self.tile.element_bytes();
        let width = (CELL.0 * bytes / WORD_BYTES).max(CELL.0);
        // Wider numbers than `9.10` fit into the narrowest cells only if they are small.
        let small = if width == CELL.0 { " map-small" } else { "" };
        let heading = format!("{} in memory: row.{} by bank", self.layout, self.unit());
        drawing.heading("map-head", (4, 16), &heading);
        for at in 0..LINE_BYTES / bytes {
            let bank = at * bytes / WORD_BYTES;
            let x = LEFT + at * width + width / 2;
            drawing.text("map-faint map-center", (x, 38), &bank.to_string());
        }
        drawing.text("map-faint map-end", (LEFT - 8, 38), "bank");
        for (number, line) in self.memory().iter().enumerate().take(MOST as usize) {
            let y = 44 + number as u32 * CELL.1;
            let offset = format!("+{} B", number as u32 * LINE_BYTES);
            drawing.text("map-faint map-end", (LEFT - 8, y + 13), &offset);
            for (at, cell) in line.iter().enumerate() {
                let x = LEFT + at as u32 * width;
                drawing.cell("map-none", (x, y), (width, CELL.1), "");
                let Some((row, vector)) = *cell else { continue };
                let lane = self.marked[(row * self.vectors_per_row() + vector) as usize];
                let kind = if lane.is_some() {
                    "map-lane"
                } else {
                    "map-none"
                };
                let told = format!("row {row}, {} {vector}", self.unit());
                drawing.cell(kind, (x + 1, y + 1), (width - 2, CELL.1 - 2), &told);
                let text = format!("{row}.{vector}");
                let class = match lane {
                    Some(_) => format!("map-center map-on-lane{small}"),
                    None => "map-center map-small map-faint".to_owned(),
                };
                drawing.text(&class, (x + width / 2, y + 13), &text);
            }
        }
        drawing.finish("Memory map", &heading)
    }

    /// What a cell is, in words.
    fn unit(&self) -> &'static str {
        match self.vector {
            1 => "column",
            _ => "vector",
        }
    }

    fn draw_vector(&self, drawing: &mut Drawing, (row, vector): (u32, u32), (x, y): (u32, u32)) {
        let lane = self.marked[(row * self.vectors_per_row() + vector) as usize];
        let bank = self.bank(row, vector);
        let cell = format!("row {row}, {} {vector}: bank {bank}", self.unit());
        let told = match lane {
            Some(lane) => format!("{cell}, lane {lane}"),
            None => cell,
        };
        drawing.cell("map-none", (x, y), CELL, "");
        let class = if lane.is_some() {
            drawing.cell("map-lane", (x + 1, y + 1), (CELL.0 - 2, CELL.1 - 2), &told);
            "map-center map-on-lane"
        } else {
            "map-center map-faint"
        };
        drawing.text(class, (x + CELL.0 / 2, y + 13), &bank.to_string());
    }
}

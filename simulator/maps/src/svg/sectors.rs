//! A sector map as a picture: a row for each line of 128 bytes, a cell for each word.

use super::drawing::Drawing;
use crate::sectors::Line;
use crate::{SectorMap, lanes_in_words};

const CELL: (u32, u32) = (24, 18);
const LEFT: u32 = 84;
const GAP: u32 = 8;
/// Lines that are drawn.
const MOST_LINES: usize = 32;

impl SectorMap {
    /// The picture: bytes that are used, that move but are not used, and that do not move.
    pub fn svg(&self) -> String {
        let mut drawing = Drawing::new();
        drawing.heading("map-head", (4, 16), &self.summary());
        for sector in 0..4 {
            let at = (word_x(8 * sector) + 4 * CELL.0, 40);
            drawing.text("map-faint map-center", at, &format!("sector {sector}"));
        }
        let mut y = 48;
        for line in self.lines.iter().take(MOST_LINES) {
            let offset = format!("+{} B", line.offset);
            drawing.text("map-faint map-end", (LEFT - 8, y + 13), &offset);
            draw_line(&mut drawing, line, y);
            y += CELL.1 + 4;
        }
        if self.lines.len() > MOST_LINES {
            let more = format!("… {} more lines", self.lines.len() - MOST_LINES);
            drawing.text("map-faint", (LEFT, y + 13), &more);
        }
        drawing.finish("Sector map", &self.summary())
    }
}

fn word_x(word: u32) -> u32 {
    LEFT + word * CELL.0 + word / 8 * GAP
}

fn draw_line(drawing: &mut Drawing, line: &Line, y: u32) {
    for word in 0..32 {
        let (x, used) = (word_x(word), line.used_of_word(word));
        let is_moved = line.is_moved(word / 8);
        let lanes = line.words.get(&word).map_or(&[][..], Vec::as_slice);
        if is_moved {
            let title = match used {
                0 => format!(
                    "bytes +{}: moved, not used",
                    line.offset + u64::from(4 * word)
                ),
                _ => format!(
                    "bytes +{}: {used} of 4 used by lanes {}",
                    line.offset + u64::from(4 * word),
                    lanes_in_words(lanes)
                ),
            };
            drawing.cell(
                "map-waste",
                (x + 1, y + 1),
                (CELL.0 - 2, CELL.1 - 2),
                &title,
            );
            if used > 0 {
                let width = (CELL.0 - 2) * used / 4;
                drawing.cell("map-lane", (x + 1, y + 1), (width, CELL.1 - 2), &title);
            }
        } else {
            drawing.cell("map-none", (x, y), CELL, "");
        }
        if let Some(first) = lanes.first() {
            let more = if lanes.len() > 1 { "+" } else { "" };
            let text = format!("{first}{more}");
            drawing.text("map-center map-on-lane", (x + CELL.0 / 2, y + 13), &text);
        }
    }
}

//! A timeline as a picture: a row for each warp, steps from left to right.

use super::drawing::Drawing;
use crate::Timeline;
use crate::timeline::{Row, Span, SpanKind};

const STEP: u32 = 6;
const ROW: u32 = 34;
/// Above a row's spans: the letters of its marks.
const LETTERS: u32 = 9;
const LEFT: u32 = 64;

impl Timeline {
    /// The picture.
    pub fn svg(&self) -> String {
        let mut drawing = Drawing::new();
        drawing.heading("map-head", (4, 16), &self.summary());
        let mut y = self.draw_legend(&mut drawing, 28);
        let right = LEFT + self.n_steps * STEP;
        for row in &self.warps {
            drawing.text(
                "map-faint map-end",
                (LEFT - 8, y + LETTERS + 14),
                &format!("warp {}", row.warp),
            );
            drawing.line("map-line", (LEFT, y + ROW - 3), (right, y + ROW - 3));
            draw_row(&mut drawing, row, y);
            y += ROW;
        }
        if !self.copies.is_empty() {
            drawing.text("map-faint map-end", (LEFT - 8, y + 16), "bulk");
            for (i, span) in self.copies.iter().enumerate() {
                let top = y + 2 + (i as u32 % 4) * 5;
                draw_span(&mut drawing, span, (top, 4));
            }
            y += ROW;
        }
        if !self.phases.is_empty() {
            drawing.text("map-faint map-end", (LEFT - 8, y + 16), "phases");
            for (step, barrier) in &self.phases {
                let told = format!("the phase of the mbarrier at byte {barrier} ends");
                drawing.cell("map-marked", (LEFT + step * STEP, y + 4), (2, 14), &told);
            }
        }
        drawing.finish("Timeline", &self.summary())
    }

    /// Draws the legend; returns its lower end.
    fn draw_legend(&self, drawing: &mut Drawing, top: u32) -> u32 {
        let (marks, spans) = self.kinds();
        let mut x = LEFT;
        for kind in spans {
            drawing.cell(class(kind), (x, top), (18, 8), "");
            drawing.heading("map-faint", (x + 24, top + 9), kind.words());
            x += 40 + 6 * kind.words().len() as u32;
        }
        let mut x = LEFT;
        for kind in marks {
            let text = format!("{} {}", kind.letter(), kind.words());
            drawing.heading("map-faint", (x, top + 28), &text);
            x += 16 + 6 * text.chars().count() as u32;
        }
        top + 40
    }
}

fn class(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Waiting => "map-waste",
        SpanKind::Copying | SpanKind::BulkCopy => "map-lane",
        SpanKind::Multiplying => "map-used",
    }
}

fn draw_row(drawing: &mut Drawing, row: &Row, y: u32) {
    for span in &row.spans {
        let place = match span.kind {
            SpanKind::Waiting => (y + LETTERS + 3, 6),
            SpanKind::Copying | SpanKind::BulkCopy => (y + LETTERS + 10, 4),
            SpanKind::Multiplying => (y + LETTERS + 16, 4),
        };
        draw_span(drawing, span, place);
    }
    for mark in &row.marks {
        let told = format!("warp {} {}", row.warp, mark.kind.words());
        let x = LEFT + mark.step * STEP;
        let height = ROW - LETTERS - 6;
        drawing.cell("map-marked", (x, y + LETTERS + 2), (2, height), &told);
        let letter = mark.kind.letter();
        if letter != '|' {
            let at = (x + 1, y + LETTERS);
            drawing.text("map-small map-center", at, &letter.to_string());
        }
    }
}

fn draw_span(drawing: &mut Drawing, span: &Span, (y, height): (u32, u32)) {
    let width = (span.to.max(span.from + 1) - span.from) * STEP;
    let x = LEFT + span.from * STEP;
    drawing.cell(class(span.kind), (x, y), (width, height), span.kind.words());
}

//! A text over everything else.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::parts::{DIM, STRONG, put};
use crate::popup::Popup;

/// Draws the text, in a frame as large as it needs.
pub fn draw(popup: &mut Popup, buffer: &mut Buffer, all: Rect) {
    let lines = popup.wrapped(usize::from(all.width.saturating_sub(4)));
    let widest = lines.iter().map(|line| Span::raw(line).width()).max();
    let width = (widest.unwrap_or(0).max(popup.title.len() + 2) + 4).min(all.width.into()) as u16;
    let height = (lines.len() + 2).min(all.height.into()) as u16;
    let area = Rect::new(
        all.x + (all.width - width) / 2,
        all.y + (all.height - height) / 2,
        width,
        height,
    );
    popup.n_rows = lines.len();
    popup.height = usize::from(height.saturating_sub(2)).max(1);
    popup.scroll(0);
    let inner = usize::from(width.saturating_sub(2));
    let rule = "─".repeat(inner);
    let edge = |left: &str, right: &str| Line::styled(format!("{left}{rule}{right}"), DIM);
    put(buffer, area, 0, &edge("┌", "┐"));
    for (row, line) in (1..height.saturating_sub(1)).zip(&lines[popup.first..]) {
        put(buffer, area, row, &Line::raw(" ".repeat(width.into())));
        put(
            buffer,
            area,
            row,
            &Line::from(vec![Span::styled("│ ", DIM), Span::raw(line)]),
        );
        buffer.set_string(area.right() - 1, area.y + row, "│", DIM);
        buffer.set_string(area.right().saturating_sub(2), area.y + row, " ", DIM);
    }
    put(buffer, area, height.saturating_sub(1), &edge("└", "┘"));
    let place = Rect::new(area.x + 1, area.y, width.saturating_sub(2), area.height);
    put(
        buffer,
        place,
        0,
        &Line::styled(format!(" {} ", popup.title), STRONG),
    );
    let n = lines.len();
    let last = (popup.first + popup.height).min(n);
    if n > popup.height {
        let text = format!(
            " {}-{last} of {n}: arrows, PgUp, PgDn; Esc closes ",
            popup.first + 1
        );
        put(
            buffer,
            place,
            height.saturating_sub(1),
            &Line::styled(text, DIM),
        );
    }
}

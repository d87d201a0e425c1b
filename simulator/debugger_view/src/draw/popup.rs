//! A text over everything else.

use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::parts::{Canvas, DIM, STRONG};
use crate::popup::Popup;

/// Draws the text, in a frame as large as it needs.
pub fn draw(popup: &mut Popup, mut canvas: Canvas<'_>) {
    let all = canvas.area;
    let lines = popup.wrapped(usize::from(all.width.saturating_sub(4)));
    let widest = lines.iter().map(|line| Span::raw(line).width()).max();
    let width = widest.unwrap_or(0).max(popup.title.len() + 2) + 4;
    let width = width.min(all.width.into()) as u16;
    let height = (lines.len() + 2).min(all.height.into()) as u16;
    let (x, y) = ((all.width - width) / 2, (all.height - height) / 2);
    let area = Rect::new(all.x + x, all.y + y, width, height);
    let (n, shown) = (lines.len(), usize::from(height.saturating_sub(2)).max(1));
    popup.n_rows = n;
    popup.height = shown;
    popup.scroll(0);
    let title = Span::styled(format!(" {} ", popup.title), STRONG);
    let mut frame = Block::bordered().border_style(DIM).title(title);
    if n > shown {
        let (first, last) = (popup.first + 1, (popup.first + shown).min(n));
        let text = format!(" {first}-{last} of {n}: arrows, PgUp, PgDn; Esc closes ");
        frame = frame.title_bottom(Line::styled(text, DIM));
    }
    Clear.render(area, canvas.buffer);
    frame.render(area, canvas.buffer);
    let mut canvas = canvas.at(area.inner(Margin::new(2, 1)));
    for (row, line) in (0..).zip(&lines[popup.first..]).take(shown) {
        canvas.put(row, line.as_str());
    }
}

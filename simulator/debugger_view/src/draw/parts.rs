//! Styles, and lines in an area: parts of everything that is drawn.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// What matters less.
pub const DIM: Style = Style::new().fg(Color::DarkGray);
/// What matters more.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// What is chosen.
pub const REVERSED: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Where the thread is.
pub const CURRENT: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// What has changed.
pub const CHANGED: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
/// What is touched.
pub const TOUCHED: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// What costs time, and breakpoints.
pub const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

/// Puts a line into a row of an area, if it has that many.
pub fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    if row < area.height && area.width > 0 {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

/// A heading: a rule with a text in it.
pub fn heading(buffer: &mut Buffer, area: Rect, text: Vec<Span<'_>>) {
    let rule = "─".repeat(usize::from(area.width));
    put(buffer, area, 0, &Line::styled(rule, DIM));
    let mut spans = vec![Span::styled("─ ", DIM)];
    spans.extend(text);
    spans.push(Span::raw(" "));
    put(buffer, area, 0, &Line::from(spans));
}

/// An area without its first row.
pub fn below_heading(area: Rect) -> Rect {
    let n = area.height.min(1);
    Rect::new(area.x, area.y + n, area.width, area.height - n)
}

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
pub const CHANGED: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
pub const TOUCHED: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// What costs time, and breakpoints.
pub const BAD: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

/// A part of the screen.
pub struct Canvas<'b> {
    pub buffer: &'b mut Buffer,
    pub area: Rect,
}

impl Canvas<'_> {
    /// Another part of the same screen.
    pub fn at(&mut self, area: Rect) -> Canvas<'_> {
        let buffer = &mut *self.buffer;
        Canvas { buffer, area }
    }

    /// Without its first rows and columns.
    pub fn without(&mut self, n_rows: u16, n_columns: u16) -> Canvas<'_> {
        let Rect {
            x,
            y,
            width,
            height,
        } = self.area;
        let (right, down) = (width.min(n_columns), height.min(n_rows));
        self.at(Rect::new(x + right, y + down, width - right, height - down))
    }

    pub fn height(&self) -> usize {
        self.area.height.into()
    }

    pub fn width(&self) -> usize {
        self.area.width.into()
    }

    /// Puts a line into a row, if there are that many.
    pub fn put<'l>(&mut self, row: u16, line: impl Into<Line<'l>>) {
        let Rect {
            x,
            y,
            width,
            height,
        } = self.area;
        if row < height && width > 0 {
            self.buffer.set_line(x, y + row, &line.into(), width);
        }
    }

    /// Puts a text into a row.
    pub fn say(&mut self, row: u16, text: &str, style: Style) {
        self.put(row, Line::styled(text, style));
    }

    /// A heading in the first row: a rule with a text in it. Gives what is below.
    pub fn heading(&mut self, text: Vec<Span<'_>>) -> Canvas<'_> {
        self.say(0, &"─".repeat(self.width()), DIM);
        let mut spans = vec![Span::styled("─ ", DIM)];
        spans.extend(text);
        spans.push(Span::raw(" "));
        self.put(0, spans);
        self.without(1, 0)
    }
}

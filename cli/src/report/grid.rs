//! Tables that fit the width of the output.
//!
//! Columns in which every cell is empty are left out. A table that is still too wide is
//! narrowed step by step: headings of two lines; the first column on its own line
//! above the others, and some below them; finally every row as a paragraph. No cell
//! is ever cut.

use super::style::{FAINT, HEADING};
use super::width::{Width, columns_of, indented, wrap};
use anstyle::Style;
use std::io::{self, Write};

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    /// Words start on the left, numbers end on the right.
    is_words: bool,
    /// Whether a stacked table has it on a line below the row.
    is_below: bool,
}

impl Column {
    /// A column of words.
    pub const fn words(heading: &'static str) -> Self {
        Self {
            heading,
            is_words: true,
            is_below: false,
        }
    }

    /// A column of numbers.
    pub const fn numbers(heading: &'static str) -> Self {
        Self {
            is_words: false,
            ..Self::words(heading)
        }
    }

    /// On a line below the row, after its heading, where lines are short.
    pub const fn below(self) -> Self {
        Self {
            is_below: true,
            ..self
        }
    }
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// In a style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Style::new())
    }
}

/// A line of a table.
#[derive(Clone, Debug)]
enum Line {
    Cells(Vec<Cell>),
    /// A line between the rows, from edge to edge.
    Across {
        indent: usize,
        cell: Cell,
    },
}

/// A table.
#[derive(Clone, Debug)]
pub struct Grid {
    columns: Vec<Column>,
    lines: Vec<Line>,
    indent: usize,
}

/// Space between columns.
const GAP: usize = 2;

/// Indent of what is below something.
const BELOW: usize = 2;

/// A way to write a table: the columns to show, and their widths.
struct Layout {
    /// By column; `None` where it is left out.
    widths: Vec<Option<usize>>,
    /// Whether headings have two lines.
    is_tall: bool,
    /// Whether the first column is on its own lines, and some are below the row.
    is_stacked: bool,
}

impl Grid {
    /// A table without rows.
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns.to_vec(),
            lines: Vec::new(),
            indent: 2,
        }
    }

    /// The same, starting at a column other than the third.
    #[must_use]
    pub fn with_indent(self, indent: usize) -> Self {
        Self { indent, ..self }
    }

    /// Adds a row. Missing cells are empty.
    pub fn row(&mut self, mut cells: Vec<Cell>) {
        cells.resize(self.columns.len(), Cell::default());
        self.lines.push(Line::Cells(cells));
    }

    /// Adds a line between the rows.
    pub fn across(&mut self, indent: usize, cell: Cell) {
        self.lines.push(Line::Across { indent, cell });
    }

    fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.lines.iter().filter_map(|line| match line {
            Line::Cells(cells) => Some(&**cells),
            Line::Across { .. } => None,
        })
    }

    /// Whether a column has anything in it.
    fn is_used(&self, column: usize) -> bool {
        self.rows().any(|row| !row[column].text.is_empty())
    }

    /// Writes it for an output of this width.
    pub fn write(&self, out: &mut dyn Write, width: Width) -> io::Result<()> {
        let mut layouts = [(false, false), (false, true), (true, true)]
            .into_iter()
            .map(|(is_stacked, is_tall)| self.laid_out(is_stacked, is_tall));
        let layout = layouts.find(|layout| self.width_of(layout) <= width.columns());
        if let Some(layout) = &layout {
            self.write_headings(out, layout, width)?;
        }
        // The cell that the rows are below.
        let mut above: Option<&Cell> = None;
        for line in &self.lines {
            let cells = match line {
                Line::Across { indent, cell } => {
                    write_across(out, *indent, cell, width)?;
                    above = None;
                    continue;
                }
                Line::Cells(cells) => cells,
            };
            let is_stacked = layout.as_ref().is_none_or(|layout| layout.is_stacked);
            if is_stacked && above != Some(&cells[0]) {
                write_across(out, self.indent, &cells[0], width)?;
                above = Some(&cells[0]);
            }
            match &layout {
                Some(layout) => self.write_row(out, layout, cells)?,
                None => self.write_labelled(out, cells, |_| true, width)?,
            }
            if layout.is_some() && is_stacked {
                self.write_labelled(out, cells, |column| column.is_below, width)?;
            }
        }
        Ok(())
    }

    fn laid_out(&self, is_stacked: bool, is_tall: bool) -> Layout {
        let width = |(index, column): (usize, &Column)| {
            if !self.is_used(index) || (is_stacked && column.is_below) {
                return None;
            }
            let cells = self.rows().map(|row| columns_of(&row[index].text));
            let heading = lines_of(column.heading, is_tall).map(columns_of);
            cells.chain(heading).max()
        };
        Layout {
            widths: self.columns.iter().enumerate().map(width).collect(),
            is_tall,
            is_stacked,
        }
    }

    /// Columns of the longest line.
    fn width_of(&self, layout: &Layout) -> usize {
        let first = usize::from(layout.is_stacked);
        let widths: Vec<usize> = layout.widths[first..].iter().flatten().copied().collect();
        let gaps = GAP * widths.len().saturating_sub(1);
        let line = self.indent + first * BELOW + widths.iter().sum::<usize>() + gaps;
        if layout.is_stacked {
            line.max(self.indent + layout.widths[0].unwrap_or(0))
        } else {
            line
        }
    }

    fn write_headings(&self, out: &mut dyn Write, layout: &Layout, width: Width) -> io::Result<()> {
        if layout.is_stacked {
            let first = Cell::new(self.columns[0].heading, HEADING);
            write_across(out, self.indent, &first, width)?;
        }
        for line in 0..2 {
            let headings = self.columns.iter().zip(&layout.widths);
            let headings = headings.map(|(column, width)| match width {
                Some(_) => lines_of(column.heading, layout.is_tall)[line],
                None => "",
            });
            let cells: Vec<Cell> = headings.map(|text| Cell::new(text, HEADING)).collect();
            let is_needed = |cell: &Cell| !cell.text.is_empty();
            if line == 1
                || cells[usize::from(layout.is_stacked)..]
                    .iter()
                    .any(is_needed)
            {
                self.write_row(out, layout, &cells)?;
            }
        }
        Ok(())
    }

    fn write_row(&self, out: &mut dyn Write, layout: &Layout, cells: &[Cell]) -> io::Result<()> {
        let first = usize::from(layout.is_stacked);
        let mut line = String::new();
        // Spaces that are written only if something follows.
        let mut spaces = self.indent + first * BELOW;
        let columns = self.columns.iter().zip(&layout.widths).zip(cells);
        for ((column, width), Cell { text, style }) in columns.skip(first) {
            let Some(width) = *width else { continue };
            let padding = width - columns_of(text);
            if !column.is_words {
                spaces += padding;
            }
            if text.is_empty() {
                spaces += if column.is_words { width } else { 0 } + GAP;
                continue;
            }
            line.push_str(&format!("{:spaces$}{style}{text}{style:#}", ""));
            spaces = if column.is_words { padding } else { 0 } + GAP;
        }
        writeln!(out, "{line}")
    }

    /// Some cells after their headings, but never the first.
    fn write_labelled(
        &self,
        out: &mut dyn Write,
        cells: &[Cell],
        wanted: impl Fn(&Column) -> bool,
        width: Width,
    ) -> io::Result<()> {
        // A heading stays whole, and on one line with what follows it.
        let no_break = "\u{a0}";
        let items = self.columns.iter().zip(cells).skip(1);
        let items = items
            .filter(|(column, cell)| wanted(column) && !cell.text.is_empty())
            .map(|(Column { heading, .. }, Cell { text, style })| {
                let heading = heading.replace(' ', no_break);
                format!("{FAINT}{heading}{FAINT:#}{no_break}{style}{text}{style:#}")
            });
        let items = items.collect::<Vec<_>>().join("  ");
        if items.is_empty() {
            return Ok(());
        }
        let text = indented(&items, self.indent + 2 * BELOW, width.columns());
        writeln!(out, "{}", text.replace(no_break, " "))
    }

    /// The table as Markdown, with a newline after each row.
    pub fn markdown(&self) -> String {
        let shown: Vec<usize> = (0..self.columns.len())
            .filter(|&column| self.is_used(column))
            .collect();
        let row = |cells: Vec<&str>| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let columns = || shown.iter().map(|&column| &self.columns[column]);
        let rule = columns().map(|column| if column.is_words { "---" } else { "---:" });
        let mut text = row(columns().map(|column| column.heading).collect());
        text += &row(rule.collect());
        for cells in self.rows() {
            text += &row(shown.iter().map(|&column| &*cells[column].text).collect());
        }
        text
    }
}

/// A heading in two lines; one that is not broken is on the lower line.
fn lines_of(heading: &'static str, is_tall: bool) -> [&'static str; 2] {
    match (heading.rfind(' '), heading.rfind('/')) {
        (Some(at), _) if is_tall => [&heading[..at], &heading[at + 1..]],
        (None, Some(at)) if is_tall && at > 0 => [&heading[..at], &heading[at..]],
        _ => ["", heading],
    }
}

fn write_across(out: &mut dyn Write, indent: usize, cell: &Cell, width: Width) -> io::Result<()> {
    let Cell { text, style } = cell;
    for line in wrap(text, width.columns().saturating_sub(indent)) {
        writeln!(out, "{:indent$}{style}{line}{style:#}", "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Cell, Column, Grid};
    use crate::report::width::{Width, columns_of};
    use anstyle::AnsiColor;

    /// Two kernels on two shapes each, with a note and a column that is empty.
    fn grid() -> Grid {
        let mut grid = Grid::new(&[
            Column::words("kernel"),
            Column::words("shape"),
            Column::numbers("nothing"),
            Column::numbers("bank conflicts"),
            Column::numbers("per load"),
            Column::words("remarks").below(),
        ]);
        grid.across(0, Cell::new("lesson", AnsiColor::Red.on_default()));
        for kernel in ["transpose_one", "transpose_other"] {
            for shape in ["33×33", "8192×8192"] {
                let cells = [kernel, shape, "", "65,011,712", "31", "in L2"];
                grid.row(cells.into_iter().map(Cell::from).collect());
            }
        }
        grid.across(5, Cell::from("a note"));
        grid
    }

    fn written(columns: usize) -> String {
        plain(&grid(), columns)
    }

    fn plain(grid: &Grid, columns: usize) -> String {
        let mut out = Vec::new();
        grid.write(&mut out, Width::of(columns)).expect("memory");
        let text = String::from_utf8(out).expect("UTF-8");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn where_there_is_room_a_row_is_a_line() {
        assert_eq!(
            written(80).lines().collect::<Vec<_>>(),
            [
                "  kernel           shape      bank conflicts  per load  remarks",
                "lesson",
                "  transpose_one    33×33          65,011,712        31  in L2",
                "  transpose_one    8192×8192      65,011,712        31  in L2",
                "  transpose_other  33×33          65,011,712        31  in L2",
                "  transpose_other  8192×8192      65,011,712        31  in L2",
                "     a note",
            ]
        );
    }

    #[test]
    fn narrower_tables_have_headings_of_two_lines() {
        assert_eq!(
            written(56).lines().take(3).collect::<Vec<_>>(),
            [
                "                                    bank   per",
                "  kernel           shape       conflicts  load  remarks",
                "lesson",
            ]
        );
    }

    #[test]
    fn still_narrower_ones_are_stacked() {
        assert_eq!(
            written(40).lines().collect::<Vec<_>>(),
            [
                "  kernel",
                "                     bank   per",
                "    shape       conflicts  load",
                "lesson",
                "  transpose_one",
                "    33×33      65,011,712    31",
                "      remarks in L2",
                "    8192×8192  65,011,712    31",
                "      remarks in L2",
                "  transpose_other",
                "    33×33      65,011,712    31",
                "      remarks in L2",
                "    8192×8192  65,011,712    31",
                "      remarks in L2",
                "     a note",
            ]
        );
    }

    #[test]
    fn at_last_a_row_is_a_paragraph() {
        let mut grid = Grid::new(&[Column::words("target"), Column::words("by")]);
        let long = "one two three four five six seven eight nine ten eleven";
        grid.row(vec!["first".into(), long.into()]);
        let text =
            "  first\n      by one two three four five six\n      seven eight nine ten eleven\n";
        assert_eq!(plain(&grid, 40), text);
    }

    #[test]
    fn no_line_is_too_long_and_no_row_is_lost() {
        for columns in 40..=90 {
            let text = written(columns);
            let fits = text.lines().all(|line| columns_of(line) <= columns);
            assert!(fits, "{text}");
            assert_eq!(text.matches("31").count(), 4, "{text}");
            assert_eq!(text.matches("8192×8192").count(), 2, "{text}");
        }
    }
}

//! The width of the output, and text fitted to it.
//!
//! At a terminal the width is the terminal's, elsewhere `COLUMNS`, and if that is not
//! set either, [`PIPE`]: the same for every pipe and file, so that saved output of one
//! run can be compared with another's. Prose then stays in whole lines, which `grep`
//! finds; only tables and listings keep to the width.
//!
//! Left out: stderr, and tables themselves ([`super::grid`]).

use anstyle::Style;
use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns where the number is not known.
pub const PIPE: usize = 100;

/// Narrower outputs are treated as if they were this wide.
const NARROWEST: usize = 40;

/// The width of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    columns: usize,
    is_known: bool,
}

impl Width {
    /// The width of standard output.
    pub fn of_stdout() -> Self {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let terminal = terminal.map(|(width, _)| usize::from(width.0));
        let variable = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        // Some terminals report zero columns.
        let told = terminal.filter(|&columns| columns > 0).or_else(variable);
        told.filter(|&columns| columns > 0)
            .map_or(Self::PIPE, Self::of)
    }

    /// The width where the number of columns is not known.
    pub const PIPE: Self = Self {
        columns: PIPE,
        is_known: false,
    };

    /// This many columns.
    pub fn of(columns: usize) -> Self {
        Self {
            columns: columns.max(NARROWEST),
            is_known: true,
        }
    }

    /// Columns of tables and listings.
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Columns of prose.
    pub fn prose(self) -> usize {
        if self.is_known {
            self.columns
        } else {
            usize::MAX
        }
    }
}

/// Columns that a text takes.
pub fn columns_of(text: &str) -> usize {
    text.width()
}

/// The text, or its beginning with an ellipsis.
pub fn cut(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mut short = head(text, columns.saturating_sub(1)).trim_end().to_owned();
    short.push('…');
    short
}

/// As much of the beginning as fits.
fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (index, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > columns {
            return &text[..index];
        }
    }
    text
}

/// The text in lines of at most this many columns, broken between words; within a word
/// only if it is longer than a line. Its own line breaks and indented lines are kept.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let wrap_line = |line: &str| {
        let indent = indent_of(line);
        wrap_behind(line.trim(), indent, indent, columns)
    };
    text.split('\n').flat_map(wrap_line).collect()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The text wrapped after a prefix for the first line and one for the others.
fn wrap_behind(text: &str, first: &str, others: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns.max(1))
        .initial_indent(first)
        .subsequent_indent(others)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// The text in lines of at most this many columns, each indented.
pub fn indented(text: &str, indent: usize, columns: usize) -> String {
    let indent = " ".repeat(indent);
    let lines = text.split('\n').flat_map(|line| {
        let indent = format!("{indent}{}", indent_of(line));
        wrap_behind(line.trim(), &indent, &indent, columns)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a text in lines of at most this many columns, all in one style.
pub fn write_styled(
    out: &mut dyn Write,
    style: Style,
    text: &str,
    columns: usize,
) -> io::Result<()> {
    for line in wrap(text, columns) {
        writeln!(out, "{style}{line}{style:#}")?;
    }
    Ok(())
}

/// A line of code in lines of at most this many columns, all but the first indented
/// further.
pub fn wrap_code(code: &str, columns: usize) -> Vec<String> {
    if columns_of(code) <= columns {
        return vec![code.to_owned()];
    }
    let indent = indent_of(code);
    wrap_behind(code.trim(), indent, &format!("{indent}    "), columns)
}

/// A command to type, on one line after its purpose, or on its own lines below
/// that.
pub fn hint(what_for: &str, command: &str, width: Width) -> String {
    let hint = format!("  {what_for}: {command}");
    if columns_of(&hint) <= width.prose() {
        return hint;
    }
    format!("  {what_for}:\n{}", shell(command, width.columns()))
}

/// A shell command in lines of at most this many columns, which the shell reads as one:
/// all lines but the last end with a backslash, between words, after a comma, or, if
/// nothing else helps, within a word.
pub fn shell(command: &str, columns: usize) -> String {
    if columns_of(command) <= columns {
        return command.to_owned();
    }
    // A space and a backslash may follow.
    let room = columns.saturating_sub(2).max(1);
    let (mut text, mut used) = (String::new(), 0);
    for word in command.split(' ') {
        // A space before the first part, unless it begins the command: "  word" after
        // " \" is a new word, "part" after "\" is not.
        let mut separator = if text.is_empty() { "" } else { " " };
        for part in word.split_inclusive(',') {
            if used > 0 && used + columns_of(separator) + columns_of(part) > room {
                text.push_str(&format!("{separator}\\\n{separator}"));
                used = columns_of(separator);
            }
            text.push_str(separator);
            used += columns_of(separator);
            for character in part.chars() {
                let width = character.width().unwrap_or(0);
                if used + width > room {
                    text.push_str("\\\n");
                    used = 0;
                }
                text.push(character);
                used += width;
            }
            separator = "";
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Width, columns_of, cut, indented, shell, wrap, wrap_code};

    #[test]
    fn widths_are_columns_and_not_bytes() {
        assert_eq!(columns_of("8192×8192 … █░ ⋮"), 16);
        assert_eq!(columns_of("漢字"), 4);
    }

    #[test]
    fn text_is_cut_with_an_ellipsis() {
        assert_eq!(cut("64×64", 5), "64×64");
        assert_eq!(cut("one two", 5), "one…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("  one two three", 8), ["  one", "  two", "  three"]);
        assert_eq!(wrap("a\n\nb", 8), ["a", "", "b"]);
        assert_eq!(wrap("abcdefghij k", 4), ["abcd", "efgh", "ij k"]);
        assert_eq!(indented("one two", 2, 5), "  one\n  two");
    }

    #[test]
    fn code_is_continued_further_to_the_right() {
        let code = "    *tile.add(layout(y, x)) = *input.add(element(row, column, n_columns));";
        assert_eq!(
            wrap_code(code, 60),
            [
                "    *tile.add(layout(y, x)) = *input.add(element(row,",
                "        column, n_columns));"
            ]
        );
        for columns in 16..=80 {
            let lines = wrap_code(code, columns);
            assert!(
                lines.iter().all(|line| columns_of(line) <= columns),
                "{lines:?}"
            );
            let glued = |text: &str| text.replace(' ', "");
            assert_eq!(glued(&lines.concat()), glued(code), "{columns}");
        }
    }

    #[test]
    fn no_line_is_longer_and_no_word_is_lost() {
        let text = "Lanes of a warp meet in one bank: pad the rows by one element, or×swizzle.";
        for columns in 1..=80 {
            let lines = wrap(text, columns);
            assert!(lines.iter().all(|line| columns_of(line) <= columns));
            let glued = |text: &str| text.replace(char::is_whitespace, "");
            assert_eq!(glued(&lines.concat()), glued(text), "{columns}");
        }
    }

    #[test]
    fn the_shell_reads_a_wrapped_command_as_one() {
        let command = "ncu --csv --metrics one__of__them.sum,another__one.sum,third.sum lockstep \
                       profile transpose --shape=64x64";
        for columns in 12..=200 {
            let wrapped = shell(command, columns);
            assert!(
                wrapped.lines().all(|line| columns_of(line) <= columns),
                "{columns}:\n{wrapped}"
            );
            // Like the shell: a backslash at the end removes the line break.
            let read = wrapped.replace("\\\n", "");
            let words: Vec<_> = read.split_whitespace().collect();
            assert_eq!(words.join(" "), command, "{columns}:\n{wrapped}");
        }
    }

    #[test]
    fn prose_is_whole_where_no_width_is_known() {
        assert_eq!(Width::PIPE.prose(), usize::MAX);
        assert_eq!(Width::of(80).prose(), 80);
        assert_eq!(Width::of(3).columns(), 40);
    }
}

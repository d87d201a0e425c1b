//! How wide the output may be, and how text is made to fit.
//!
//! At a terminal the width is the terminal's, elsewhere `COLUMNS`, and if that is not
//! set either [`PIPE`]: the same for every pipe and file, so that what is kept of one
//! run can be compared with another. Prose then stays in whole lines, which `grep`
//! finds; only tables and listings keep to the width.
//!
//! Left out: stderr, and tables themselves ([`super::grid`]).

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns where nobody says how many there are.
pub const PIPE: usize = 100;

/// What is narrower is treated as if it were so wide.
const NARROWEST: usize = 40;

/// How wide the output may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    columns: usize,
    is_known: bool,
}

impl Width {
    /// Of standard output.
    pub fn of_stdout() -> Self {
        let terminal = terminal_size::terminal_size_of(std::io::stdout());
        let terminal = terminal.map(|(width, _)| usize::from(width.0));
        let variable = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
        // Some terminals say that they have no columns.
        let told = terminal.filter(|&columns| columns > 0).or_else(variable);
        told.filter(|&columns| columns > 0)
            .map_or(Self::PIPE, Self::of)
    }

    /// Where nobody says how many columns there are.
    pub const PIPE: Self = Self {
        columns: PIPE,
        is_known: false,
    };

    /// So many columns.
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

/// The text in lines of at most so many columns, broken between words; within a word
/// only if it is longer than a line. Its own line breaks stay.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    text.split('\n')
        .flat_map(|line| wrap_line(line, columns.max(1)))
        .collect()
}

fn wrap_line(line: &str, columns: usize) -> Vec<String> {
    if columns_of(line) <= columns {
        return vec![line.trim_end().to_owned()];
    }
    // What is indented stays so.
    let indent = &line[..line.len() - line.trim_start().len()];
    let indent = head(indent, columns / 2);
    let mut lines = vec![indent.to_owned()];
    let mut is_empty = true;
    for word in line.split_whitespace() {
        let mut word = word;
        let used = lines.last().map_or(0, |line| columns_of(line));
        if !is_empty && used + 1 + columns_of(word) > columns {
            lines.push(indent.to_owned());
            is_empty = true;
        }
        while columns_of(indent) + columns_of(word) > columns {
            // At least one character, so that this ends.
            let part = head(word, columns - columns_of(indent));
            let first = word.chars().next().map_or(0, char::len_utf8);
            let part = &word[..part.len().max(first)];
            word = &word[part.len()..];
            push(&mut lines, part, is_empty);
            lines.push(indent.to_owned());
            is_empty = true;
        }
        if !word.is_empty() {
            push(&mut lines, word, is_empty);
            is_empty = false;
        }
    }
    if is_empty {
        lines.pop();
    }
    lines
}

fn push(lines: &mut [String], word: &str, is_empty: bool) {
    if let Some(line) = lines.last_mut() {
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
    }
}

/// The text in lines of at most so many columns, each behind the indent.
pub fn indented(text: &str, indent: usize, columns: usize) -> String {
    let lines = wrap(text, columns.saturating_sub(indent));
    let lines = lines.iter().map(|line| format!("{:indent$}{line}", ""));
    lines
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// A line of code in lines of at most so many columns, all but the first further to
/// the right: broken where the fewest brackets are open.
pub fn wrap_code(code: &str, columns: usize) -> Vec<String> {
    const FURTHER: usize = 4;
    if columns_of(code) <= columns {
        return vec![code.to_owned()];
    }
    let mut rest = code.trim();
    let mut indent = columns_of(code) - columns_of(code.trim_start());
    indent = indent.min(columns / 2);
    let mut lines = Vec::new();
    while columns_of(rest) + indent > columns {
        let room = columns.saturating_sub(indent).max(1);
        let fitting = head(rest, room + 1);
        let end = best_break(fitting, room / 3).unwrap_or_else(|| {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            head(rest, room).len().max(first)
        });
        lines.push(format!("{:indent$}{}", "", rest[..end].trim_end()));
        rest = rest[end..].trim_start();
        if lines.len() == 1 {
            indent = (indent + FURTHER).min(columns / 2);
        }
    }
    lines.push(format!("{:indent$}{rest}", ""));
    lines
}

/// Where to break so that few brackets are open and much stands before it, but at
/// least so much.
fn best_break(code: &str, least: usize) -> Option<usize> {
    let mut depth = 0i32;
    let mut best: Option<(i32, usize)> = None;
    for (index, character) in code.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ' ' if index >= least.max(1) && best.is_none_or(|(open, _)| depth <= open) => {
                best = Some((depth, index));
            }
            _ => {}
        }
    }
    best.map(|(_, index)| index)
}

/// A command to type, in a line behind what it is for, or in lines of its own below
/// that.
pub fn hint(what_for: &str, command: &str, width: Width) -> String {
    let hint = format!("  {what_for}: {command}");
    if columns_of(&hint) <= width.prose() {
        return hint;
    }
    format!("  {what_for}:\n{}", shell(command, width.columns()))
}

/// A shell command in lines of at most so many columns. The shell reads it as one:
/// lines but the last end with a backslash, between words, behind a comma, or where
/// nothing else helps within a word.
pub fn shell(command: &str, columns: usize) -> String {
    if columns_of(command) <= columns {
        return command.to_owned();
    }
    // A space and a backslash may follow.
    let room = columns.saturating_sub(2).max(1);
    let mut lines = vec![String::new()];
    let mut words = command.split(' ').peekable();
    while let Some(word) = words.next() {
        // An option stays with its value, or with the first of several.
        let value = words.peek().filter(|_| word.starts_with("--"));
        let value = value.filter(|next| !next.starts_with('-'));
        let mut ahead = value
            .and_then(|value| value.split_inclusive(',').next())
            .map_or(0, |value| 1 + columns_of(value));
        // A space before the first part, unless it begins a line: "  word" after
        // " \" is a new word, "part" after "\" is not.
        let mut separator = " ";
        for part in word.split_inclusive(',') {
            let Some(line) = lines.last_mut() else { break };
            let needed = columns_of(separator) + columns_of(part) + std::mem::take(&mut ahead);
            let fits = columns_of(line) + needed <= room;
            if line.is_empty() {
                line.push_str(part);
            } else if fits {
                line.push_str(separator);
                line.push_str(part);
            } else if separator.is_empty() {
                line.push('\\');
                lines.push(part.to_owned());
            } else {
                line.push_str(" \\");
                lines.push(format!("  {part}"));
            }
            separator = "";
            split_last(&mut lines, room);
        }
    }
    lines.join("\n")
}

/// Breaks the last line within its word until it fits.
fn split_last(lines: &mut Vec<String>, room: usize) {
    while let Some(line) = lines.last_mut()
        && columns_of(line) > room
    {
        let kept = head(line, room).len().max(1);
        let rest = line.split_off(kept);
        line.push('\\');
        lines.push(rest);
    }
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
    fn code_breaks_outside_of_brackets() {
        let code = "    *tile.add(layout(y, x)) = *input.add(element(row, column, n_columns));";
        assert_eq!(
            wrap_code(code, 60),
            [
                "    *tile.add(layout(y, x)) =",
                "        *input.add(element(row, column, n_columns));"
            ]
        );
        for columns in 8..=80 {
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
            // As the shell does: a backslash at the end takes the line break away.
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

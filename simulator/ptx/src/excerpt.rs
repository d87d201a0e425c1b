//! Errors in PTX text, with the line they refer to and a mark under the place.

use std::fmt;
use std::ops::Range;

/// Characters of a line that are shown; of a longer one, those around the place.
const SHOWN: usize = 120;

/// Most errors that are reported for one text.
const MOST_ERRORS: usize = 20;

/// Why PTX text was refused: the first error, and the others that were found
/// with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// What is wrong, and what was expected.
    pub message: String,
    /// The line as written, with its number and a mark under the place; empty where
    /// the line is.
    pub excerpt: String,
    /// What else is wrong, in order of the text. An error that stops the reading comes
    /// alone.
    pub others: Vec<ParseError>,
}

impl ParseError {
    /// An error at bytes of a text.
    pub fn new(source: &str, place: Range<usize>, message: impl Into<String>) -> Self {
        let place = Excerpt::new(source, place);
        Self {
            line: place.line,
            column: place.column,
            message: message.into(),
            excerpt: place.text,
            others: Vec::new(),
        }
    }

    /// Several errors as one, in order of the text; `None` if there are none. Beyond a
    /// readable number, they are left out.
    pub fn together(mut errors: Vec<Self>) -> Option<Self> {
        errors.sort_by_key(|error| (error.line, error.column));
        errors.truncate(MOST_ERRORS);
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.others.extend(errors);
        Some(first)
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "PTX line {}, column {}: {}",
            self.line, self.column, self.message
        )?;
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        self.others
            .iter()
            .try_for_each(|error| write!(f, "\n{error}"))
    }
}

/// A place in a text, quoted.
#[derive(Clone, Debug, Default)]
pub struct Excerpt {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The line, and a mark under the place; empty where the line is.
    pub text: String,
}

impl Excerpt {
    /// The line in which `place` starts.
    pub fn new(source: &str, place: Range<usize>) -> Self {
        let start = floor(source, place.start);
        let end = floor(source, place.end).max(start);
        let before = &source[..start];
        let n_lines = before.bytes().filter(|&byte| byte == b'\n').count();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |length| start + length);
        let line = source[line_start..line_end].trim_end_matches(['\r', '\0']);
        let n_before = source[line_start..start].chars().count();
        let number = u32::try_from(n_lines + 1).unwrap_or(u32::MAX);
        Self {
            line: number,
            column: u32::try_from(n_before + 1).unwrap_or(u32::MAX),
            text: quote(
                number,
                line,
                n_before,
                source[start..end.min(line_end)].chars().count(),
            ),
        }
    }
}

/// The start of the character that a byte belongs to.
fn floor(source: &str, offset: usize) -> usize {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// A line, and marks under `length` of its characters.
fn quote(number: u32, line: &str, n_before: usize, length: usize) -> String {
    if line.trim().is_empty() {
        return String::new();
    }
    let n_characters = line.chars().count();
    let first = if n_characters <= SHOWN {
        0
    } else {
        n_before.saturating_sub(SHOWN / 2).min(n_characters - SHOWN)
    };
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    let shown: String = line
        .chars()
        .skip(first)
        .take(SHOWN)
        // A control character would shift or hide the mark.
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    // The mark follows the same tabs as the text above it.
    let pad: String = cut(first > 0)
        .chars()
        .chain(shown.chars())
        .chain(std::iter::repeat(' '))
        .take(usize::from(first > 0) + n_before - first)
        .map(|c| if c == '\t' { c } else { ' ' })
        .collect();
    let room = (first + SHOWN).saturating_sub(n_before).max(1);
    let number = number.to_string();
    format!(
        "{number:>5} | {}{}{}\n      | {pad}{}",
        cut(first > 0),
        shown.trim_end(),
        cut(first + SHOWN < n_characters),
        "^".repeat(length.clamp(1, room))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(source: &str, marked: &str) -> String {
        let start = source.find(marked).expect("it is there");
        Excerpt::new(source, start..start + marked.len()).text
    }

    #[test]
    fn marks_stand_under_what_they_mark() {
        assert_eq!(
            excerpt("one\ntwo three\nfour", "three"),
            "    2 | two three\n      |     ^^^^^"
        );
        assert_eq!(
            excerpt("\ta\tb;\r\n", "b"),
            "    1 | \ta\tb;\n      | \t \t^"
        );
        assert_eq!(
            excerpt("/* ü */ x", "x"),
            "    1 | /* ü */ x\n      |         ^"
        );
        assert_eq!(Excerpt::new("a\n\n", 2..2).text, "");
        assert_eq!(Excerpt::new("ab", 2..2).text, "    1 | ab\n      |   ^");
    }

    #[test]
    fn of_long_lines_the_part_around_the_place_is_shown() {
        let line = format!("{}HERE{}", "a".repeat(1000), "b".repeat(1000));
        let text = excerpt(&line, "HERE");
        let (shown, mark) = text.split_once('\n').expect("two lines");
        assert!(
            shown.chars().count() < 140 && shown.ends_with('…'),
            "{text}"
        );
        let column = |line: &str, c| line.chars().position(|other| other == c);
        assert_eq!(column(shown, 'H'), column(mark, '^'), "{text}");
    }
}

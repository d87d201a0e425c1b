//! The source lines that a fault's report names.

use super::sources;
use crate::report::width::{cut, wrap_code};
use std::fmt::Write;

/// Lines shown before and after one that is named.
const CONTEXT: usize = 2;

/// The lines that `report` names, as `at gpu-kernels/src/01_copy.rs:12:5`, with those
/// around them; empty if it names none that are known.
pub fn excerpts(report: &str, columns: usize) -> String {
    let mut text = String::new();
    let mut shown: Vec<(&str, usize)> = Vec::new();
    for (file, line) in report.split_whitespace().filter_map(named) {
        if shown.contains(&(file, line)) {
            continue;
        }
        shown.push((file, line));
        if let Some(source) = sources::text(file) {
            excerpt(&mut text, file, &source, line, columns);
        }
    }
    text
}

/// The file and the line of `gpu-kernels/src/01_copy.rs:12:5` or of
/// `gpu-kernels/src/01_copy.rs:12,`.
fn named(word: &str) -> Option<(&str, usize)> {
    let (file, place) = word.split_once(".rs:")?;
    let file = &word[..file.len() + ".rs".len()];
    let digits = place.find(|c: char| !c.is_ascii_digit());
    let line = place[..digits.unwrap_or(place.len())].parse().ok()?;
    Some((file.trim_start_matches(['(', '`']), line))
}

fn excerpt(text: &mut String, file: &str, source: &str, line: usize, columns: usize) {
    let first = line.saturating_sub(CONTEXT).max(1);
    let lines = source.lines().enumerate().skip(first - 1);
    // Writing to a string never fails.
    let _ = writeln!(text, "\n{}", cut(file, columns));
    for (index, code) in lines.take(line + CONTEXT + 1 - first) {
        let number = index + 1;
        let is_named = number == line;
        let mut before = format!("{} {number:>4} ", if is_named { '>' } else { ' ' });
        let room = columns.saturating_sub(before.len());
        let lines = match is_named {
            true => wrap_code(code, room),
            false => vec![cut(code, room)],
        };
        for code in lines {
            let _ = writeln!(text, "{}", format!("{before}{code}").trim_end());
            before = " ".repeat(before.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{excerpts, named};

    #[test]
    fn places_are_read_from_reports() {
        assert_eq!(named("a/b.rs:12:5"), Some(("a/b.rs", 12)));
        assert_eq!(named("(a/b.rs:12)"), Some(("a/b.rs", 12)));
        assert_eq!(named("b.rs:"), None);
        assert_eq!(named("b.rs"), None);
    }

    #[test]
    fn a_named_line_is_shown_once_with_its_neighbours() {
        let place = "gpu-kernels/src/01_copy.rs:3:7";
        let text = excerpts(&format!("at {place}, inlined at {place}"), 80);
        assert_eq!(text.matches("\n>    3 ").count(), 1, "{text}");
        assert!(
            text.contains("\n     1 ") && text.contains("\n     5"),
            "{text}"
        );
        assert!(text.starts_with("\ngpu-kernels/src/01_copy.rs\n"), "{text}");
        assert_eq!(excerpts("at src/none.rs:3:7", 80), "");
    }
}

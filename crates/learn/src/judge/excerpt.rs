//! Excerpts of the learner's file.

use crate::workshop::Built;

/// A line, its place, and a remark below it.
pub(super) fn line(built: &Built, line: u32, remark: &str) -> String {
    let text = built.text.lines().nth(line.saturating_sub(1) as usize);
    let text = text.unwrap_or_default();
    let number = line.to_string();
    let (indent, margin) = (
        " ".repeat(number.len()),
        text.len() - text.trim_start().len(),
    );
    let mut shown = format!("{indent}--> {}:{line}\n{number} | {text}", built.shown);
    if !remark.is_empty() {
        shown += &format!("\n{indent} | {}^ {remark}", " ".repeat(margin));
    }
    shown
}

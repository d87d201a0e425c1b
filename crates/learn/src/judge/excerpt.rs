//! A line of the learner's, shown.

use crate::workshop::Built;

/// The line, where it stands, and a remark below it.
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

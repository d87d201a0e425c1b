//! What a test expects of a text, in comments at the end of the text's file.

use std::path::Path;

/// Between a text and what is expected of it, line by line.
const MARK: &str = "// expected:\n";

/// The same where the text does not end with its line.
const MARK_OF_CUT: &str = "\n// expected of a text without its last newline:\n";

/// The text of a file, and what is expected of it; nothing if that is not written yet.
pub fn read(file: &Path) -> (String, String) {
    let mut text = std::fs::read_to_string(file).expect("a readable file");
    let mut expected = String::new();
    for mark in [MARK_OF_CUT, MARK] {
        let Some(at) = text.rfind(mark) else { continue };
        for line in text[at + mark.len()..].lines() {
            let line = line.strip_prefix("//").expect("a comment");
            expected += line.strip_prefix(' ').unwrap_or(line);
            expected.push('\n');
        }
        text.truncate(at);
        break;
    }
    (text, expected)
}

/// Writes what is expected into a text's file.
pub fn write(file: &Path, text: &str, expected: &str) {
    let is_whole = text.is_empty() || text.ends_with('\n');
    let mut all = text.to_owned() + if is_whole { MARK } else { MARK_OF_CUT };
    for line in expected.lines() {
        all += if line.is_empty() { "//" } else { "// " };
        all += line;
        all.push('\n');
    }
    std::fs::write(file, all).expect("a writable folder");
}

//! The expectations of a test about a text, in comments at the end of the text. A file has one
//! text, or several, each after a line `//=== NAME`.

use std::path::Path;

/// Between a text and what is expected of it, line by line.
const MARK: &str = "// expected:\n";

/// The same where the text does not end with its line.
const MARK_OF_CUT: &str = "\n// expected of a text without its last newline:\n";

/// The prefix of a text's name in a file of several.
const NAME: &str = "//=== ";

/// A text, and what is expected of it.
pub struct Case {
    /// Its name in a file of several.
    pub name: Option<String>,
    /// Its PTX.
    pub text: String,
    /// Nothing if it is not written yet.
    pub expected: String,
}

/// The texts of a file.
pub fn cases(file: &Path) -> Vec<Case> {
    let all = std::fs::read_to_string(file).expect("a readable file");
    let Some(several) = all.strip_prefix(NAME) else {
        return vec![case(None, &all)];
    };
    let several = several.strip_suffix('\n').unwrap_or(several);
    let parts = several.split("\n//=== ").map(|part| {
        let (name, text) = part.split_once('\n').expect("a name");
        case(Some(name.to_owned()), &format!("{text}\n"))
    });
    parts.collect()
}

fn case(name: Option<String>, text: &str) -> Case {
    let (text, expected) = split(text);
    Case {
        name,
        text,
        expected,
    }
}

/// Writes a file of texts with what is expected of each.
pub fn write_cases(file: &Path, cases: &[Case]) {
    let mut all = String::new();
    for case in cases {
        if let Some(name) = &case.name {
            all += &format!("{NAME}{name}\n");
        }
        all += &joined(&case.text, &case.expected);
    }
    std::fs::write(file, all).expect("a writable folder");
}

/// The text of a file, and what is expected of it; nothing if it is not written yet.
pub fn read(file: &Path) -> (String, String) {
    split(&std::fs::read_to_string(file).expect("a readable file"))
}

/// Writes what is expected into a text's file.
pub fn write(file: &Path, text: &str, expected: &str) {
    std::fs::write(file, joined(text, expected)).expect("a writable folder");
}

fn split(all: &str) -> (String, String) {
    let (mut text, mut expected) = (all.to_owned(), String::new());
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

fn joined(text: &str, expected: &str) -> String {
    let is_whole = text.is_empty() || text.ends_with('\n');
    let mut all = text.to_owned() + if is_whole { MARK } else { MARK_OF_CUT };
    for line in expected.lines() {
        all += if line.is_empty() { "//" } else { "// " };
        all += line;
        all.push('\n');
    }
    all
}

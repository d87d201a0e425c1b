//! The expectations of a test about a text, in comments at the end of the text. A file has one
//! text, or several, each after a line `//=== NAME`.

use std::path::Path;

/// Between a text and what is expected of it, line by line.
const MARK: &str = "// expected:\n";

/// The same where the text does not end with its line.
const MARK_OF_CUT: &str = "\n// expected of a text without its last newline:\n";

/// Before a text's name in a file of several.
const NAME: &str = "//=== ";

/// A text, and what is expected of it.
pub struct Case {
    /// Its own name, or that of the file that it has to itself.
    pub name: String,
    /// Its PTX.
    pub text: String,
    /// What is expected; nothing if it is not written yet.
    pub expected: String,
}

/// The texts of a file.
pub fn cases(file: &Path) -> Vec<Case> {
    let all = std::fs::read_to_string(file).expect("a readable file");
    let Some(several) = all.strip_prefix(NAME) else {
        let stem = file.file_stem().expect("a name").to_string_lossy();
        return vec![case(&stem, &all)];
    };
    let several = several.strip_suffix('\n').unwrap_or(several);
    let parts = several.split("\n//=== ").map(|part| {
        let (name, text) = part.split_once('\n').expect("a name");
        case(name, &format!("{text}\n"))
    });
    parts.collect()
}

fn case(name: &str, text: &str) -> Case {
    let (text, expected) = split(text);
    Case {
        name: name.to_owned(),
        text,
        expected,
    }
}

/// Compares what is said of each text of a file with what is expected, and gives the differences.
/// With the variable `BLESS`, what is said becomes what is expected.
pub fn differences(file: &Path, mut said: impl FnMut(&Case) -> String) -> String {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut all, mut differences) = (String::new(), String::new());
    let cases = cases(file);
    for case in &cases {
        let said = said(case);
        let Case {
            name,
            text,
            expected,
        } = case;
        if said != *expected && !bless {
            let file = file.display();
            differences += &format!("{file}, {name}\n--- expected\n{expected}--- said\n{said}");
        }
        if cases.len() > 1 {
            all += &format!("{NAME}{name}\n");
        }
        all += &joined(text, &said);
    }
    if bless {
        std::fs::write(file, all).expect("a writable folder");
    }
    differences
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

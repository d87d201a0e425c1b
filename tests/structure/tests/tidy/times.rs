//! No times or rates are typed into a kernel's file: measured figures belong in documents that a
//! program writes, or in a dated log (`docs/tuning`).

use crate::repository::{files_below, text};

/// Units of what is measured.
#[rustfmt::skip]
const UNITS: [&str; 15] = [
    "ns", "µs", "us", "ms", "TFLOP/s", "GFLOP/s", "TFLOPS", "TB/s", "GB/s", "MB/s",
    "nanoseconds", "microseconds", "microsecond", "milliseconds", "millisecond",
];

/// The times and rates in the comments of a text, with the lines that have them.
fn typed_times(text: &str) -> Vec<String> {
    let comments = text.lines().filter_map(|line| {
        let (_, comment) = line.split_once("//")?;
        Some((line, comment))
    });
    comments
        .filter(|(_, comment)| has_time(comment))
        .map(|(line, _)| line.trim().to_owned())
        .collect()
}

/// A number before a unit, with or without a space, or a unit that is spelt out.
fn has_time(comment: &str) -> bool {
    let words: Vec<&str> = comment
        .split(|c: char| c.is_whitespace() || "(),;:|`".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let is_number = |word: &str| word.ends_with(|c: char| c.is_ascii_digit());
    let beside = |word: &str| {
        let number = |unit: &&str| word.strip_suffix(*unit).is_some_and(is_number);
        UNITS.iter().any(number)
    };
    let before = |pair: &[&str]| is_number(pair[0]) && UNITS.contains(&pair[1]);
    let spelt_out = |word: &&str| word.len() > "TFLOP/s".len() && UNITS.contains(word);
    words.iter().any(|word| beside(word) || spelt_out(word)) || words.windows(2).any(before)
}

#[test]
fn no_times_are_typed_into_kernels() {
    let mut typed = Vec::new();
    for file in files_below("gpu-kernels/src") {
        let found = typed_times(&text(&file));
        typed.extend(found.into_iter().map(|line| format!("{file}: {line}")));
    }
    assert!(typed.is_empty(), "these belong in docs/tuning: {typed:#?}");
}

#[test]
fn typed_times_are_found() {
    for text in [
        "//! It takes 132.7 µs.",
        "    /// 2.69 ms: 51 TFLOP/s",
        "//! | a | −5µs |",
        "let a = 1; // at 4 TB/s",
        "//! most of a microsecond",
        "// (129 to 130ns)",
    ] {
        assert_eq!(typed_times(text), [text.trim()]);
    }
    for text in [
        "//! Whose rows are 128 bytes, in 4 banks.",
        "//! The `ms` of a name, terms, and us.",
        "//! 4.9·10¹⁴ multiply-adds per second, 1,400 cycles.",
        "let time = 132.7; let unit = \"µs\";",
    ] {
        assert_eq!(typed_times(text), [""; 0]);
    }
}

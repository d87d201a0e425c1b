//! Panics report their message if the kernel crate asks for it.

use crate::bench::{line_of, panicking};
use library_kernels::messages as kernels;

/// All threads read 1, except thread 37 of block 2.
fn one_zero() -> Vec<u32> {
    let mut x = vec![1; 256];
    x[2 * 64 + 37] = 0;
    x
}

#[test]
fn assertions_tell_their_text() {
    let kernel = kernels::message_of_an_assertion;
    let report = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    let code = "assert!(x[i] != 0, \"x must not be 0\");";
    let line = line_of(include_str!("../../src/messages.rs"), code);
    let told = format!(
        "thread (37, 0, 0) of block (2, 0, 0) panicked at \
         tests/library-kernels/src/messages.rs:{line}:5: x must not be 0\n"
    );
    assert!(report.starts_with(&told), "{report}");
}

/// The text between the place and the line.
fn message(report: &str) -> &str {
    let (_, rest) = report
        .split_once("messages.rs:")
        .expect("it names the file");
    let (_, rest) = rest.split_once(": ").expect("it has a message");
    rest.rsplit_once("\n    ").expect("it shows the line").0
}

#[test]
fn messages_have_their_numbers() {
    let kernel = kernels::message_with_numbers;
    let report = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    assert!(
        message(&report).starts_with(
            "assertion `left != right` failed: thread 165 of 256\n  left: 0\n right: 0"
        ),
        "{report}"
    );
    let kernel = kernels::message_of_an_index;
    let report = panicking("messages", kernel, &[1; 255], |x, out| (x, out));
    assert!(
        message(&report).starts_with("index out of bounds: the len is 255 but the index is 255"),
        "{report}"
    );
}

/// Lanes that panic together trap before the one that writes the record.
#[test]
fn a_report_is_about_one_thread() {
    let kernel = kernels::message_with_numbers;
    let report = panicking("messages", kernel, &[0; 256], |x, out| (x, out));
    let record = "thread (0, 0, 0) of block (0, 0, 0) panicked at ";
    assert!(report.starts_with(record), "{report}");
    let trap = "block (0, 0, 0), thread (0, 0, 0) (warp 0, lane 0)";
    assert!(report.contains(trap), "{report}");
}

#[test]
fn long_messages_are_cut_between_characters() {
    let kernel = kernels::message_that_is_long;
    let report = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    // There is room for one byte more, and the next character has two.
    let told = format!(":9: {:>255}\n", "a");
    assert!(report.contains(&told), "{report}");
}

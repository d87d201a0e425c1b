//! Panics tell their message where the kernel crate asks for it.

use crate::bench::panicking;
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
    let (_, record) = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    assert!(record.is_whole());
    assert_eq!(record.message(), "x must not be 0");
    let line = record.line();
    assert_eq!(
        record.to_string(),
        format!(
            "thread (37, 0, 0) of block (2, 0, 0) panicked at \
             tests/library-kernels/src/messages.rs:{line}:5: x must not be 0"
        )
    );
}

#[test]
fn messages_have_their_numbers() {
    let kernel = kernels::message_with_numbers;
    let (_, record) = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    assert_eq!(
        record.message(),
        "assertion `left != right` failed: thread 165 of 256\n  left: 0\n right: 0"
    );
    let kernel = kernels::message_of_an_index;
    let (_, record) = panicking("messages", kernel, &[1; 255], |x, out| (x, out));
    assert_eq!(
        record.message(),
        "index out of bounds: the len is 255 but the index is 255"
    );
}

#[test]
fn long_messages_are_cut_between_characters() {
    let kernel = kernels::message_that_is_long;
    let (_, record) = panicking("messages", kernel, &one_zero(), |x, out| (x, out));
    assert!(record.is_whole());
    // There is room for one byte more, and the next character has two.
    assert_eq!(record.message(), format!("{:>255}", "a"));
}

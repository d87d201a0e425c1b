//! The WebAssembly interface by which a page calls [`answer`](crate::answer): bytes in the module's
//! memory, no glue code on either side.
//!
//! ```text
//!     const at = exports.room(n);           // n bytes for the question, in UTF-8
//!     new Uint8Array(memory.buffer, at, n).set(question);
//!     const answer = exports.answer(at, n); // takes them; the answer is
//!     exports.length();                     // this many bytes at `answer`, until the next call
//! ```

use std::cell::RefCell;

thread_local! {
    /// The last answer. A page has one thread.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of this many bytes, to be given to [`answer`].
#[unsafe(no_mangle)]
pub extern "C" fn room(n_bytes: usize) -> *mut u8 {
    Box::into_raw(vec![0_u8; n_bytes].into_boxed_slice()).cast()
}

/// Answers the question that was written to a [`room`]; returns the address of the answer.
///
/// # Safety
///
/// `at` is from `room(n_bytes)`, and was not given here before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn answer(at: *mut u8, n_bytes: usize) -> *const u8 {
    // SAFETY: The room was a boxed slice of that size, and nothing else owns it.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, n_bytes)) };
    let text = crate::answer(&String::from_utf8_lossy(&question));
    LAST.with_borrow_mut(|last| {
        *last = text;
        last.as_ptr()
    })
}

/// Bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    LAST.with_borrow(String::len)
}

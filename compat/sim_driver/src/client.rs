//! Memory behind the client's pointers: values, lists and texts that are read from it and written
//! to it.
//!
//! Every pointer is the client's, checked for null; as with a driver, the client is responsible for
//! where it points.
#![allow(
    clippy::undocumented_unsafe_blocks,
    clippy::missing_safety_doc,
    reason = "see above"
)]

use std::ffi::{CStr, c_char};

use crate::status::{Outcome, Status};

/// Writes a value for the client.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) -> Outcome {
    Status::INVALID_VALUE.when(out.is_null())?;
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Writes a value for the client, if it asks for it.
pub(crate) unsafe fn put_if<T>(out: *mut T, value: T) {
    if !out.is_null() {
        unsafe { out.write_unaligned(value) };
    }
}

/// Reads a value from the client.
pub(crate) unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    Status::INVALID_VALUE.when(from.is_null())?;
    Ok(unsafe { from.read_unaligned() })
}

/// Reads a list from the client.
pub(crate) unsafe fn list<T: Copy>(from: *const T, n: usize) -> Outcome<Vec<T>> {
    if n == 0 {
        return Ok(Vec::new());
    }
    Status::INVALID_VALUE.when(from.is_null())?;
    Ok((0..n)
        .map(|i| unsafe { from.add(i).read_unaligned() })
        .collect())
}

/// Writes as many elements as there is room for, and their total number; without a list, only the
/// number.
pub(crate) unsafe fn put_list<T: Copy>(values: &[T], out: *mut T, n: *mut usize) -> Outcome {
    let room = unsafe { get(n)? };
    if !out.is_null() {
        for (i, &value) in values.iter().take(room).enumerate() {
            unsafe { out.add(i).write_unaligned(value) };
        }
        return unsafe { put(n, values.len().min(room)) };
    }
    unsafe { put(n, values.len()) }
}

/// Reads a name from the client.
pub(crate) unsafe fn text<'a>(from: *const c_char) -> Outcome<&'a str> {
    Status::INVALID_VALUE.when(from.is_null())?;
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map_err(|_| Status::INVALID_VALUE)
}

/// Writes a text for the client, truncated to the room there is.
pub(crate) unsafe fn put_text(out: *mut c_char, room: usize, text: &str) -> Outcome {
    Status::INVALID_VALUE.when(out.is_null() || room == 0)?;
    let n = text.len().min(room - 1);
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast::<u8>(), n);
        out.add(n).write(0);
    }
    Ok(())
}

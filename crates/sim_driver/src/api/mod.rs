//! The driver's functions, as `cuda.h` declares them.
//!
//! Every function catches its own panics, and answers what a driver answers; what its
//! arguments point to is the client's to get right, as with a driver. [`function`] finds one
//! by name. Functions that use a default stream have a twin, `…_ptsz` or `…_ptds`, for
//! programs whose default stream is each thread's own.
#![allow(non_snake_case)]
#![allow(missing_docs, reason = "they are what `cuda.h` documents")]
#![allow(
    clippy::missing_safety_doc,
    reason = "each is what `cuda.h` says of it"
)]
#![allow(clippy::too_many_arguments, reason = "theirs")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every pointer is the client's, checked for null; see `call`"
)]

pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod graph;
pub mod graph_node;
pub mod host;
pub(crate) mod jit;
pub mod kernel;
pub mod launch;
pub mod library;
pub mod link;
pub mod memory;
pub mod misc;
pub mod module;
pub mod occupancy;
pub mod stream;
pub mod tensor_map;
pub mod user_object;

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::driver::driver;
use crate::operation::Operation;
use crate::status::{Outcome, Status};
use crate::stream::{Stream, StreamKind};

/// A function of the driver.
pub struct Entry {
    /// Its name in the library.
    pub name: &'static str,
    /// Where it is.
    pub function: *const (),
}

// SAFETY: A function's address may be used by any thread.
unsafe impl Sync for Entry {}

/// Declares driver functions: each body gives an [`Outcome`].
///
/// `name, twin(…) in stream` declares a pair: `stream` is one of the arguments, or several,
/// and in the twin its zero is the thread's own default stream. `name, twin(…) with stream`
/// declares a pair whose `stream` is the default stream, which is no argument.
macro_rules! api {
    ($(fn $name:ident $(, $twin:ident)? ($($arg:ident: $ty:ty),* $(,)?) $(in $($stream:ident),+)? $(with $default:ident)? $body:block)*) => {
        $(
            $crate::api::api! { @one $name $(, $twin)? ($($arg: $ty),*) $(in $($stream),+)? $(with $default)? $body }
        )*
        pub(super) const ENTRIES: &[$crate::api::Entry] = &[
            $(
                $crate::api::Entry { name: stringify!($name), function: $name as *const () },
                $($crate::api::Entry { name: stringify!($twin), function: $twin as *const () },)?
            )*
        ];
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) $body:block) => {
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::api::call(stringify!($name), move || -> $crate::status::Outcome {
                #[allow(unused_unsafe)]
                unsafe { $body }
            })
        }
    };
    (@one $name:ident, $twin:ident ($($arg:ident: $ty:ty),*) in $($stream:ident),+ $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) $body }
        $crate::api::api! { @one $twin ($($arg: $ty),*) {
            $(let $stream = if $stream == 0 { $crate::stream::PER_THREAD } else { $stream };)+
            $body
        } }
    };
    (@one $name:ident, $twin:ident ($($arg:ident: $ty:ty),*) with $stream:ident $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) {
            let $stream = 0_usize;
            $body
        } }
        $crate::api::api! { @one $twin ($($arg: $ty),*) {
            let $stream = $crate::stream::PER_THREAD;
            $body
        } }
    };
}
use api;

const ALL: &[&[Entry]] = &[
    context::ENTRIES,
    copy::ENTRIES,
    device::ENTRIES,
    event::ENTRIES,
    graph::ENTRIES,
    graph_node::ENTRIES,
    host::ENTRIES,
    kernel::ENTRIES,
    launch::ENTRIES,
    library::ENTRIES,
    link::ENTRIES,
    memory::ENTRIES,
    misc::ENTRIES,
    module::ENTRIES,
    occupancy::ENTRIES,
    stream::ENTRIES,
    tensor_map::ENTRIES,
    user_object::ENTRIES,
];

/// All functions that there are.
pub fn functions() -> impl Iterator<Item = &'static Entry> {
    ALL.iter().copied().flatten()
}

/// The function of a name: to be called with the arguments that `cuda.h` says.
pub fn function(name: &str) -> Option<*const ()> {
    let entry = functions().find(|entry| entry.name == name);
    entry.map(|entry| entry.function)
}

/// What a function answers that is not simulated.
pub fn not_simulated(name: &'static str) -> u32 {
    call(name, || {
        if let Ok(driver) = driver() {
            driver.recorder.note(&format!("{name} is not simulated"));
        }
        Err(Status::NOT_SUPPORTED)
    })
}

/// Runs a function's body: nothing but its answer leaves it.
fn call(name: &'static str, body: impl FnOnce() -> Outcome) -> u32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            if let Ok(driver) = driver() {
                driver
                    .recorder
                    .note(&format!("a bug of the simulator's driver, in {name}"));
            }
            Status::UNKNOWN.0
        }
    }
}

/// Gives a value to the client.
unsafe fn put<T>(out: *mut T, value: T) -> Outcome {
    if out.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Gives a value to the client if it asks for it.
unsafe fn put_if<T>(out: *mut T, value: T) {
    if !out.is_null() {
        unsafe { out.write_unaligned(value) };
    }
}

/// Takes a value from the client.
unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    Ok(unsafe { from.read_unaligned() })
}

/// Takes a list from the client.
unsafe fn list<T: Copy>(from: *const T, n: usize) -> Outcome<Vec<T>> {
    if n == 0 {
        return Ok(Vec::new());
    }
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    Ok((0..n)
        .map(|i| unsafe { from.add(i).read_unaligned() })
        .collect())
}

/// Gives as many elements as there is room for, and tells how many there are; without a
/// list, tells that only.
unsafe fn put_list<T: Copy>(values: &[T], out: *mut T, n: *mut usize) -> Outcome {
    let room = unsafe { get(n)? };
    if !out.is_null() {
        for (i, &value) in values.iter().take(room).enumerate() {
            unsafe { out.add(i).write_unaligned(value) };
        }
        return unsafe { put(n, values.len().min(room)) };
    }
    unsafe { put(n, values.len()) }
}

/// Takes a name from the client.
unsafe fn text<'a>(from: *const c_char) -> Outcome<&'a str> {
    if from.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let text = unsafe { CStr::from_ptr(from) };
    text.to_str().map_err(|_| Status::INVALID_VALUE)
}

/// Gives a text to the client, cut to the room that there is.
unsafe fn put_text(out: *mut c_char, room: usize, text: &str) -> Outcome {
    if out.is_null() || room == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let n = text.len().min(room - 1);
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), out.cast::<u8>(), n);
        out.add(n).write(0);
    }
    Ok(())
}

/// Has an operation done by a stream, or captured.
fn submit(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    if let Some(capture) = &mut *stream.capture() {
        capture.add(operation);
        return Ok(());
    }
    stream.submit(&context, operation);
    Ok(())
}

/// Has an operation done by a default stream, and waits for it.
fn run(stream: usize, operation: Operation) -> Outcome {
    let (context, stream) = Stream::of(stream)?;
    match stream.kind {
        StreamKind::Legacy => not_captured(&context)?,
        _ => not_capturing(&stream)?,
    }
    stream.run(&context, operation);
    context.check()
}

/// An error if a stream is captured, and the end of that capture.
fn not_capturing(stream: &Stream) -> Outcome {
    match &*stream.capture() {
        Some(capture) => {
            capture.invalidate();
            Err(Status::STREAM_CAPTURE_UNSUPPORTED)
        }
        None => Ok(()),
    }
}

/// An error if a stream is captured that the legacy stream would have to wait for.
fn not_captured(context: &crate::context::Context) -> Outcome {
    let streams = context.all_streams();
    let waits =
        |s: &std::sync::Arc<Stream>| s.kind == StreamKind::Blocking && s.capture().is_some();
    if streams.iter().any(waits) {
        return Err(Status::STREAM_CAPTURE_IMPLICIT);
    }
    Ok(())
}

/// What a lock holds, whoever held it before.
fn unpoisoned<T>(locked: Result<T, std::sync::PoisonError<T>>) -> T {
    locked.unwrap_or_else(std::sync::PoisonError::into_inner)
}

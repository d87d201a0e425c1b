//! The runtime's functions, as `cuda_runtime_api.h` declares them.
//!
//! Every function catches its own panics and keeps its error as the thread's last one; the client
//! is responsible for what its arguments point to. Functions whose stream is 0 have a variant,
//! `…_ptsz` or `…_ptds`, for programs in which each thread has its own default stream.
#![allow(non_snake_case)]
#![allow(missing_docs, reason = "they are what `cuda_runtime_api.h` documents")]
#![allow(
    clippy::missing_safety_doc,
    reason = "each is what `cuda_runtime_api.h` says of it"
)]
#![allow(clippy::too_many_arguments, reason = "theirs")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every pointer is the client's, checked for null or by the driver; see `call`"
)]

pub mod copy;
pub mod device;
pub mod errors;
pub mod function;
pub mod graph;
pub mod graph_node;
pub mod launch;
pub mod library;
pub mod memory;
pub mod registration;
pub mod set;
pub mod stream;
pub mod symbol;
pub mod v12;
pub mod v13;

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Outcome, record};

/// The default stream of each thread.
const PER_THREAD: usize = 2;

/// Declares runtime functions: each body returns an [`Outcome`].
///
/// `name, per_thread(…) in stream` declares a pair: `stream` is one of the arguments, and in the
/// variant, zero there means the thread's own stream. `name, per_thread(…) with stream` declares a
/// pair that waits: `stream` is `None`, or the thread's own stream in the variant.
///
/// `name(…) = function needs out;` does what the driver's function does in the thread's context, if
/// `out` is not null. `name(…) = function on device;` needs no context, but that `device` exists.
macro_rules! api {
    ($(fn $name:ident $(, $per_thread:ident)? ($($arg:ident: $ty:ty),* $(,)?) $(in $stream:ident)? $(with $default:ident)? $($body:block)? $(= $function:ident $(needs $($out:ident),+)? $(on $($device:ident),+)?;)?)*) => {
        $(
            $crate::api::api! { @one $name $(, $per_thread)? ($($arg: $ty),*) $(in $stream)? $(with $default)? $($body)? $(= $function $(needs $($out),+)? $(on $($device),+)?)? }
        )*
    };
    (@one $name:ident $(, $per_thread:ident)? ($($arg:ident: $ty:ty),*) $(in $stream:ident)? = $function:ident $(needs $($out:ident),+)?) => {
        $crate::api::api! { @one $name $(, $per_thread)? ($($arg: $ty),*) $(in $stream)? {
            $($($crate::api::needed($out)?;)+)?
            $crate::current::ready()?;
            $crate::driver::functions! { fn $function($($arg: $ty),*); }
            $function($($arg),*)
        } }
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) = $function:ident $(needs $out:ident)? on $($device:ident),+) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) {
            $($crate::api::needed($out)?;)?
            $($crate::current::check_device($device)?;)+
            $crate::driver::functions! { fn $function($($arg: $ty),*); }
            $function($($arg),*)
        } }
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) $body:block) => {
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::api::call(move || -> $crate::error::Outcome {
                #[allow(unused_unsafe)]
                unsafe { $body }
            })
        }
    };
    (@one $name:ident, $per_thread:ident ($($arg:ident: $ty:ty),*) in $stream:ident $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) $body }
        $crate::api::api! { @one $per_thread ($($arg: $ty),*) {
            let $stream = if $stream == 0 { $crate::api::PER_THREAD } else { $stream };
            $body
        } }
    };
    (@one $name:ident, $per_thread:ident ($($arg:ident: $ty:ty),*) with $stream:ident $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) {
            let $stream: Option<usize> = None;
            $body
        } }
        $crate::api::api! { @one $per_thread ($($arg: $ty),*) {
            let $stream = Some($crate::api::PER_THREAD);
            $body
        } }
    };
}
use api;

/// Runs a function's body, and keeps its error.
fn call(body: impl FnOnce() -> Outcome) -> u32 {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => error,
        Err(_) => Error::UNKNOWN,
    };
    record(error);
    error.0
}

/// The result of a function that is not simulated; the driver's log names it.
pub fn not_simulated(name: &str) -> u32 {
    call(|| {
        crate::current::initialize()?;
        if let Ok(note) = CString::new(format!("{name} is not simulated")) {
            // NVIDIA's driver has no such log.
            let _ = unsafe { crate::driver::lockstepNote(note.as_ptr()) };
        }
        Err(Error::NOT_SUPPORTED)
    })
}

/// `CU_STREAM_CAPTURE_MODE_RELAXED`
const RELAXED: u32 = 2;

/// Makes a stream do something, and waits for it.
unsafe fn wait_for(stream: usize, done: Outcome) -> Outcome {
    done?;
    // A capture forbids waiting, but not copies that wait.
    let mut mode = RELAXED;
    unsafe {
        crate::driver::cuThreadExchangeStreamCaptureMode(&mut mode)?;
        let waited = crate::driver::cuStreamSynchronize(stream);
        crate::driver::cuThreadExchangeStreamCaptureMode(&mut mode)?;
        waited
    }
}

/// An error if there is no place for a result.
fn needed<T>(out: *const T) -> Outcome {
    match out.is_null() {
        true => Err(Error::INVALID_VALUE),
        false => Ok(()),
    }
}

/// Writes a value for the client.
unsafe fn put<T>(out: *mut T, value: T) -> Outcome {
    needed(out)?;
    unsafe { out.write_unaligned(value) };
    Ok(())
}

/// Reads a value from the client.
unsafe fn get<T: Copy>(from: *const T) -> Outcome<T> {
    needed(from)?;
    Ok(unsafe { from.read_unaligned() })
}

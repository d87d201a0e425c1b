//! NCCL's functions, as `nccl.h` declares them.
//!
//! Every function catches its own panics; as with NVIDIA's library, the client is responsible for
//! what its arguments point to.
#![allow(non_snake_case)]
#![allow(missing_docs, reason = "they are what `nccl.h` documents")]
#![allow(
    clippy::missing_safety_doc,
    reason = "each is what `nccl.h` says of it"
)]
#![allow(clippy::too_many_arguments, reason = "theirs")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every pointer is the client's, checked for null"
)]

pub mod collectives;
pub mod communicators;
pub mod errors;
pub mod memory;
pub mod operators;

mod buffers;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::group;
use crate::result::{self, Code, Outcome, ensure};

/// Declares functions: each body returns an [`Outcome`].
macro_rules! api {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::api::call(stringify!($name), move || -> $crate::result::Outcome {
                #[allow(unused_unsafe)]
                unsafe { $body }
            })
        }
    )* };
}
use api;

/// Runs a function's body, and keeps its error.
fn call(name: &str, body: impl FnOnce() -> Outcome) -> u32 {
    let bug = || Err(Code::INTERNAL.because("a bug in the simulator's NCCL"));
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| bug());
    let Err(failure) = outcome else {
        return Code::SUCCESS.0;
    };
    result::record(&format!("{name}: {}", failure.text));
    group::note(&failure);
    failure.code.0
}

/// The error of a function that is not there.
fn not_supported() -> Outcome {
    Err(Code::INVALID_USAGE.because("it is not supported on the simulator"))
}

/// Writes a value for the client.
unsafe fn put<T>(out: *mut T, value: T) -> Outcome {
    ensure(!out.is_null(), "the place for the result is null")?;
    unsafe { out.write_unaligned(value) };
    Ok(())
}

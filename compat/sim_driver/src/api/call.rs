//! The declaration of functions: their bodies return an [`Outcome`], and nothing escapes them
//! except that result.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fork;
use crate::recorder::recorder;
use crate::session;
use crate::status::{Outcome, Status};

/// A function of the driver.
pub struct Entry {
    /// Its name in the library.
    pub name: &'static str,
    /// Its address.
    pub function: *const (),
}

// SAFETY: any thread may use a function's address.
unsafe impl Sync for Entry {}

/// Functions that captures forbid: what they do could depend on captured work. A GPU's driver
/// refuses these and no others, apart from those that take a stream or an event.
const UNSAFE: [&str; 21] = [
    "cuCtxSetLimit",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphInstantiateWithParams",
    "cuGraphInstantiate_v2",
    "cuLibraryUnload",
    "cuMemAdvise",
    "cuMemAdvise_v2",
    "cuMemAllocHost_v2",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemPoolCreate",
    "cuMemPoolDestroy",
    "cuMemPoolTrimTo",
    "cuModuleUnload",
];

/// Declares driver functions: each body returns an [`Outcome`].
///
/// `name, per_thread(…) in stream` declares a pair: `stream` is one or more of the arguments, and
/// in the variant, zero there means the thread's own default stream. `name, per_thread(…) with
/// stream` declares a pair whose `stream` is the default stream, which is not an argument.
///
/// `name(…) = other;` does what `other`, with the same arguments, does, and `name() =
/// refusal(name);` returns what `refusal` returns for that name.
macro_rules! api {
    ($(fn $name:ident $(, $per_thread:ident)? ($($arg:ident: $ty:ty),* $(,)?) $(in $($stream:ident),+)? $(with $default:ident)? $($body:block)? $(= $other:ident $(($named:ident))?;)?)*) => {
        $(
            $crate::api::api! { @one $name $(, $per_thread)? ($($arg: $ty),*) $(in $($stream),+)? $(with $default)? $($body)? $(= $other $(($named))?)? }
        )*
        pub(super) const ENTRIES: &[$crate::api::Entry] = &[
            $(
                $crate::api::Entry { name: stringify!($name), function: $name as *const () },
                $($crate::api::Entry { name: stringify!($per_thread), function: $per_thread as *const () },)?
            )*
        ];
    };
    (@one $name:ident () = $refusal:ident (name)) => {
        $crate::api::api! { @one $name () { $refusal(stringify!($name)) } }
    };
    (@one $name:ident $(, $per_thread:ident)? ($($arg:ident: $ty:ty),*) $(in $($stream:ident),+)? = $other:ident) => {
        $crate::api::api! { @one $name $(, $per_thread)? ($($arg: $ty),*) $(in $($stream),+)? {
            $crate::api::answered($other($($arg),*))
        } }
    };
    (@one $name:ident ($($arg:ident: $ty:ty),*) $body:block) => {
        pub unsafe extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::api::call::call(stringify!($name), move || -> $crate::status::Outcome {
                #[allow(unused_unsafe)]
                unsafe { $body }
            })
        }
    };
    (@one $name:ident, $per_thread:ident ($($arg:ident: $ty:ty),*) in $($stream:ident),+ $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) $body }
        $crate::api::api! { @one $per_thread ($($arg: $ty),*) {
            $(let $stream = if $stream == 0 { $crate::stream::PER_THREAD } else { $stream };)+
            $body
        } }
    };
    (@one $name:ident, $per_thread:ident ($($arg:ident: $ty:ty),*) with $stream:ident $body:block) => {
        $crate::api::api! { @one $name ($($arg: $ty),*) {
            let $stream = 0_usize;
            $body
        } }
        $crate::api::api! { @one $per_thread ($($arg: $ty),*) {
            let $stream = $crate::stream::PER_THREAD;
            $body
        } }
    };
}
pub(super) use api;

/// The result of a function that is not simulated.
pub fn not_simulated(name: &'static str) -> u32 {
    call(name, || {
        if let Ok(recorder) = recorder() {
            recorder.note(&format!("{name} is not simulated"));
        }
        Err(Status::NOT_SUPPORTED)
    })
}

/// Runs a function's body; nothing escapes it except its result.
pub(crate) fn call(name: &'static str, body: impl FnOnce() -> Outcome) -> u32 {
    if fork::is_lost_to(name) {
        return Status::NOT_INITIALIZED.0;
    }
    let body = || {
        if session::is_any() && UNSAFE.contains(&name) {
            session::permit()?;
        }
        body()
    };
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(status)) => status.0,
        Err(_) => {
            if let Ok(recorder) = recorder() {
                recorder.note(&format!("a bug in the simulator's driver, in {name}"));
            }
            Status::UNKNOWN.0
        }
    }
}

/// The result of another function.
pub(super) fn answered(status: u32) -> Outcome {
    match status {
        0 => Ok(()),
        error => Err(Status(error)),
    }
}

/// The contents of a lock, even if a holder panicked.
pub(super) fn unpoisoned<T>(locked: Result<T, std::sync::PoisonError<T>>) -> T {
    locked.unwrap_or_else(std::sync::PoisonError::into_inner)
}

//! The driver under test: the simulator's, or the library that `LOCKSTEP_TEST_DRIVER` names. So the
//! same tests show what a real driver returns.

use std::sync::LazyLock;

use libloading::Library;

static REAL: LazyLock<Option<Library>> = LazyLock::new(|| {
    let path = std::env::var_os("LOCKSTEP_TEST_DRIVER").filter(|path| !path.is_empty())?;
    let library = unsafe { Library::new(&path) };
    Some(library.unwrap_or_else(|error| panic!("{}: {error}", path.display())))
});

/// Whether a GPU is under test.
pub fn is_real() -> bool {
    REAL.is_some()
}

/// A function of the driver under test, in place of the simulator's own.
pub fn instead<F: Copy>(own: F, name: &str) -> F {
    let Some(library) = &*REAL else { return own };
    let found = unsafe { library.get::<F>(name) };
    *found.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A type that is inferred, one per argument.
macro_rules! inferred {
    ($argument:expr) => {
        _
    };
}

/// Calls a function of the driver under test.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let own: unsafe extern "C" fn($($crate::under_test::inferred!($argument)),*) -> u32 = $name;
        let function = $crate::under_test::instead(own, stringify!($name));
        #[allow(unused_unsafe, reason = "tests may be in an `unsafe` block for another reason")]
        let status: u32 = unsafe { function($($argument),*) };
        status
    }};
}

/// Calls a function of the driver under test, which must succeed.
macro_rules! ok {
    ($($call:tt)*) => {
        $crate::client::ok($crate::under_test::call!($($call)*))
    };
}

/// Calls a function of the driver under test, which must fail: `fails!(cuFree(0) with INVALID_VALUE)`.
macro_rules! fails {
    ($name:ident($($argument:expr),* $(,)?) with $status:ident) => {{
        let status = $crate::under_test::call!($name($($argument),*));
        assert_eq!(status, sim_driver::Status::$status.0, stringify!($name($($argument),*)));
    }};
}

/// What a function of the driver under test, which must succeed, writes into a variable:
/// `got!(n of cuDeviceGetCount(&mut n))`.
macro_rules! got {
    ($out:ident of $($call:tt)*) => {{
        let mut $out = Default::default();
        $crate::under_test::ok!($($call)*);
        $out
    }};
}

pub(crate) use {call, fails, got, inferred, ok};

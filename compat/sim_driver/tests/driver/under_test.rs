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

/// Functions of this many parameters.
macro_rules! arities {
    ($($instead:ident($($parameter:ident),*);)*) => {$(
        /// [`instead`], for a function with this many parameters.
        pub fn $instead<$($parameter),*>(
            own: unsafe extern "C" fn($($parameter),*) -> u32,
            name: &str,
        ) -> unsafe extern "C" fn($($parameter),*) -> u32 {
            instead(own, name)
        }
    )*};
}

arities! {
    instead_0();
    instead_1(A);
    instead_2(A, B);
    instead_3(A, B, C);
    instead_4(A, B, C, D);
    instead_5(A, B, C, D, E);
    instead_6(A, B, C, D, E, F);
    instead_8(A, B, C, D, E, F, G, H);
    instead_10(A, B, C, D, E, F, G, H, I, J);
    instead_11(A, B, C, D, E, F, G, H, I, J, K);
    instead_12(A, B, C, D, E, F, G, H, I, J, K, L);
}

/// Calls a function of the driver under test.
macro_rules! call {
    ($name:ident()) => {
        $crate::under_test::instead_0($name, stringify!($name))()
    };
    ($name:ident($a:expr $(,)?)) => {
        $crate::under_test::instead_1($name, stringify!($name))($a)
    };
    ($name:ident($a:expr, $b:expr $(,)?)) => {
        $crate::under_test::instead_2($name, stringify!($name))($a, $b)
    };
    ($name:ident($a:expr, $b:expr, $c:expr $(,)?)) => {
        $crate::under_test::instead_3($name, stringify!($name))($a, $b, $c)
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr $(,)?)) => {
        $crate::under_test::instead_4($name, stringify!($name))($a, $b, $c, $d)
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr $(,)?)) => {
        $crate::under_test::instead_5($name, stringify!($name))($a, $b, $c, $d, $e)
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr $(,)?)) => {
        $crate::under_test::instead_6($name, stringify!($name))($a, $b, $c, $d, $e, $f)
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr $(,)?)) => {};
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr $(,)?)) => {
        $crate::under_test::instead_8($name, stringify!($name))($a, $b, $c, $d, $e, $f, $g, $h)
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr, $i:expr, $j:expr $(,)?)) => {
        $crate::under_test::instead_10($name, stringify!($name))(
            $a, $b, $c, $d, $e, $f, $g, $h, $i, $j,
        )
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr, $i:expr, $j:expr, $k:expr $(,)?)) => {
        $crate::under_test::instead_11($name, stringify!($name))(
            $a, $b, $c, $d, $e, $f, $g, $h, $i, $j, $k,
        )
    };
    ($name:ident($a:expr, $b:expr, $c:expr, $d:expr, $e:expr, $f:expr, $g:expr, $h:expr, $i:expr, $j:expr, $k:expr, $l:expr $(,)?)) => {
        $crate::under_test::instead_12($name, stringify!($name))(
            $a, $b, $c, $d, $e, $f, $g, $h, $i, $j, $k, $l,
        )
    };
}

pub(crate) use call;

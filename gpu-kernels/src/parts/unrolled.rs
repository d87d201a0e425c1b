//! Loops that are not loops: for arrays that must live in registers.

/// Longest loop that [`unrolled`] takes.
pub(crate) const MAX_UNROLLED: usize = 128;

/// Calls `body` with 0, 1, … `N` − 1. It is not a loop: there are `N` calls, each
/// with a constant.
#[inline(always)]
pub(crate) fn unrolled<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= MAX_UNROLLED) };
    /// Calls from `$j` on: each number in brackets halves them.
    macro_rules! calls {
        ($j:expr, []) => {
            if $j < N {
                body($j);
            }
        };
        ($j:expr, [$half:literal $($quarter:literal)*]) => {
            calls!($j, [$($quarter)*]);
            calls!($j + $half, [$($quarter)*]);
        };
    }
    calls!(0, [64 32 16 8 4 2 1]);
}

/// Writes a block of code out for every number listed, which is a constant in it:
/// `unrolled!(I in [0 1 2 3] { … })`.
///
/// An array whose elements are only named by constants can live in registers. The
/// compiler unrolls short loops on its own, but not nested loops around hundreds of
/// instructions, and then the array is in local memory.
macro_rules! written_out {
    ($i:ident in [$($number:literal)*] $body:block) => { $( {
        const $i: usize = $number;
        $body
    } )* };
}
pub(crate) use written_out as unrolled;

#[cfg(test)]
mod tests {
    use super::{MAX_UNROLLED, unrolled};

    #[test]
    fn unrolled_counts_up() {
        fn calls<const N: usize>() {
            let mut next = 0;
            unrolled::<N>(|j| {
                assert_eq!(j, next);
                next += 1;
            });
            assert_eq!(next, N);
        }
        calls::<0>();
        calls::<1>();
        calls::<31>();
        calls::<64>();
        calls::<127>();
        calls::<MAX_UNROLLED>();
    }
}

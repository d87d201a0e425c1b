//! Loops that are written out, for arrays that must be in registers.

/// Most calls that [`unrolled`] makes.
const MAX_UNROLLED: usize = 128;

/// Calls `body` with 0, 1, … `N` − 1. It is not a loop: there are `N` calls, each with a constant.
///
/// An array is in registers if all its indices are constants when the code is compiled. The compiler
/// unrolls most loops with constant bounds on its own; this one needs no decision of the compiler's.
///
/// `N` is at most 128. If `body` needs its number as a constant of the language, for a const
/// parameter or a `const` of its own, use the macro [`unrolled!`](crate::unrolled!).
///
/// ```
/// use cuda_std::unrolled;
///
/// /// The sum of each of `4` lanes' `8` values.
/// fn sums(values: &[[f32; 4]; 8]) -> [f32; 4] {
///     let mut sums = [0.0; 4];
///     unrolled::<8>(|row| unrolled::<4>(|lane| sums[lane] += values[row][lane]));
///     sums
/// }
/// assert_eq!(sums(&[[1.0, 2.0, 3.0, 4.0]; 8]), [8.0, 16.0, 24.0, 32.0]);
/// ```
///
/// ```compile_fail
/// cuda_std::unrolled::<129>(|_| ());
/// ```
#[inline(always)]
pub fn unrolled<const N: usize>(mut body: impl FnMut(usize)) {
    const { assert!(N <= MAX_UNROLLED, "`unrolled` makes at most 128 calls") };
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

/// Writes a block of code out for every number listed, which is a constant (`usize`) in it.
///
/// As the function [`unrolled`](fn@crate::unrolled), with two differences: the number can be a const
/// argument, and the block is part of the function around it, so that `return` and `?` leave that
/// one, and variables can be borrowed as in any block.
///
/// ```
/// use cuda_std::unrolled;
///
/// /// A fragment's registers, each shifted by its own distance.
/// fn shifted<const BY: u32>(register: u32) -> u32 {
///     register << BY
/// }
/// let mut fragment = [1_u32; 4];
/// unrolled!(R in [0 1 2 3] {
///     fragment[R] = shifted::<{ R as u32 }>(fragment[R]);
/// });
/// assert_eq!(fragment, [1, 2, 4, 8]);
/// ```
#[macro_export]
macro_rules! unrolled {
    ($i:ident in [$($number:literal)*] $body:block) => { $( {
        const $i: usize = $number;
        $body
    } )* };
}

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

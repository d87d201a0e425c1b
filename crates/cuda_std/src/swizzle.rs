//! Layouts that permute offsets, so that rows spread over the banks of shared memory.
//!
//! [`Swizzle<B, M, S>`](Swizzle) is CuTe's bit form: bits `[M, M+B)` of an
//! offset are XORed with bits `[M+S, M+S+B)`.
//!
//! ```text
//!   offset    … s s s … d d d m m m
//!                 │       ▲   └─┬─┘
//!                 │   B bits    M bits, untouched: 2ᴹ neighbours stay neighbours
//!                 └──XOR──┘
//!             S bits further up
//! ```
//!
//! The bits that are XORed in do not change, so the swizzle is its own inverse and
//! one-to-one whatever the parameters, as long as source and target do not
//! overlap (S ≥ B). The unit of the offset is up to the user: elements in a
//! [`Tile`](crate::tile::Tile), bytes where a byte address is swizzled.
//!
//! Everything is evaluated at compile time except the shift, the AND and the XOR.

use crate::tile::Layout;

/// Bits `[M, M+B)` ^= bits `[M+S, M+S+B)`.
///
/// Parameters that make no sense do not compile: more bits than an offset has,
/// or bits XORed with themselves (S < B), which would not be one-to-one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swizzle<const B: u32, const M: u32, const S: u32>;

impl<const B: u32, const M: u32, const S: u32> Swizzle<B, M, S> {
    const VALID: () = {
        assert!(
            S >= B,
            "Swizzle<B, M, S>: S must be at least B, or bits are XORed with themselves"
        );
        assert!(
            B + M + S < 32,
            "Swizzle<B, M, S>: B + M + S must be less than 32, the bits of an offset"
        );
    };

    /// The place of `offset`.
    #[inline(always)]
    pub const fn apply(offset: u32) -> u32 {
        let () = Self::VALID;
        let mask = ((1 << B) - 1) << M;
        offset ^ ((offset >> S) & mask)
    }
}

impl<const B: u32, const M: u32, const S: u32> Layout for Swizzle<B, M, S> {
    const GRANULE: u32 = {
        let () = Self::VALID;
        1 << M
    };
    const SPAN: u32 = 1 << (M + B);
    const REACH: u32 = 1 << (M + S);
    const PERIOD: u32 = 1 << (M + S + B);

    #[inline(always)]
    fn place(offset: u32) -> u32 {
        Self::apply(offset)
    }
}

/// `First`, then `Second` on its result.
///
/// The order matters if the second reads bits that the first wrote. Neither has padding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Composed<First, Second>(First, Second);

impl<First: Layout, Second: Layout> Layout for Composed<First, Second> {
    const PADDING: u32 = {
        assert!(
            First::PADDING == 0 && Second::PADDING == 0,
            "layouts with padding are not composed"
        );
        0
    };
    const GRANULE: u32 = min(First::GRANULE, Second::GRANULE);
    const SPAN: u32 = max(First::SPAN, Second::SPAN);
    const REACH: u32 = min(First::REACH, Second::REACH);
    const PERIOD: u32 = max(First::PERIOD, Second::PERIOD);

    #[inline(always)]
    fn place(offset: u32) -> u32 {
        Second::place(First::place(offset))
    }
}

const fn min(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

const fn max(a: u32, b: u32) -> u32 {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a permutation is what [`Layout`] says, on a memory of `n` offsets.
    fn keeps_its_promises<P: Layout>(n: u32) {
        assert_eq!(n % P::SPAN, 0);
        let mut taken = [false; 1 << 12];
        for offset in 0..n {
            let to = P::place(offset);
            assert_eq!(
                to / P::SPAN,
                offset / P::SPAN,
                "{offset} leaves its span for {to}"
            );
            assert_eq!(to % P::GRANULE, offset % P::GRANULE);
            assert_eq!(
                to - to % P::GRANULE,
                P::place(offset - offset % P::GRANULE),
                "the granule of {offset} is torn"
            );
            assert!(offset >= P::REACH || to == offset);
            assert_eq!(P::place(offset + P::PERIOD), to + P::PERIOD);
            assert!(!core::mem::replace(&mut taken[to as usize], true));
        }
    }

    #[test]
    fn swizzles_are_bijections_that_move_whole_granules() {
        keeps_its_promises::<Swizzle<0, 3, 3>>(4096);
        keeps_its_promises::<Swizzle<1, 3, 3>>(4096);
        keeps_its_promises::<Swizzle<2, 3, 3>>(4096);
        keeps_its_promises::<Swizzle<3, 3, 3>>(4096);
        keeps_its_promises::<Swizzle<3, 3, 5>>(4096);
        keeps_its_promises::<Swizzle<3, 4, 3>>(4096);
        keeps_its_promises::<Swizzle<5, 0, 5>>(4096);
        keeps_its_promises::<Swizzle<1, 0, 11>>(4096);
        keeps_its_promises::<Composed<Swizzle<3, 3, 5>, Swizzle<1, 3, 3>>>(4096);
        keeps_its_promises::<Composed<Swizzle<1, 3, 3>, Swizzle<2, 5, 4>>>(4096);
    }

    #[test]
    fn bits_are_those_that_the_name_says() {
        assert_eq!(Swizzle::<1, 3, 3>::apply(0b100_0000), 0b100_1000);
        assert_eq!(Swizzle::<3, 3, 5>::apply(0b111 << 8), 0b111_0011_1000);
        assert_eq!(Swizzle::<3, 4, 3>::apply(0b101 << 7), 0b10_1101_0000);
    }

    #[test]
    fn the_second_layer_sees_the_first_ones_result() {
        // The first sets bit 6, which the second reads.
        type Both = Composed<Swizzle<1, 6, 2>, Swizzle<1, 3, 3>>;
        type Swapped = Composed<Swizzle<1, 3, 3>, Swizzle<1, 6, 2>>;
        assert_eq!(Both::place(1 << 8), 1 << 8 | 1 << 6 | 1 << 3);
        assert_eq!(Swapped::place(1 << 8), 1 << 8 | 1 << 6);
    }
}

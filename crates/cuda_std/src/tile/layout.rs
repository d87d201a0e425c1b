//! The layouts of a [`Tile`](super::Tile).

use core::marker::PhantomData;

use crate::swizzle::Permutation;

/// Where the elements of a tile lie.
pub trait Layout: Copy + 'static {
    /// Elements left unused at the end of each row.
    const PADDING: u32;
    /// Elements that stay neighbours: aligned groups of this many, a power of
    /// two.
    const GRANULE: u32;
    /// The tile's size must be a multiple of this many elements.
    const SPAN: u32;
    /// Offsets below this one stay in place; 0 for layouts that do not permute.
    const REACH: u32;
    /// The period of the layout: this many elements further on, places are as many further on.
    const PERIOD: u32;
    /// Where the element that row-by-row counting puts at `offset` lies.
    fn place(offset: u32) -> u32;
}

/// Row after row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Layout for Plain {
    const PADDING: u32 = 0;
    const GRANULE: u32 = 1 << 31;
    const SPAN: u32 = 1;
    const REACH: u32 = 0;
    const PERIOD: u32 = 1;

    #[inline(always)]
    fn place(offset: u32) -> u32 {
        offset
    }
}

/// Row after row, with `P` unused elements after each.
///
/// `P` is positive: a padding of 0 is [`Plain`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Padded<const P: u32>;

impl<const P: u32> Layout for Padded<P> {
    const PADDING: u32 = {
        assert!(P > 0, "a padding of 0 elements is the layout `Plain`");
        P
    };
    const GRANULE: u32 = 1 << 31;
    const SPAN: u32 = 1;
    const REACH: u32 = 0;
    const PERIOD: u32 = 1;

    #[inline(always)]
    fn place(offset: u32) -> u32 {
        offset
    }
}

/// Row after row, then permuted by `Z`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swizzled<Z>(PhantomData<Z>);

impl<Z: Permutation> Layout for Swizzled<Z> {
    const PADDING: u32 = 0;
    const GRANULE: u32 = Z::GRANULE;
    const SPAN: u32 = Z::SPAN;
    const REACH: u32 = Z::REACH;
    const PERIOD: u32 = Z::PERIOD;

    #[inline(always)]
    fn place(offset: u32) -> u32 {
        Z::apply(offset)
    }
}

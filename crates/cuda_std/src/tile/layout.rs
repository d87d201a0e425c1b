//! The layouts of a [`Tile`](super::Tile): those without a swizzle. The others are in
//! [`swizzle`](crate::swizzle).

/// Where the elements of a tile lie: a one-to-one map of offsets, made of whole granules.
pub trait Layout: Copy + 'static {
    /// Elements left unused at the end of each row.
    const PADDING: u32 = 0;
    /// Elements that stay adjacent: aligned groups of this many are moved as a whole. A
    /// power of two.
    const GRANULE: u32;
    /// Aligned groups of this many offsets are mapped onto themselves. A power of two; no place
    /// lies outside a tile whose size is a multiple of it.
    const SPAN: u32;
    /// Offsets below this one stay in place, so a tile no larger than this is not permuted
    /// at all; 0 for layouts that do not permute.
    const REACH: u32;
    /// The period of the layout: offsets this much higher have places this much higher. A power of
    /// two.
    const PERIOD: u32;
    /// The place of the element that is at `offset` when counted row by row.
    fn place(offset: u32) -> u32;
}

/// Row after row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Layout for Plain {
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

//! Operands in shared memory: where their elements lie, as a type.

use core::marker::PhantomData;

/// An element type of the factors; sums of the floats are `f32`, those of the integers `i32`.
pub trait Factor: Copy + 'static {
    /// The type of the sums of products.
    type Sum: Copy + 'static;
    /// Bytes of one element.
    const BYTES: u32;
}

macro_rules! factors {
    ($($(#[$doc:meta])* $name:ident: $sum:ident, $bytes:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Factor for $name {
            type Sum = $sum;
            const BYTES: u32 = $bytes;
        }
    )* };
}

factors! {
    /// `f32` of which only the upper 19 bits count.
    Tf32: f32, 4;
    /// 8 bits, 4 of them exponent.
    E4m3: f32, 1;
    /// 8 bits, 5 of them exponent.
    E5m2: f32, 1;
}

macro_rules! own_factors {
    ($($t:ty: $sum:ident;)*) => { $(
        impl Factor for $t {
            type Sum = $sum;
            const BYTES: u32 = size_of::<$t>() as u32;
        }
    )* };
}

own_factors! {
    half::f16: f32;
    half::bf16: f32;
    i8: i32;
    u8: i32;
}

/// Bytes that a swizzled row has.
pub const ROW_BYTES: u32 = 128;
/// Alignment of a tile, in bytes: eight rows, after which the swizzle repeats.
pub const TILE_ALIGN_BYTES: u32 = 8 * ROW_BYTES;

/// The direction of the 128-byte rows that make up a tile, as a tensor copy with a
/// swizzle of 128 bytes leaves them. An operand is seen as A's rows (m) or B's columns (n), each
/// of them along k.
pub trait Rows: Copy + 'static {
    /// Strides and swizzle, as the descriptor has them.
    #[doc(hidden)]
    const DESCRIPTOR: u64;
    /// From one instruction's part of k to the next, as the descriptor counts.
    #[doc(hidden)]
    const STEP: u64;
    /// The instruction's `imm-trans`.
    #[doc(hidden)]
    const IS_TRANSPOSED: u32;
}

/// A row runs along k: 64 of them for 64 rows of A, N for N columns of B, one after another.
///
/// For A that is stored row by row, or B column by column.
#[derive(Clone, Copy, Debug)]
pub struct AlongK;

/// A row runs across k: 64 elements of m or n for one k. 64 rows, one for each k, make a box of
/// 8 KB; a wider operand has several boxes, one after another. For elements of 16 bits.
///
/// For A that is stored column by column, or B row by row.
#[derive(Clone, Copy, Debug)]
pub struct AcrossK;

/// Depth of a box across k.
const BOX_K: u64 = 64;

const SWIZZLE_128: u64 = 1 << 62;
/// Bits of the descriptor from which the strides are, in units of 16 bytes.
const LEADING: u32 = 16;
const STRIDE: u32 = 32;
/// From eight rows to the next eight, in units of 16 bytes.
const EIGHT_ROWS: u64 = (TILE_ALIGN_BYTES >> 4) as u64;

impl Rows for AlongK {
    // The leading stride has no meaning here; 1 is what NVIDIA's own code gives.
    const DESCRIPTOR: u64 = SWIZZLE_128 | EIGHT_ROWS << STRIDE | 1 << LEADING;
    /// 32 bytes of each row.
    const STEP: u64 = 32 >> 4;
    const IS_TRANSPOSED: u32 = 0;
}

impl Rows for AcrossK {
    const DESCRIPTOR: u64 =
        SWIZZLE_128 | EIGHT_ROWS << STRIDE | ((BOX_K * ROW_BYTES as u64) >> 4) << LEADING;
    /// 16 rows.
    const STEP: u64 = (16 * ROW_BYTES as u64) >> 4;
    const IS_TRANSPOSED: u32 = 1;
}

/// An operand in shared memory, 128 bytes deep along k: 64 elements of 16 bits, 32 of 32, 128 of 8.
///
/// A plain handle: 64 bits by which the instruction finds the elements.
pub struct Operand<T, R> {
    descriptor: u64,
    is: PhantomData<(T, R)>,
}

impl<T, R> Clone for Operand<T, R> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, R> Copy for Operand<T, R> {}

impl<T: Factor, R: Rows> Operand<T, R> {
    /// The operand whose tile is at `address` in shared memory, a multiple of
    /// [`TILE_ALIGN_BYTES`].
    #[inline(always)]
    pub const fn at(address: u32) -> Self {
        const {
            assert!(
                T::BYTES == 2 || R::IS_TRANSPOSED == 0,
                "only elements of 16 bits may lie across k"
            );
        }
        // 18 bits of an address, without the lowest four.
        Self::of(R::DESCRIPTOR | ((address & 0x3_FFFF) >> 4) as u64)
    }

    /// The same operand in a tile that lies this many bytes further, a multiple of
    /// [`TILE_ALIGN_BYTES`].
    #[inline(always)]
    #[must_use]
    pub const fn further(self, n_bytes: u32) -> Self {
        Self::of(self.descriptor + (n_bytes >> 4) as u64)
    }

    /// The descriptor, as `wgmma` takes it.
    #[inline(always)]
    pub const fn descriptor(self) -> u64 {
        self.descriptor
    }

    #[inline(always)]
    const fn of(descriptor: u64) -> Self {
        Self {
            descriptor,
            is: PhantomData,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AcrossK, AlongK, Operand};
    use half::f16;

    #[test]
    fn descriptors_have_the_fields_that_the_manual_gives() {
        let field = |descriptor: u64, first: u32, n: u32| descriptor >> first & ((1 << n) - 1);
        let along = Operand::<f16, AlongK>::at(0x1_2400).descriptor();
        assert_eq!(field(along, 0, 14), 0x1240);
        assert_eq!(field(along, 32, 14) << 4, 1024);
        assert_eq!(field(along, 62, 2), 1, "a swizzle of 128 bytes");
        let across = Operand::<f16, AcrossK>::at(0x400).descriptor();
        assert_eq!(field(across, 16, 14) << 4, 64 * 128);
        assert_eq!(field(across, 32, 14) << 4, 1024);
    }

    #[test]
    fn a_stage_further_is_the_same_tile_elsewhere() {
        let first = Operand::<f16, AlongK>::at(1024);
        let second = Operand::<f16, AlongK>::at(1024 + 49_152);
        assert_eq!(first.further(49_152).descriptor(), second.descriptor());
    }
}

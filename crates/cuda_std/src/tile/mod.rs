//! A matrix in shared memory whose layout is part of its type.
//!
//! [`Tile<T, ROWS, COLUMNS, L>`](Tile) is a handle: an address and a type.
//! Every access names a row and a column, and only `L` decides where that element
//! lies, for stores and loads alike. So a layout is changed by changing a type,
//! in one place, and the store cannot disagree with the load.
//!
//! | layout | offset of element (row, column) | costs |
//! |---|---|---|
//! | [`Plain`] | `row · COLUMNS + column` | bank conflicts down a column |
//! | [`Padded<P>`](Padded) | `row · (COLUMNS + P) + column` | `ROWS · P` elements of memory |
//! | [`Swizzle<B, M, S>`](crate::swizzle::Swizzle) | that of `row · COLUMNS + column` | a shift, an AND, a XOR |
//!
//! A layout that does not fit does not compile: a swizzle that would leave the
//! tile or do nothing in it, a 16-byte access to elements that the layout separates,
//! rows that do not start at the alignment that `ldmatrix` needs.
//!
//! Left out: bounds. `row < ROWS` and `column < COLUMNS` are the caller's responsibility;
//! the simulator checks the tile's memory as a whole.

mod layout;

use core::marker::PhantomData;

pub use layout::{Layout, Padded, Plain};

/// Alignment in bytes that [`shared_tile!`](crate::shared_tile) gives a tile:
/// one line of all 32 banks, so that the offset alone determines the bank.
pub const TILE_ALIGN_BYTES: usize = 128;

/// A `ROWS`×`COLUMNS` matrix of `T` in shared memory, laid out by `L`.
///
/// It is a plain handle: copies of it are the same memory.
pub struct Tile<T, const ROWS: u32, const COLUMNS: u32, L> {
    base: *mut T,
    /// `base` in the shared space, for instructions that need it.
    shared_address: u32,
    layout: PhantomData<L>,
}

impl<T, const ROWS: u32, const COLUMNS: u32, L> Clone for Tile<T, ROWS, COLUMNS, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: u32, const COLUMNS: u32, L> Copy for Tile<T, ROWS, COLUMNS, L> {}

impl<T: Copy, const ROWS: u32, const COLUMNS: u32, L: Layout> Tile<T, ROWS, COLUMNS, L> {
    const VALID: () = {
        assert!(ROWS > 0 && COLUMNS > 0, "a tile has rows and columns");
        let n_elements = ROWS * (COLUMNS + L::PADDING);
        assert!(
            n_elements.is_multiple_of(L::SPAN),
            "the swizzle leaves the tile: its size must be a multiple of 2^(B+M) elements"
        );
        assert!(
            L::REACH == 0 || L::REACH < n_elements,
            "the swizzle does nothing here: its source bits (from M+S) lie beyond the tile's offsets"
        );
    };

    /// Elements from one row to the next.
    pub const PITCH: u32 = COLUMNS + L::PADDING;

    /// Elements of memory that the tile takes up, padding included.
    pub const N_ELEMENTS: usize = {
        let () = Self::VALID;
        (ROWS * Self::PITCH) as usize
    };

    /// Offset of element `(row, column)` in the tile's memory, in elements.
    #[inline(always)]
    pub fn offset(row: u32, column: u32) -> u32 {
        let () = Self::VALID;
        L::place(row * Self::PITCH + column)
    }

    /// Compile-time: whether `n` consecutive elements of a row, from a column that is a multiple
    /// of `n`, lie together and aligned to their size.
    const fn keeps_together(n: u32) -> bool {
        n.is_power_of_two()
            && COLUMNS.is_multiple_of(n)
            && Self::PITCH.is_multiple_of(n)
            && L::GRANULE >= n
    }

    /// The tile at `base`.
    ///
    /// # Safety
    ///
    /// `base` comes from [`shared_array!`](crate::shared_array) or
    /// [`dynamic_shared_mem`](crate::shared::dynamic_shared_mem), has room for
    /// [`N_ELEMENTS`](Self::N_ELEMENTS), and is aligned to
    /// [`TILE_ALIGN_BYTES`]. All threads of the block use it as one type at a
    /// time.
    #[inline(always)]
    pub unsafe fn new(base: *mut T) -> Self {
        let () = Self::VALID;
        Self {
            base,
            shared_address: crate::shared::address_in_space(base),
            layout: PhantomData,
        }
    }

    /// The same memory in another layout. Its contents are then *not* the same
    /// matrix: load everything first, let all threads do so (a barrier), and
    /// store it again through the new type.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new), for the new type.
    #[inline(always)]
    pub unsafe fn relaid<M: Layout>(self) -> Tile<T, ROWS, COLUMNS, M> {
        const {
            assert!(
                Tile::<T, ROWS, COLUMNS, M>::N_ELEMENTS <= Self::N_ELEMENTS,
                "the new layout needs more memory than the old one has"
            );
        }
        Tile {
            base: self.base,
            shared_address: self.shared_address,
            layout: PhantomData,
        }
    }

    /// The pointer to element `(row, column)`.
    ///
    /// # Safety
    ///
    /// `row < ROWS` and `column < COLUMNS`.
    #[inline(always)]
    pub unsafe fn element(self, row: u32, column: u32) -> *mut T {
        // SAFETY: the layout maps every element into the tile's memory.
        unsafe { self.base.add(Self::offset(row, column) as usize) }
    }

    /// The pointer to the elements that make up a `V`, from `(row, column)` on.
    ///
    /// Compiles only if the layout keeps this many together.
    ///
    /// # Safety
    ///
    /// `row < ROWS`, `column < COLUMNS`, and `column` is a multiple of the
    /// number of elements in a `V`.
    #[inline(always)]
    pub unsafe fn chunk<V: Copy>(self, row: u32, column: u32) -> *mut V {
        const {
            assert!(
                size_of::<V>().is_multiple_of(size_of::<T>())
                    && Self::keeps_together((size_of::<V>() / size_of::<T>()) as u32),
                "the layout does not keep this many elements together, aligned to their size"
            );
        }
        // SAFETY: by this function's own contract.
        unsafe { self.element(row, column).cast() }
    }

    /// Address in the shared space of the 8 elements of 16 bytes that begin at
    /// `(row, column)`: a row of an `ldmatrix` or `stmatrix` matrix, or the
    /// target of a 16-byte `cp.async`.
    ///
    /// Compiles only if the layout keeps them together at an address that is a
    /// multiple of 16.
    #[inline(always)]
    pub fn row_address(self, row: u32, column: u32) -> u32 {
        const {
            assert!(
                Self::keeps_together((16 / size_of::<T>()) as u32),
                "rows of 16 bytes must stay together and start at multiples of 16 bytes: columns and padding \
                 multiples of 16 bytes, and a swizzle whose M keeps 16 bytes"
            );
        }
        self.shared_address + Self::offset(row, column) * size_of::<T>() as u32
    }

    /// [`row_address`](Self::row_address) of the row `N` below `row`, as that of `row` plus a
    /// constant, which the instruction adds: one register serves several rows.
    ///
    /// (Computed anew, it takes a register of its own: LLVM turns additions into ORs, and then no
    /// longer sees that the swizzle does the same to both rows.)
    ///
    /// Compiles only if the layout repeats after `N` rows.
    #[inline(always)]
    pub fn row_address_below<const N: u32>(self, row: u32, column: u32) -> u32 {
        self.row_address(row, column) + Self::elements_below::<N>() * size_of::<T>() as u32
    }

    /// [`chunk`](Self::chunk) of the row `N` below `row`, as
    /// [`row_address_below`](Self::row_address_below).
    ///
    /// # Safety
    ///
    /// As [`chunk`](Self::chunk), for the row below.
    #[inline(always)]
    pub unsafe fn chunk_below<V: Copy, const N: u32>(self, row: u32, column: u32) -> *mut V {
        let below = Self::elements_below::<N>() as usize * size_of::<T>();
        // SAFETY: by this function's own contract.
        unsafe { self.chunk::<V>(row, column).byte_add(below) }
    }

    /// Elements from a place to the one `N` rows below.
    const fn elements_below<const N: u32>() -> u32 {
        const {
            let below = N * Self::PITCH;
            assert!(
                below.is_multiple_of(L::PERIOD),
                "the layout does not repeat after this many rows"
            );
            below
        }
    }

    /// Address in the shared space of the first byte.
    #[inline(always)]
    pub fn shared_address(self) -> u32 {
        self.shared_address
    }
}

/// The parts of a tile, for [`shared_tile!`](crate::shared_tile).
#[doc(hidden)]
pub trait Stored {
    /// Type of an element.
    type Element;
}
impl<T, const ROWS: u32, const COLUMNS: u32, L> Stored for Tile<T, ROWS, COLUMNS, L> {
    type Element = T;
}

/// A tile in static shared memory of its own: `shared_tile!(Tile<f16, 16, 16, Plain>)`.
///
/// The type may use names visible in the enclosing module, but no generic
/// parameters, as in [`shared_array!`](crate::shared_array). The memory is not
/// initialised.
#[macro_export]
macro_rules! shared_tile {
    ($tile:ty) => {{
        let base = $crate::shared_array![
            <$tile as $crate::tile::Stored>::Element;
            <$tile>::N_ELEMENTS,
            align = $crate::tile::TILE_ALIGN_BYTES
        ];
        // SAFETY: the array was made for this tile.
        #[allow(unused_unsafe)]
        unsafe { <$tile>::new(base) }
    }};
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swizzle::{Composed, Swizzle};

    /// Every element has a place of its own within the tile's memory.
    fn is_one_to_one<const ROWS: u32, const COLUMNS: u32, L: Layout>() {
        let mut taken = [false; 8192];
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let offset = Tile::<u16, ROWS, COLUMNS, L>::offset(row, column) as usize;
                assert!(offset < Tile::<u16, ROWS, COLUMNS, L>::N_ELEMENTS);
                assert!(!core::mem::replace(&mut taken[offset], true));
            }
        }
    }

    #[test]
    fn layouts_are_one_to_one() {
        is_one_to_one::<16, 16, Plain>();
        is_one_to_one::<16, 16, Padded<8>>();
        is_one_to_one::<5, 7, Padded<3>>();
        is_one_to_one::<16, 16, Swizzle<1, 3, 3>>();
        is_one_to_one::<16, 32, Swizzle<2, 3, 3>>();
        is_one_to_one::<16, 64, Swizzle<3, 3, 3>>();
        is_one_to_one::<16, 256, Composed<Swizzle<3, 3, 5>, Swizzle<1, 3, 3>>>();
    }

    #[test]
    fn rows_below_are_a_constant_away() {
        let tile = Tile::<u16, 64, 64, Swizzle<3, 3, 3>> {
            base: core::ptr::null_mut(),
            shared_address: 0,
            layout: PhantomData,
        };
        for (row, column) in (0..16).flat_map(|row| (0..64).step_by(8).map(move |c| (row, c))) {
            assert_eq!(
                tile.row_address_below::<16>(row, column),
                tile.row_address(row + 16, column)
            );
        }
    }

    #[test]
    fn padding_makes_rows_longer() {
        assert_eq!(Tile::<u16, 16, 16, Padded<8>>::PITCH, 24);
        assert_eq!(Tile::<u16, 16, 16, Padded<8>>::N_ELEMENTS, 384);
        assert_eq!(Tile::<u16, 16, 16, Padded<8>>::offset(2, 3), 51);
    }
}

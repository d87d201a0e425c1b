//! A tile in shared memory: filled by all threads, then read by all.

use core::hint::assert_unchecked;
use core::marker::PhantomData;

use super::map::{Geometry, Reason};
use crate::device_copy::DeviceCopy;
use crate::thread;

/// Where the elements of a tile lie: made by [`tile_layout!`](crate::tile_layout) from a
/// function, after the compiler has tried all of its arguments.
///
/// It is not a [`Layout`](crate::tile::Layout), because a safe kernel relies on it: the compiler
/// can try a `const fn` at all places of one size, and cannot call a trait's function.
///
/// # Safety
///
/// `offset` is one-to-one for `row < ROWS` and `column < COLUMNS`, and less than
/// `N_ELEMENTS`.
pub unsafe trait TileLayout: Copy + 'static {
    /// Rows of the tile, and threads of a block along y.
    const ROWS: u32;
    /// Columns of the tile, and threads of a block along x.
    const COLUMNS: u32;
    /// Elements of memory that the tile takes up.
    const N_ELEMENTS: usize;

    /// Where element `(row, column)` lies, in elements.
    fn offset(row: u32, column: u32) -> usize;
}

/// A layout for tiles in safe kernels, from a `const fn` that says where an element lies:
///
/// ```
/// const fn columns_first(row: u32, column: u32) -> usize {
///     (column * 8 + row) as usize
/// }
///
/// cuda_std::tile_layout! {
///     /// Column after column.
///     pub ColumnsFirst = columns_first(8, 16);
/// }
/// ```
///
/// The numbers are the tile's rows and columns. A function that puts two elements in one place
/// does not compile.
#[macro_export]
macro_rules! tile_layout {
    ($($(#[$about:meta])* $visibility:vis $name:ident = $offset:ident($rows:expr, $columns:expr);)*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name;

        const _: () = {
            const ROWS: u32 = $rows;
            const COLUMNS: u32 = $columns;
            const N_ELEMENTS: usize = {
                let (mut n, mut end) = (0, 0);
                while n < ROWS * COLUMNS {
                    let place = $offset(n / COLUMNS, n % COLUMNS);
                    end = if place < end { end } else { place + 1 };
                    n += 1;
                }
                end
            };

            const fn is_one_to_one() -> bool {
                let mut taken = [false; N_ELEMENTS];
                let mut n = 0;
                while n < ROWS * COLUMNS {
                    let place = $offset(n / COLUMNS, n % COLUMNS);
                    if ::core::mem::replace(&mut taken[place], true) {
                        return false;
                    }
                    n += 1;
                }
                true
            }
            ::core::assert!(is_one_to_one(), "two elements of the tile lie in one place");

            // SAFETY: all elements were tried, above.
            unsafe impl $crate::view::TileLayout for $name {
                const ROWS: u32 = ROWS;
                const COLUMNS: u32 = COLUMNS;
                const N_ELEMENTS: usize = N_ELEMENTS;

                #[inline(always)]
                fn offset(row: u32, column: u32) -> usize {
                    $offset(row, column)
                }
            }
        };
    )* };
}

/// A tile after its barrier.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the tile is read before its barrier: other threads may not have put their elements yet",
    label = "not filled yet",
    note = "wait for them by `let tile = tile.sync(barrier);`"
)]
pub trait Readable {}

/// The token that lets a block's threads wait for each other once: [`Filling::sync`] takes it.
///
/// Only `#[kernel]` makes one, for a parameter of this type. It is neither `Copy` nor
/// `Clone`.
pub struct Barrier(());

impl Barrier {
    /// A token. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// All threads of the block make it, and pass it to the same barrier or end.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new() -> Self {
        Self(())
    }
}

/// A tile that the block's threads fill: a kernel's parameter `Filling<T, L>` is one in
/// static shared memory of its own, laid out by `L`.
///
/// A block has a thread for each element. The tile is neither `Copy` nor `Clone`.
pub struct Filling<T, L> {
    base: *mut T,
    layout: PhantomData<L>,
}

impl<T: DeviceCopy, L: TileLayout> Filling<T, L> {
    /// The tile at `base`. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// `base` is shared memory with room for the layout's elements, the same for all
    /// threads of the block and accessed only through this tile. The launch has a
    /// geometry that the tile admits. A thread makes one tile of this memory.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *mut T) -> Self {
        Self {
            base,
            layout: PhantomData,
        }
    }

    /// Whether a launch's blocks have a thread for each element.
    ///
    /// # Errors
    ///
    /// The requirement that the launch does not meet.
    pub fn admits(launch: Geometry) -> Result<(), Reason> {
        if launch.block != [L::COLUMNS, L::ROWS, 1] {
            return Err(
                "elements of the tile would have two threads, or none: a block must be as large as the tile",
            );
        }
        Ok(())
    }

    /// Puts this thread's own element in its place: row `threadIdx.y`, column `threadIdx.x`.
    #[inline(always)]
    pub fn put(&mut self, value: T) {
        let (column, row) = (thread::thread_idx_x(), thread::thread_idx_y());
        // SAFETY: the layout's places are in the tile's memory, and this one is not another
        // thread's. No thread reads before the barrier.
        unsafe { *self.base.add(L::offset(row, column)) = value }
    }

    /// [`Filled::get`], which only a tile after its barrier has: here it does not compile.
    #[doc(hidden)]
    pub fn get(&self, _row: u32, _column: u32) -> T
    where
        Self: Readable,
    {
        unreachable!()
    }

    /// Waits until all of the block's threads have arrived or ended. From then on the tile is
    /// read.
    ///
    /// `#[kernel]` allows it only as `let … = tile.sync(barrier);` at the outermost level
    /// of a kernel's body.
    #[inline(always)]
    pub fn sync(self, barrier: Barrier) -> Filled<T, L> {
        let Barrier(()) = barrier;
        // SAFETY: `#[kernel]` lets the token be spent only where all threads reach it.
        unsafe { thread::sync_threads() }
        Filled {
            base: self.base,
            layout: PhantomData,
        }
    }
}

/// A tile after its barrier: any thread reads any element, and nothing writes.
///
/// An element that no thread has put has an arbitrary value.
pub struct Filled<T, L> {
    base: *const T,
    layout: PhantomData<L>,
}

impl<T: DeviceCopy, L: TileLayout> Filled<T, L> {
    /// The element `(row, column)`. If they are the thread's `threadIdx.x` and `.y`, in either
    /// order, the compiler sees that the tile has it, and the PTX contains no test.
    ///
    /// # Panics
    ///
    /// The tile has no such row or column.
    #[inline(always)]
    pub fn get(&self, row: u32, column: u32) -> T {
        let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
        // SAFETY: a block has a thread for each element, which the launch has checked.
        unsafe { assert_unchecked(x < L::COLUMNS && y < L::ROWS) };
        assert!(row < L::ROWS && column < L::COLUMNS, "outside the tile");
        // SAFETY: the layout's places are in the tile's memory, and nothing writes there.
        unsafe { *self.base.add(L::offset(row, column)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn xor(row: u32, column: u32) -> usize {
        (row * 4 + (column ^ row)) as usize
    }
    const fn longer(row: u32, column: u32) -> usize {
        (row * 5 + column) as usize
    }
    tile_layout! {
        Xor = xor(4, 4);
        Longer = longer(3, 4);
    }

    #[test]
    fn a_layout_is_its_function() {
        assert_eq!(Xor::offset(3, 1), xor(3, 1));
        assert_eq!(
            (Longer::ROWS, Longer::COLUMNS, Longer::N_ELEMENTS),
            (3, 4, 14)
        );
    }

    #[test]
    fn a_block_has_a_thread_for_each_element() {
        let admits = |block| {
            let grid = [7, 7, 7];
            Filling::<f32, Longer>::admits(Geometry { grid, block }).is_ok()
        };
        assert!(admits([4, 3, 1]));
        for block in [[3, 4, 1], [4, 4, 1], [4, 3, 2], [12, 1, 1], [4, 2, 1]] {
            assert!(!admits(block), "{block:?}");
        }
    }
}

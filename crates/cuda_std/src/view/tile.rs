//! A tile in shared memory and its phases: filled, read, added to.
//!
//! | phase | a thread may | the next phase |
//! |---|---|---|
//! | [`Filling`] | write its own elements | [`Filled`] by [`Block::sync`], [`Adding`] by [`Block::sync_for_adding`] |
//! | [`Filled`] | read any element | [`Filling`] by [`Block::sync`] |
//! | [`Adding`] | add to any element, atomically | [`Filled`] by [`Block::sync`] |
//!
//! [`Block::sync`]: super::Block::sync
//! [`Block::sync_for_adding`]: super::Block::sync_for_adding

use core::hint::assert_unchecked;
use core::marker::PhantomData;

use super::layout::{ThreadPerElement, TileLayout};
use super::map::{Geometry, Reason};
use crate::atomic::{self, AtomicAdd};
use crate::device_copy::{DeviceCopy, load, store};
use crate::thread;

/// The memory of a tile. It is neither `Copy` nor `Clone`: a thread has it in one phase.
struct Memory<T, L> {
    base: *mut T,
    layout: PhantomData<L>,
}

impl<T: DeviceCopy, L: TileLayout> Memory<T, L> {
    /// Column and row of this thread in its block.
    #[inline(always)]
    fn thread(&self) -> (u32, u32) {
        let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
        // SAFETY: the launch has checked the block's size.
        unsafe { assert_unchecked(x < L::BLOCK[0] && y < L::BLOCK[1]) };
        (x, y)
    }

    /// The address of an element.
    ///
    /// # Panics
    ///
    /// The tile has no such row or column.
    #[inline(always)]
    #[track_caller]
    fn place(&self, row: u32, column: u32) -> *mut T {
        // Lets the compiler see that indices near the thread's own are in the tile.
        self.thread();
        assert!(row < L::ROWS && column < L::COLUMNS, "outside the tile");
        // SAFETY: the layout's places are in the tile's memory.
        unsafe { self.base.add(L::offset(row, column)) }
    }
}

/// A phase of a tile, or of several in a tuple, that a barrier ends.
///
/// # Safety
///
/// `next` gives the same tiles.
#[diagnostic::on_unimplemented(
    message = "a barrier turns over tiles, alone or as a tuple, and `{Self}` is none",
    label = "not a tile"
)]
pub unsafe trait Phase {
    /// What the tile is after the barrier.
    type Next;

    /// The tile in its next phase.
    ///
    /// # Safety
    ///
    /// All threads of the block have passed a barrier at which they hold it in this phase.
    #[doc(hidden)]
    unsafe fn next(self) -> Self::Next;
}

/// A tile that the block's threads fill, each its own elements: a kernel's parameter
/// `Filling<T, L>` is one in static shared memory of its own, laid out by `L`.
///
/// `TILE` numbers the tiles of a kernel, so that each has a type of its own; `#[kernel]` gives
/// the number. A function that takes any of them is generic over it.
pub struct Filling<T, L, const TILE: u32 = 0>(Memory<T, L>);

/// A tile after its barrier: any thread reads any element, and nothing writes.
///
/// An element that no thread has put has an arbitrary value.
pub struct Filled<T, L, const TILE: u32 = 0>(Memory<T, L>);

/// A tile to which threads add, each to any element. None reads it before the next barrier.
pub struct Adding<T, L, const TILE: u32 = 0>(Memory<T, L>);

impl<T: DeviceCopy, L: TileLayout, const TILE: u32> Filling<T, L, TILE> {
    /// The tile at `base`. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// `base` is shared memory with room for the layout's elements, the same for all
    /// threads of the block and accessed only through this tile. The launch has a
    /// geometry that the tile admits. A thread makes one tile of this memory and of this type.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *mut T) -> Self {
        Self(Memory {
            base,
            layout: PhantomData,
        })
    }

    /// Whether a launch's blocks are those that the layout is for.
    ///
    /// # Errors
    ///
    /// The requirement that the launch does not meet.
    pub fn admits(launch: Geometry) -> Result<(), Reason> {
        let block = [L::BLOCK[0], L::BLOCK[1], 1];
        if launch.block != block {
            let what = "elements of the tile would have two threads, or none";
            return Err(Reason::block(block, what));
        }
        Ok(())
    }

    /// Puts this thread's own element in its place: row `threadIdx.y`, column `threadIdx.x`.
    #[inline(always)]
    pub fn put(&mut self, value: T)
    where
        L: ThreadPerElement,
    {
        let (column, row) = self.0.thread();
        // SAFETY: the place is not another thread's, and no thread reads before the barrier.
        unsafe { store(self.0.place(row, column), value) }
    }

    /// Puts `value(row, column)` in the place of each of this thread's own elements: row by row,
    /// the threads of a block take turns. If all threads call it, the tile is full.
    #[inline(always)]
    pub fn fill(&mut self, mut value: impl FnMut(u32, u32) -> T) {
        let (x, y) = self.0.thread();
        let [width, height] = L::BLOCK;
        let mut put = |row, column| {
            let value = value(row, column);
            // SAFETY: as in `put`. Threads start at different elements, and all go on by the
            // number of threads.
            unsafe { store(self.0.place(row, column), value) }
        };
        if [width, height] == [L::COLUMNS, L::ROWS] {
            return put(y, x);
        }
        let (n_threads, n_elements) = (width * height, L::ROWS * L::COLUMNS);
        for round in 0..n_elements.div_ceil(n_threads) {
            let n = round * n_threads + y * width + x;
            if n < n_elements {
                put(n / L::COLUMNS, n % L::COLUMNS);
            }
        }
    }

    /// [`Filled::get`], which only a tile after its barrier has: here it does not compile.
    #[doc(hidden)]
    pub fn get(&self, _row: u32, _column: u32) -> T
    where
        Self: Readable,
    {
        unreachable!()
    }

    /// Let threads add to it, as zeroed or filled so far: for a block's barrier.
    ///
    /// # Safety
    ///
    /// As [`Phase::next`].
    #[inline(always)]
    pub(super) unsafe fn adding(self) -> Adding<T, L, TILE> {
        Adding(self.0)
    }
}

impl<T: DeviceCopy, L: TileLayout, const TILE: u32> Filled<T, L, TILE> {
    /// The element `(row, column)`. If the compiler sees that the tile has it, because they are
    /// `threadIdx.x` and `.y`, in either order, or near them, the PTX contains no test.
    ///
    /// # Panics
    ///
    /// The tile has no such row or column.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, row: u32, column: u32) -> T {
        // SAFETY: nothing writes there.
        unsafe { load(self.0.place(row, column)) }
    }
}

impl<T: DeviceCopy + AtomicAdd, L: TileLayout, const TILE: u32> Adding<T, L, TILE> {
    /// Adds `value` to the element `(row, column)`, atomically, and returns what it was before:
    /// integers wrap, and floats round in an order that is not known.
    ///
    /// # Panics
    ///
    /// The tile has no such row or column.
    #[inline(always)]
    #[track_caller]
    pub fn add(&self, row: u32, column: u32, value: T) -> T {
        let place = self.0.place(row, column);
        // SAFETY: until the barrier all accesses are such additions.
        unsafe { atomic::add(place, value, atomic::Shared, atomic::Block, atomic::Relaxed) }
    }

    /// As [`Filling::get`]: here it does not compile.
    #[doc(hidden)]
    pub fn get(&self, _row: u32, _column: u32) -> T
    where
        Self: Readable,
    {
        unreachable!()
    }
}

/// A tile after its barrier.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the tile is read before its barrier: other threads may still write to it",
    label = "not to be read yet",
    note = "wait for them by `let tile = block.sync(tile);`"
)]
pub trait Readable {}

macro_rules! phases {
    ($($now:ident => $next:ident;)*) => { $(
        // SAFETY: it has the same memory.
        unsafe impl<T, L, const TILE: u32> Phase for $now<T, L, TILE> {
            type Next = $next<T, L, TILE>;

            #[inline(always)]
            unsafe fn next(self) -> Self::Next {
                $next(self.0)
            }
        }
    )* };
}
phases! {
    Filling => Filled;
    Filled => Filling;
    Adding => Filled;
}

macro_rules! phases_of_several {
    ($(($($tile:ident: $of:ident),*);)*) => { $(
        // SAFETY: each has the same memory.
        unsafe impl<$($of: Phase),*> Phase for ($($of,)*) {
            type Next = ($($of::Next,)*);

            #[inline(always)]
            unsafe fn next(self) -> Self::Next {
                let ($($tile,)*) = self;
                // SAFETY: by this function's own contract.
                unsafe { ($($tile.next(),)*) }
            }
        }
    )* };
}
phases_of_several! {
    (a: A, b: B);
    (a: A, b: B, c: C);
    (a: A, b: B, c: C, d: D);
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rows_first(row: u32, column: u32) -> usize {
        (row * 4 + column) as usize
    }
    crate::tile_layout! {
        Single = rows_first(3, 4);
        Several = rows_first(3, 4), block = [8, 2];
    }

    #[test]
    fn a_block_is_as_large_as_the_layout_says() {
        fn admitted<L: TileLayout>(block: [u32; 3]) -> bool {
            let grid = [7, 7, 7];
            Filling::<f32, L>::admits(Geometry { grid, block }).is_ok()
        }
        assert!(admitted::<Single>([4, 3, 1]));
        for block in [[3, 4, 1], [4, 4, 1], [4, 3, 2], [12, 1, 1], [4, 2, 1]] {
            assert!(!admitted::<Single>(block), "{block:?}");
        }
        assert!(admitted::<Several>([8, 2, 1]));
        assert!(!admitted::<Several>([4, 3, 1]) && !admitted::<Several>([8, 2, 2]));
    }
}

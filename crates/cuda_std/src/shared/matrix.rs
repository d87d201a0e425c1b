//! Shared arrays of two dimensions, indexed as `tile[row][column]`.

use core::marker::{PhantomData, PhantomPinned};
use core::ops::{Index, IndexMut};

/// Shared memory of `ROWS` rows, each with `COLUMNS` adjacent elements: what
/// [`shared_array![[T; COLUMNS]; ROWS]`](crate::shared_array) gives.
///
/// It is a plain handle: copies of it are the same memory, which is not initialised.
///
/// Indices are `u32`, `usize` or literals. One that is too large panics, as a slice's does. Where the
/// compiler knows that it is not (a loop's counter, `x % 32`), an access takes as many instructions
/// as with a pointer, or one more. Elsewhere it has a comparison and a branch for each value that
/// is an index, also for `thread_idx_x()`, whose range the compiler does not know.
///
/// ```
/// # use cuda_std::prelude::*;
/// /// Transposes squares of 32×32 elements, without bank conflicts.
/// #[kernel(launch_bounds(1024))]
/// pub unsafe fn transpose(input: *const f32, output: *mut f32) {
///     let mut tile = shared_array![[f32; 32]; 32];
///     let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
///     tile[y][x ^ y] = *input.add((32 * y + x) as usize);
///     thread::sync_threads();
///     *output.add((32 * y + x) as usize) = tile[x][y ^ x];
/// }
/// ```
#[derive(Debug)]
pub struct Matrix<T, const ROWS: usize, const COLUMNS: usize> {
    elements: *mut T,
}

impl<T, const ROWS: usize, const COLUMNS: usize> Clone for Matrix<T, ROWS, COLUMNS> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const ROWS: usize, const COLUMNS: usize> Copy for Matrix<T, ROWS, COLUMNS> {}

impl<T, const ROWS: usize, const COLUMNS: usize> Matrix<T, ROWS, COLUMNS> {
    /// The matrix at `elements`.
    ///
    /// # Safety
    ///
    /// `elements` points to `ROWS * COLUMNS` elements, which nothing else uses. An element that a
    /// thread writes is not read or written by another unless a barrier is between the two. The
    /// macro leaves this promise to the kernel, an `unsafe fn`:
    ///
    /// ```compile_fail,E0133
    /// let tile = cuda_std::shared_array![[f32; 32]; 32];
    /// ```
    #[inline(always)]
    pub const unsafe fn new(elements: *mut T) -> Self {
        Self { elements }
    }

    /// The pointer to the first element.
    #[inline(always)]
    pub const fn as_ptr(self) -> *mut T {
        self.elements
    }

    #[inline(always)]
    #[track_caller]
    fn row(self, row: impl TryInto<usize>) -> *mut Row<T, COLUMNS> {
        // SAFETY: `new`'s contract: the row is among the elements.
        unsafe { self.elements.add(checked::<ROWS>(row) * COLUMNS) }.cast()
    }
}

/// A row of a [`Matrix`].
///
/// It has no size, and only lies where the row does: a reference to it is none to the elements, of
/// which other threads may be writing some.
#[derive(Debug)]
pub struct Row<T, const COLUMNS: usize> {
    elements: PhantomData<(T, PhantomPinned)>,
}

impl<T, const COLUMNS: usize> Row<T, COLUMNS> {
    #[inline(always)]
    #[track_caller]
    fn element(row: *const Self, column: impl TryInto<usize>) -> *mut T {
        let elements: *mut T = row.cast_mut().cast();
        // SAFETY: `Matrix::new`'s contract: the element is among those of the row.
        unsafe { elements.add(checked::<COLUMNS>(column)) }
    }
}

/// An index less than `LEN`; panics as a slice does if it is not.
#[inline(always)]
#[track_caller]
fn checked<const LEN: usize>(index: impl TryInto<usize>) -> usize {
    let index = index.try_into().unwrap_or(usize::MAX);
    let () = [(); LEN][index];
    index
}

impl<T, I: TryInto<usize>, const ROWS: usize, const COLUMNS: usize> Index<I>
    for Matrix<T, ROWS, COLUMNS>
{
    type Output = Row<T, COLUMNS>;

    #[inline(always)]
    #[track_caller]
    fn index(&self, row: I) -> &Row<T, COLUMNS> {
        // SAFETY: nothing of no size can be shared wrongly.
        unsafe { &*self.row(row) }
    }
}

impl<T, I: TryInto<usize>, const ROWS: usize, const COLUMNS: usize> IndexMut<I>
    for Matrix<T, ROWS, COLUMNS>
{
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, row: I) -> &mut Row<T, COLUMNS> {
        // SAFETY: as for `index`.
        unsafe { &mut *self.row(row) }
    }
}

impl<T, I: TryInto<usize>, const COLUMNS: usize> Index<I> for Row<T, COLUMNS> {
    type Output = T;

    #[inline(always)]
    #[track_caller]
    fn index(&self, column: I) -> &T {
        // SAFETY: `Matrix::new`'s contract: no other thread writes the element now.
        unsafe { &*Self::element(self, column) }
    }
}

impl<T, I: TryInto<usize>, const COLUMNS: usize> IndexMut<I> for Row<T, COLUMNS> {
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, column: I) -> &mut T {
        // SAFETY: `Matrix::new`'s contract: no other thread uses the element now.
        unsafe { &mut *Self::element(self, column) }
    }
}

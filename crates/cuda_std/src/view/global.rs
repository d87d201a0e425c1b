//! Global memory that the whole grid reads.

use super::shape::{Length, Line, Rows, Shape};
use crate::device_copy::{DeviceCopy, load};

/// An input: any thread reads any element, and nothing writes one during the launch.
///
/// A kernel's parameter is written `Global<[T; n]>` or `Global<[[T; n_columns]; n_rows]>`;
/// `#[kernel]` turns the array into a type `T` and a [`Shape`].
#[derive(Clone, Copy)]
pub struct Global<T, S> {
    base: *const T,
    shape: S,
}

impl<T: DeviceCopy, S: Shape> Global<T, S> {
    /// The view of the memory from `base` on. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `base`, which is in global memory, there are as many elements as `shape` has, fewer
    /// than 2³², valid for reads until the kernel ends, and nothing writes them.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *const T, shape: S) -> Self {
        Self { base, shape }
    }

    /// The element at `index`, if the view has it.
    #[inline(always)]
    pub fn get(self, index: S::Index) -> Option<T> {
        // SAFETY: the shape's offsets lie in the view's memory.
        self.shape
            .offset(index)
            .map(|offset| unsafe { load(self.base.add(offset)) })
    }
}

impl<T: DeviceCopy> Global<T, Rows> {
    /// A row of the matrix. It has no elements if the matrix has no such row.
    #[inline(always)]
    pub fn row(self, row: u32) -> Global<T, Length> {
        let (Line { first, length }, _) = self.shape.line((row, 0));
        Global {
            // SAFETY: the row's offsets lie in the view's memory.
            base: unsafe { self.base.add(first) },
            shape: length,
        }
    }
}

//! Global memory in which threads write where their data says.

use super::shape::Shape;
use crate::device_copy::{DeviceCopy, store};

/// An output for which no [`Map`](super::Map) says which elements are a thread's own: because they
/// depend on data, as in a sort, or lie as a tensor core's fragment has them.
///
/// A kernel's parameter is written `Scattered<[T; n]>` or `Scattered<[[T; n_columns]; n_rows]>`;
/// `#[kernel]` turns the array into a type `T` and a [`Shape`]. Nothing reads it during the launch.
///
/// ```
/// # use cuda_std::prelude::*;
/// # use cuda_std::view::{Global, Scattered};
/// /// Writes each of `x` to its rank.
/// #[kernel]
/// pub fn to_ranks(x: Global<[f32; n]>, ranks: Global<[u32; n]>, y: Scattered<[f32; n]>, n: u32) {
///     let i = thread::index_1d();
///     if let (Some(x), Some(rank)) = (x.get(i), ranks.get(i)) {
///         // SAFETY: ranks differ.
///         unsafe { y.set(rank, x) };
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Scattered<T, S> {
    base: *mut T,
    shape: S,
}

impl<T: DeviceCopy, S: Shape> Scattered<T, S> {
    /// The view of the memory from `base` on. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `base`, which is in global memory, there are as many elements as `shape` has, fewer
    /// than 2³², valid for reads and writes until the kernel ends; only such views access them.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *mut T, shape: S) -> Self {
        Self { base, shape }
    }

    /// Writes the element at `index`; nothing, if the view has no such element.
    ///
    /// # Safety
    ///
    /// No other thread of the launch writes this element.
    #[inline(always)]
    pub unsafe fn set(self, index: S::Index, value: T) {
        if let Some(offset) = self.shape.offset(index) {
            // SAFETY: the shape's offsets lie in the view's memory; for the rest, by this
            // function's own contract.
            unsafe { store(self.base.add(offset), value) }
        }
    }
}

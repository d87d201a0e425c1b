//! Global memory to which all threads add.

use super::shape::Shape;
use crate::atomic::{self, AtomicAdd};
use crate::device_copy::DeviceCopy;

/// Sums, counters and the like: any thread adds to any element, atomically, and during the launch
/// there are no other accesses.
///
/// A kernel's parameter is written `Atomic<[T; n]>` or `Atomic<[[T; n_columns]; n_rows]>`;
/// `#[kernel]` turns the array into a type `T` and a [`Shape`].
#[derive(Clone, Copy)]
pub struct Atomic<T, S> {
    base: *mut T,
    shape: S,
}

impl<T: DeviceCopy + AtomicAdd, S: Shape> Atomic<T, S> {
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

    /// Adds `value` to the element at `index`, and returns what it was before; `None` if the view
    /// has no such element. Integers wrap, and floats round in an order that is not known.
    #[inline(always)]
    pub fn add(self, index: S::Index, value: T) -> Option<T> {
        let offset = self.shape.offset(index)?;
        // SAFETY: the shape's offsets lie in the view's memory, and all accesses there are such
        // additions.
        Some(unsafe {
            atomic::add(
                self.base.add(offset),
                value,
                atomic::Global,
                atomic::Device,
                atomic::Relaxed,
            )
        })
    }
}

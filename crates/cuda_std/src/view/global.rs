//! Global memory that the whole grid reads.

use core::marker::PhantomData;

use super::shape::Shape;
use crate::device_copy::DeviceCopy;
use crate::ldg::{ReadOnly, ldg};

/// How an input is read, which says how its memory is aligned.
pub trait Access: Copy + 'static {
    /// The first element lies at a multiple of this many elements' size.
    const ALIGN_ELEMENTS: u64;
}

/// Element by element.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Access for Single {
    const ALIGN_ELEMENTS: u64 = 1;
}

/// Also four elements at a time, in one access.
#[derive(Clone, Copy, Debug)]
pub struct Chunked;

impl Access for Chunked {
    const ALIGN_ELEMENTS: u64 = 4;
}

/// An input: any thread reads any element, and nobody writes one during the launch.
///
/// A kernel's parameter is written `Global<[T; n]>` or `Global<[[T; n_columns]; n_rows]>`;
/// `#[kernel]` makes of the array a type `T` and a [`Shape`].
#[derive(Clone, Copy)]
pub struct Global<T, S, A = Single> {
    pub(super) base: *const T,
    pub(super) shape: S,
    access: PhantomData<A>,
}

impl<T: DeviceCopy, S: Shape, A: Access> Global<T, S, A> {
    /// The view of the memory from `base` on. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `base`, which is in global memory and aligned as `A` says, as many elements as
    /// `shape` has, fewer than 2³², are there to be read until the kernel ends, and nobody
    /// writes them.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *const T, shape: S) -> Self {
        Self {
            base,
            shape,
            access: PhantomData,
        }
    }

    /// The element at `index`, if the view has it.
    #[inline(always)]
    pub fn get(self, index: S::Index) -> Option<T> {
        // SAFETY: the shape's offsets lie in the view's memory.
        self.shape
            .offset(index)
            .map(|offset| unsafe { *self.base.add(offset) })
    }

    /// [`get`](Self::get) through the read-only path (`ld.global.nc`).
    #[inline(always)]
    pub fn get_read_only(self, index: S::Index) -> Option<T>
    where
        T: ReadOnly,
    {
        // SAFETY: the shape's offsets lie in the view's memory, which is global and which
        // nobody writes.
        self.shape
            .offset(index)
            .map(|offset| unsafe { ldg(self.base.add(offset)) })
    }
}

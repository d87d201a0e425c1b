//! Global memory in which each thread writes its own elements.

use core::marker::PhantomData;

use super::map::{Ids, Linear, Map, Stride};
use super::shape::Shape;
use crate::device_copy::{DeviceCopy, store};

/// An output: each thread writes the elements that the map `M` gives it, and no other thread
/// reads or writes them during the launch.
///
/// A kernel's parameter is written `Disjoint<[T; n]>`, `Disjoint<[T; n], Linear<BLOCK>>` or
/// `Disjoint<[[T; n_columns]; n_rows], Tiles<SIDE>>`; `#[kernel]` turns the array into a type
/// `T` and a [`Shape`]. It is neither `Copy` nor `Clone`.
pub struct Disjoint<T, S, M = Linear> {
    base: *mut T,
    shape: S,
    map: PhantomData<M>,
}

impl<T: DeviceCopy, S: Shape, M: Map<Index = S::Index>> Disjoint<T, S, M> {
    /// The view of the memory from `base` on. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `base`, which is in global memory, there are as many elements as `shape` has, fewer
    /// than 2³², valid for reads and writes until the kernel ends; only this view of each
    /// thread accesses them. The launch has a geometry that `M` admits. A thread has one view
    /// of this memory.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *mut T, shape: S) -> Self {
        Self {
            base,
            shape,
            map: PhantomData,
        }
    }

    /// This thread's own element, if the output has it; the first one, if the map gives it several.
    #[inline(always)]
    pub fn own(&mut self) -> Option<Element<'_, T>> {
        let index = M::index(&Ids::of_this_thread());
        self.shape.offset(index).map(|offset| Element {
            // SAFETY: the shape's offsets lie in the view's memory.
            address: unsafe { self.base.add(offset) },
            view: PhantomData,
        })
    }

    /// All of this thread's own elements, each with its index, or with its column in the thread's
    /// row of a matrix.
    #[inline(always)]
    pub fn own_elements(&mut self) -> impl Iterator<Item = (u32, Element<'_, T>)>
    where
        M: Stride,
    {
        let ids = Ids::of_this_thread();
        let (line, mut place) = self.shape.line(M::index(&ids));
        // SAFETY: a line's offsets lie in the view's memory, as those of the shape.
        let base = unsafe { self.base.add(line.first) };
        core::iter::from_fn(move || {
            let own = place;
            let offset = line.length.offset(own)?;
            place += M::stride(&ids);
            let element = Element {
                // SAFETY: as above.
                address: unsafe { base.add(offset) },
                view: PhantomData,
            };
            Some((own, element))
        })
    }
}

/// The thread's own element of an output, to be written.
///
/// It is not a `&mut T`: an `Option` of that is a pointer that may be null, which the
/// compiler would test for.
pub struct Element<'v, T> {
    address: *mut T,
    view: PhantomData<&'v mut T>,
}

impl<T: DeviceCopy> Element<'_, T> {
    /// Writes the element.
    #[inline(always)]
    pub fn set(self, value: T) {
        // SAFETY: it lies in the output's memory. The map gives it to no other thread, and to
        // this one once while its only view of the output is borrowed.
        unsafe { store(self.address, value) }
    }
}

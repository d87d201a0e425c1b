//! Global memory in which each thread writes its own elements.

use core::marker::PhantomData;

use super::map::{Ids, Linear, Map};
use super::shape::Shape;
use crate::device_copy::DeviceCopy;

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
        self.own_elements().next().map(|(_, element)| element)
    }

    /// All of this thread's own elements, with their indices.
    #[inline(always)]
    pub fn own_elements(&mut self) -> impl Iterator<Item = (S::Index, Element<'_, T>)> {
        let Self { base, shape, .. } = *self;
        let ids = Ids::of_this_thread();
        let mut next = Some(M::index(&ids));
        core::iter::from_fn(move || {
            let index = next?;
            let offset = shape.offset(index)?;
            next = M::next(index, &ids);
            let element = Element {
                // SAFETY: the shape's offsets lie in the view's memory.
                address: unsafe { base.add(offset) },
                view: PhantomData,
            };
            Some((index, element))
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
        unsafe { *self.address = value }
    }
}

//! Global memory of which each thread writes its own part.

use core::marker::PhantomData;

use super::map::{Ids, Map};
use super::shape::Shape;
use crate::device_copy::DeviceCopy;

/// The place that the map `M` gives this thread: what lets it write there.
///
/// Only an output makes one ([`Disjoint::place`]), and there is no other way to name an
/// element of an output.
pub struct Place<M: Map> {
    index: M::Index,
}

impl<M: Map> Clone for Place<M> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<M: Map> Copy for Place<M> {}

impl<M: Map> Place<M> {
    /// The place as an index, to read inputs by.
    #[inline(always)]
    pub fn index(self) -> M::Index {
        self.index
    }
}

/// An output: each thread writes the elements that the map `M` gives it, and nobody else
/// reads or writes them during the launch.
///
/// A kernel's parameter is written `Disjoint<[T; n], M>` or
/// `Disjoint<[[T; n_columns]; n_rows], M>`; `#[kernel]` makes of the array a type `T` and
/// a [`Shape`]. It is neither `Copy` nor `Clone`.
pub struct Disjoint<T, S, M> {
    pub(super) base: *mut T,
    pub(super) shape: S,
    map: PhantomData<M>,
}

impl<T: DeviceCopy, S: Shape, M: Map> Disjoint<T, S, M> {
    /// The view of the memory from `base` on. For `#[kernel]`.
    ///
    /// # Safety
    ///
    /// From `base`, which is in global memory and aligned as `M` says, as many elements as
    /// `shape` has, fewer than 2³², are there to be read and written until the kernel
    /// ends; only this view of each thread touches them. The launch has a geometry that
    /// `M` admits. A thread has one view of this memory.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new(base: *mut T, shape: S) -> Self {
        Self {
            base,
            shape,
            map: PhantomData,
        }
    }

    /// This thread's place.
    #[inline(always)]
    pub fn place(&self) -> Place<M> {
        Place {
            index: M::index(&Ids::of_this_thread()),
        }
    }
}

impl<T: DeviceCopy, S: Shape, M: Map<Index = S::Index>> Disjoint<T, S, M> {
    /// This thread's element, if the output has it.
    #[inline(always)]
    pub fn at(&mut self, place: Place<M>) -> Option<Slot<'_, T>> {
        self.shape.offset(place.index).map(|offset| Slot {
            // SAFETY: the shape's offsets lie in the view's memory.
            address: unsafe { self.base.add(offset) },
            view: PhantomData,
        })
    }
}

/// An element of an output that is the thread's own, to be written.
///
/// It is no `&mut T`, because an `Option` of that is a pointer that may be null, which the
/// compiler would test for.
pub struct Slot<'v, T> {
    pub(super) address: *mut T,
    pub(super) view: PhantomData<&'v mut T>,
}

impl<T: DeviceCopy> Slot<'_, T> {
    /// Writes the element.
    #[inline(always)]
    pub fn set(self, value: T) {
        // SAFETY: it lies in the output's memory. The map gives it to no other thread, and
        // this thread has borrowed its only view of it.
        unsafe { *self.address = value }
    }
}

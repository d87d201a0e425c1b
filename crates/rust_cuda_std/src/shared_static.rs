//! The type that [`#[address_space(shared)]`](macro@crate::address_space) gives a static: of no
//! size, it dereferences to the array in shared memory.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

/// A type for memory that starts without a value.
#[diagnostic::on_unimplemented(
    message = "a static in shared memory cannot be a `{Self}`: it has no value when a block starts",
    note = "make it of `MaybeUninit<T>`, an array of them, or an array of arrays"
)]
pub trait SharedValue: 'static {}
impl<T: 'static> SharedValue for MaybeUninit<T> {}
impl<V: SharedValue, const N: usize> SharedValue for [V; N] {}

/// A variable in shared memory; implemented only by `#[address_space(shared)]`.
///
/// # Safety
///
/// The address is that of a variable of this type, in every block.
pub unsafe trait SharedPlace: 'static {
    /// The variable's type.
    type Value: SharedValue;
    /// The variable's address.
    fn address() -> *mut Self::Value;
}

/// The static that stands for the variable `P`.
pub struct SharedStatic<P>(PhantomData<P>);

impl<P: SharedPlace> SharedStatic<P> {
    #[allow(missing_docs, clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

// Only a `static mut` has this type. Whoever uses one promises that no two references to a thing
// that is written are in use, in other threads either: that is Rust's rule for it.
impl<P: SharedPlace> Deref for SharedStatic<P> {
    type Target = P::Value;

    #[inline(always)]
    fn deref(&self) -> &P::Value {
        // SAFETY: the variable is there for as long as the kernel runs, and needs no value.
        unsafe { &*P::address() }
    }
}

impl<P: SharedPlace> DerefMut for SharedStatic<P> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut P::Value {
        // SAFETY: as above.
        unsafe { &mut *P::address() }
    }
}

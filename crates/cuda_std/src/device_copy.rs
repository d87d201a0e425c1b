//! Values that may cross between host and device as bytes, and their accesses as a whole.

use core::mem::transmute_copy;

/// A type that can lie in device memory and be copied to and from the host as bytes.
///
/// # Safety
///
/// Every bit pattern must be a valid value, and the type must have no padding. For a structure,
/// [`#[derive(DeviceCopy)]`](macro@crate::DeviceCopy) sees to it.
#[diagnostic::on_unimplemented(
    message = "buffers and views cannot hold a `{Self}`",
    note = "they hold numbers, arrays, and structures with `#[derive(Clone, Copy, DeviceCopy)]` and `#[repr(C)]`; \
            a `bool` is a `u8` there, since not all bits are one"
)]
pub unsafe trait DeviceCopy: Copy + 'static {}

macro_rules! device_copy {
    ($($t:ty),*) => { $(
        // SAFETY: a plain number without padding; every bit pattern is valid.
        unsafe impl DeviceCopy for $t {}
    )* };
}
device_copy! { u8, i8, u16, i16, u32, i32, u64, i64, usize, isize, f32, f64, half::f16, half::bf16 }

// SAFETY: an array has no padding beyond its elements'.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}

/// Only for a type that buffers and views can hold.
#[doc(hidden)]
pub const fn is_element<T: DeviceCopy>() {}

/// The value at `address`; one of 16 bytes in one access. The compiler copies it in pieces of 8.
///
/// # Safety
///
/// `address` is aligned and valid for reads.
#[inline(always)]
pub(crate) unsafe fn load<T: DeviceCopy>(address: *const T) -> T {
    // SAFETY: by this function's own contract, and any bits are a value.
    unsafe {
        match (size_of::<T>(), align_of::<T>()) {
            (16, 16) => transmute_copy(&address.cast::<u128>().read()),
            _ => address.read(),
        }
    }
}

/// Writes `value` to `address`, as [`load`] reads it.
///
/// # Safety
///
/// `address` is aligned and valid for writes.
#[inline(always)]
pub(crate) unsafe fn store<T: DeviceCopy>(address: *mut T, value: T) {
    // SAFETY: by this function's own contract; a value has no padding.
    unsafe {
        match (size_of::<T>(), align_of::<T>()) {
            (16, 16) => address.cast::<u128>().write(transmute_copy(&value)),
            _ => address.write(value),
        }
    }
}

//! Values that may cross between host and device as bytes.

/// A type that can lie in device memory and be copied to and from the host as bytes.
///
/// # Safety
///
/// Every bit pattern must be a valid value, and the type must have no padding.
pub unsafe trait DeviceCopy: Copy + 'static {}

macro_rules! device_copy {
    ($($t:ty),*) => { $(
        // SAFETY: a plain number without padding; every bit pattern is valid.
        unsafe impl DeviceCopy for $t {}
    )* };
}
device_copy!(
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    usize,
    isize,
    f32,
    f64,
    half::f16,
    half::bf16
);

// SAFETY: an array has no padding beyond its elements'.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}

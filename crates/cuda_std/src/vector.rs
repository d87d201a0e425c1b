//! Short vectors that move in one access: 8 or 16 bytes a thread.
//!
//! They are aligned to their size, so that a load or store of a whole one, in
//! global or shared memory, is one `ld.v2`, `ld.v4`, … A pointer that is cast
//! to one must have that alignment too: a misaligned vector access is a fault.

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident = $element:ty, $align:literal, $($field:ident)*;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C, align($align))]
        pub struct $name {
            $(
                #[doc = concat!("Component ", stringify!($field), ".")]
                pub $field: $element,
            )*
        }

        impl $name {
            /// A vector of the given components.
            #[inline(always)]
            pub const fn new($($field: $element),*) -> Self {
                Self { $($field),* }
            }
        }

        // SAFETY: plain numbers, and a size that equals the alignment: no padding.
        #[cfg(not(target_arch = "nvptx64"))]
        unsafe impl crate::launch::DeviceCopy for $name {}

        const _: () = assert!(size_of::<$name>() == $align);
    )* };
}

vectors! {
    /// Two `f32`, 8 bytes.
    Float2 = f32, 8, x y;
    /// Four `f32`, 16 bytes.
    Float4 = f32, 16, x y z w;
    /// Two `f64`, 16 bytes.
    Double2 = f64, 16, x y;
    /// Two `u32`, 8 bytes.
    UInt2 = u32, 8, x y;
    /// Four `u32`, 16 bytes.
    UInt4 = u32, 16, x y z w;
    /// Two `i32`, 8 bytes.
    Int2 = i32, 8, x y;
    /// Four `i32`, 16 bytes.
    Int4 = i32, 16, x y z w;
}

//! Short vectors that move in one access: 4, 8 or 16 bytes per thread.
//!
//! They are aligned to their size. A pointer that is cast to one must have that
//! alignment too: a misaligned vector access is a fault.
//!
//! A whole vector moves by its `load` and `store`, which are one access each.
//! `*pointer` often is as well, but need not be: a plain copy, `*to = *from`, is
//! compiled as a copy of memory, in pieces of 8 bytes.

use half::{bf16, f16};

macro_rules! vectors {
    ($($(#[$doc:meta])* $name:ident = $element:ty, $align:literal, $bits:ty, $($field:ident)*;)*) => { $(
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

            /// The vector at `address`, in one access.
            ///
            /// # Safety
            ///
            /// `address` is aligned to the vector's size and valid for reads.
            #[inline(always)]
            pub const unsafe fn load(address: *const Self) -> Self {
                // SAFETY: by this function's own contract; the bits of plain
                // numbers, as many as the vector's.
                unsafe { core::mem::transmute::<$bits, Self>(*address.cast()) }
            }

            /// Writes the vector to `address`, in one access.
            ///
            /// # Safety
            ///
            /// `address` is aligned to the vector's size and valid for writes.
            #[inline(always)]
            pub const unsafe fn store(self, address: *mut Self) {
                // SAFETY: as for `load`.
                unsafe { *address.cast() = core::mem::transmute::<Self, $bits>(self) }
            }
        }

        // SAFETY: plain numbers, and a size that equals the alignment: no padding.
        unsafe impl crate::device_copy::DeviceCopy for $name {}

        const _: () = assert!(size_of::<$name>() == $align);
    )* };
}

vectors! {
    /// Two `f16`, 4 bytes.
    F16x2 = f16, 4, u32, x y;
    /// Two `bf16`, 4 bytes.
    Bf16x2 = bf16, 4, u32, x y;
    /// Two `f32`, 8 bytes.
    Float2 = f32, 8, u64, x y;
    /// Four `f32`, 16 bytes.
    Float4 = f32, 16, u128, x y z w;
    /// Two `f64`, 16 bytes.
    Double2 = f64, 16, u128, x y;
    /// Two `u32`, 8 bytes.
    UInt2 = u32, 8, u64, x y;
    /// Four `u32`, 16 bytes.
    UInt4 = u32, 16, u128, x y z w;
    /// Two `i32`, 8 bytes.
    Int2 = i32, 8, u64, x y;
    /// Four `i32`, 16 bytes.
    Int4 = i32, 16, u128, x y z w;
}

impl Float4 {
    /// Writes the vector to global memory that is not read again soon: the caches evict
    /// its lines before others (`st.global.cs`).
    ///
    /// # Safety
    ///
    /// As [`store`](Self::store), and `address` is in global memory.
    #[crate::gpu_only]
    #[inline(always)]
    pub unsafe fn store_streaming(self, address: *mut Self) {
        // SAFETY: writes memory that the caller vouches for.
        unsafe {
            ptx!(
                "{{",
                ".reg .b64 global;",
                "cvta.to.global.u64 global, {address};",
                "st.global.cs.v4.f32 [global], {{{x}, {y}, {z}, {w}}};",
                "}}",
                address = in(reg64) address, x = in(reg32) self.x, y = in(reg32) self.y,
                z = in(reg32) self.z, w = in(reg32) self.w
            );
        }
    }
}

macro_rules! packed_bits {
    ($($name:ident = $element:ident;)*) => { $(
        impl $name {
            /// The vector's 32 bits: `x` in the low half, `y` in the high one.
            #[inline(always)]
            pub const fn to_bits(self) -> u32 {
                (self.y.to_bits() as u32) << 16 | self.x.to_bits() as u32
            }

            /// The vector with these 32 bits.
            #[inline(always)]
            pub const fn from_bits(bits: u32) -> Self {
                Self::new($element::from_bits(bits as u16), $element::from_bits((bits >> 16) as u16))
            }
        }
    )* };
}
packed_bits! {
    F16x2 = f16;
    Bf16x2 = bf16;
}

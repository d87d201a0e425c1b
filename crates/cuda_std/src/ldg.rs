//! Loads through the read-only path (`ld.global.nc`).
//!
//! They promise the compiler that nothing writes the memory during the launch, so
//! that a load may be moved and repeated, and the hardware may keep the line in
//! the texture cache. A plain load of memory that the compiler *sees* to be
//! read-only may become one too; these always do. One function is not read-only, but
//! keeps its line out of the first-level cache: [`load_once`].

use crate::vector::{Double2, Float2, Float4, Int2, Int4, UInt2, UInt4};

/// A type that one read-only load can fetch: 4, 8 or 16 bytes.
///
/// # Safety
///
/// `load` reads `size_of::<Self>()` bytes and nothing else.
pub unsafe trait ReadOnly: Copy {
    /// Loads a value through the read-only path.
    ///
    /// # Safety
    ///
    /// As [`ldg`].
    unsafe fn load(address: *const Self) -> Self;

    /// Loads a value that the L1 cache need not keep.
    ///
    /// # Safety
    ///
    /// As [`ldg`].
    unsafe fn load_once(address: *const Self) -> Self;

    /// Loads a value that the L1 cache need not keep, by an ordinary load.
    ///
    /// # Safety
    ///
    /// As [`load_once`].
    unsafe fn ordinary_load_once(address: *const Self) -> Self;
}

/// Loads `*address` through the read-only path: `__ldg()`.
///
/// # Safety
///
/// `address` is in global memory, aligned, valid for reads, and no thread
/// writes what it points to during the launch.
#[inline(always)]
pub unsafe fn ldg<T: ReadOnly>(address: *const T) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::load(address) }
}

/// [`ldg`] for data that no thread of the SM reads again: the L1 cache
/// does not make room for it (`L1::no_allocate`).
///
/// # Safety
///
/// As [`ldg`].
#[inline(always)]
pub unsafe fn ldg_once<T: ReadOnly>(address: *const T) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::load_once(address) }
}

/// An ordinary load, not through the read-only path, for data that no thread of the
/// SM reads again (`L1::no_allocate`): for a `pdl` kernel
/// ([`crate::grid`]), whose input another launch may have written after this one
/// started.
///
/// # Safety
///
/// `address` is in global memory, aligned and valid for reads.
#[inline(always)]
pub unsafe fn load_once<T: ReadOnly>(address: *const T) -> T {
    // SAFETY: by this function's own contract.
    unsafe { T::ordinary_load_once(address) }
}

/// Prefetches the line of `address` into the second-level cache. It is only a hint,
/// and allowed where another launch still writes: no value is read.
///
/// # Safety
///
/// `address` is in global memory.
#[crate::gpu_only]
#[inline(always)]
pub unsafe fn prefetch_l2<T>(address: *const T) {
    // SAFETY: changes nothing that a program can see. Not `nomem`, so that it stays
    // in place.
    unsafe {
        ptx!(
            "{{",
            ".reg .b64 global;",
            "cvta.to.global.u64 global, {address};",
            "prefetch.global.L2 [global];",
            "}}",
            address = in(reg64) address
        );
    }
}

macro_rules! read_only {
    ($($type:ty = $suffix:literal, $register:ident, $($part:ident: $raw:ty as $value:expr),*;)*) => { $(
        // SAFETY: the instruction below reads exactly the type's bytes.
        unsafe impl ReadOnly for $type {
            #[crate::gpu_only]
            #[inline(always)]
            unsafe fn load(address: *const Self) -> Self {
                read_only!(@outputs address, concat!("nc.", $suffix), $register, $($part: $raw),*);
                read_only!(@value $($value),*)
            }

            #[crate::gpu_only]
            #[inline(always)]
            unsafe fn ordinary_load_once(address: *const Self) -> Self {
                read_only!(
                    @outputs address,
                    concat!("L1::no_allocate.", $suffix), $register, $($part: $raw),*
                );
                read_only!(@value $($value),*)
            }

            #[crate::gpu_only]
            #[inline(always)]
            unsafe fn load_once(address: *const Self) -> Self {
                read_only!(
                    @outputs address,
                    concat!("nc.L1::no_allocate.", $suffix), $register, $($part: $raw),*
                );
                read_only!(@value $($value),*)
            }
        }
    )* };
    (@outputs $address:ident, $suffix:expr, $register:ident, $a:ident: $raw:ty) => {
        let $a: $raw;
        read_only!(@asm $suffix, "{a}", $address, a = out($register) $a)
    };
    (@outputs $address:ident, $suffix:expr, $register:ident, $a:ident: $ra:ty, $b:ident: $rb:ty) => {
        let ($a, $b): ($ra, $rb);
        read_only!(@asm $suffix, "{{{a}, {b}}}", $address, a = out($register) $a, b = out($register) $b)
    };
    (@outputs $address:ident, $suffix:expr, $register:ident,
     $a:ident: $ra:ty, $b:ident: $rb:ty, $c:ident: $rc:ty, $d:ident: $rd:ty) => {
        let ($a, $b, $c, $d): ($ra, $rb, $rc, $rd);
        read_only!(@asm $suffix, "{{{a}, {b}, {c}, {d}}}", $address,
            a = out($register) $a, b = out($register) $b, c = out($register) $c, d = out($register) $d)
    };
    (@asm $suffix:expr, $destination:literal, $address:ident, $($out:tt)*) => {
        // SAFETY: reads memory that the caller vouches for.
        unsafe {
            ptx!(
                "{{",
                ".reg .b64 global;",
                "cvta.to.global.u64 global, {address};",
                concat!("ld.global.", $suffix, " ", $destination, ", [global];"),
                "}}",
                $($out)*,
                address = in(reg64) $address,
                options(pure, readonly)
            );
        }
    };
    (@value $value:expr) => { $value };
    (@value $($value:expr),*) => { Self::new($($value),*) };
}

read_only! {
    f32 = "f32", reg32, a: f32 as a;
    u32 = "b32", reg32, a: u32 as a;
    i32 = "b32", reg32, a: i32 as a;
    f64 = "f64", reg64, a: f64 as a;
    u64 = "b64", reg64, a: u64 as a;
    i64 = "b64", reg64, a: i64 as a;
    Float2 = "v2.f32", reg32, a: f32 as a, b: f32 as b;
    UInt2 = "v2.b32", reg32, a: u32 as a, b: u32 as b;
    Int2 = "v2.b32", reg32, a: i32 as a, b: i32 as b;
    Double2 = "v2.f64", reg64, a: f64 as a, b: f64 as b;
    Float4 = "v4.f32", reg32, a: f32 as a, b: f32 as b, c: f32 as c, d: f32 as d;
    UInt4 = "v4.b32", reg32, a: u32 as a, b: u32 as b, c: u32 as c, d: u32 as d;
    Int4 = "v4.b32", reg32, a: i32 as a, b: i32 as b, c: i32 as c, d: i32 as d;
}

//! Shared memory: static arrays ([`shared_array!`](crate::shared_array)) and the
//! block's dynamic part.
//!
//! An array of rows, `shared_array![[T; COLUMNS]; ROWS]`, is a [`Matrix`], indexed as
//! `tile[row][column]`; any other is a pointer to its first element.
//!
//! The compiler knows that pointers made here point to shared memory, so loads and stores
//! through them are `ld.shared` and `st.shared`, not generic ones that determine
//! the space at run time.

mod matrix;

pub use matrix::{Matrix, Row};

/// The block's dynamic shared memory: as many bytes as the launch asked for.
///
/// Every call returns the same address, whatever `T` is. It is aligned for `T`.
/// The memory is not initialised.
#[crate::gpu_only]
#[inline(always)]
pub fn dynamic_shared_mem<T>() -> *mut T {
    core::intrinsics::gpu::gpu_launch_sized_workgroup_mem::<T>()
}

/// The address of `pointer` within the shared space, which instructions that
/// work only on shared memory (`ldmatrix`, `cp.async`) need.
///
/// Meaningless if `pointer` does not point to the block's shared memory.
#[crate::gpu_only]
#[inline(always)]
pub fn address_in_space<T>(pointer: *const T) -> u32 {
    let address: u32;
    // SAFETY: arithmetic on an address; no memory is touched.
    unsafe {
        ptx!(
            "{{",
            ".reg .b64 shared;",
            "cvta.to.shared.u64 shared, {pointer};",
            "cvt.u32.u64 {address}, shared;",
            "}}",
            pointer = in(reg64) pointer, address = out(reg32) address, options(pure, nomem)
        );
    }
    address
}

/// The four `f32` at an address in the shared space, in one access.
///
/// [`Float4::load`](crate::vector::Float4::load) does the same, but leaves the
/// compiler free to split the access if it uses the components separately; this one does
/// not.
///
/// # Safety
///
/// The address is one of the block's shared memory, a multiple of 16, and no thread
/// writes there in the meantime.
#[crate::gpu_only]
#[inline(always)]
pub unsafe fn load_float4(address: u32) -> crate::vector::Float4 {
    let (x, y, z, w): (f32, f32, f32, f32);
    // SAFETY: by this function's own contract. It reads memory, so that it stays
    // on its side of barriers and stores.
    unsafe {
        ptx!(
            "ld.shared.v4.f32 {{{x}, {y}, {z}, {w}}}, [{address}];",
            x = out(reg32) x, y = out(reg32) y, z = out(reg32) z, w = out(reg32) w,
            address = in(reg32) address, options(pure, readonly)
        );
    }
    crate::vector::Float4::new(x, y, z, w)
}

/// Writes four `f32` to an address in the shared space, in one access.
///
/// # Safety
///
/// As [`load_float4`], and no thread reads there in the meantime.
#[crate::gpu_only]
#[inline(always)]
pub unsafe fn store_float4(address: u32, value: crate::vector::Float4) {
    let crate::vector::Float4 { x, y, z, w } = value;
    // SAFETY: by this function's own contract.
    unsafe {
        ptx!(
            "st.shared.v4.f32 [{address}], {{{x}, {y}, {z}, {w}}};",
            x = in(reg32) x, y = in(reg32) y, z = in(reg32) z, w = in(reg32) w,
            address = in(reg32) address
        );
    }
}

/// The pointer that lies `distance_bytes` after the dynamic shared memory's
/// first byte. For [`shared_array!`](crate::shared_array), which finds static
/// arrays from there: the dynamic memory's pointer is the only one that
/// the compiler knows to be in the shared space.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub fn from_distance<T>(distance_bytes: isize) -> *mut T {
    dynamic_shared_mem::<u8>()
        .wrapping_offset(distance_bytes)
        .cast()
}

/// The host's version of `shared_array!`: a kernel's body is type-checked there
/// and never run.
#[doc(hidden)]
#[cfg(not(target_arch = "nvptx64"))]
pub const fn on_host<T>() -> *mut T {
    core::ptr::null_mut()
}

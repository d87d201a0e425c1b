//! Tensor maps: descriptions of arrays in device memory for the Tensor Memory Accelerator (TMA, sm_90 and
//! later).
//!
//! The host makes a map of a buffer: element type, sizes, strides, the box that one copy
//! moves, and how the box lies in shared memory (`lockstep::TensorMap`). It passes the map
//! to a kernel along with the other arguments, and the kernel takes it by reference:
//!
//! ```ignore
//! # use cuda_std::TensorMap;
//! # use cuda_std::prelude::*;
//! #[kernel]
//! pub unsafe fn product(a: &TensorMap, b: &TensorMap, c: *mut f32, k: u32) {
//!     let map: u64 = a.address();
//!     // `map` goes into `cp.async.bulk.tensor`.
//! }
//! ```
//!
//! The reference points to the launch's parameter memory itself: TMA reads the
//! map there, so it must not be copied to a thread's local memory, and a launch's maps
//! need no other memory. Only the driver knows the contents of a map. Kernels cannot make one
//! or look into it.
//!
//! Left out: the copies ([`bulk`](crate::bulk)), and maps that a kernel changes (`tensormap.replace`).

/// The map of an array in device memory: 128 bytes that begin at a multiple of 64.
///
/// CUDA's `CUtensorMap`. As a kernel's parameter it is written `&TensorMap`; maps may also
/// lie in global memory that the host filled, and be reached by a pointer.
#[repr(C, align(64))]
pub struct TensorMap {
    _words: [u64; 16],
}

impl TensorMap {
    /// Size in bytes.
    pub const SIZE_BYTES: usize = size_of::<Self>();

    /// Its generic address, as taken by instructions that name a map. The map stays in
    /// place.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        (&raw const *self) as u64
    }
}

const _: () = assert!(TensorMap::SIZE_BYTES == 128 && align_of::<TensorMap>() == 64);

/// A map in a PTX entry's signature, which gives the parameter its size.
///
/// rustc 1.97 cannot pass by value a type aligned to more than 16 bytes; `cuda_builder`
/// writes the alignment of 64 into the PTX.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[repr(C, align(16))]
pub struct InParameters([u128; 8]);

/// The map at a generic address in the launch's parameters.
///
/// # Safety
///
/// There is one at that address.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub unsafe fn in_parameters(address: u64) -> &'static TensorMap {
    // SAFETY: by this function's contract; parameters are never written.
    unsafe { &*core::ptr::with_exposed_provenance(address as usize) }
}

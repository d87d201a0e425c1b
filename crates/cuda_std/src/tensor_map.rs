//! Tensor maps: what the copy engine (TMA, sm_90 and later) must know about an array in
//! device memory.
//!
//! The host makes a map of a buffer: element type, sizes, strides, the box that one copy
//! moves, and how the box lies in shared memory (`lockstep::TensorMap`). It hands the map
//! to a kernel beside the other arguments, and the kernel takes it by reference:
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
//! The reference points to the launch's parameter memory itself: the copy engine reads the
//! map there, so it must not be copied to a thread's local memory, and one launch's maps
//! need no other memory. What is in a map only the driver knows. Kernels cannot make one
//! or look into it.
//!
//! Left out: the copies ([`bulk`](crate::bulk)), and maps that a kernel changes (`tensormap.replace`).

/// The map of an array in device memory: 128 bytes that begin at a multiple of 64.
///
/// CUDA's `CUtensorMap`. As a kernel's parameter it is written `&TensorMap`; maps may also
/// lie in global memory that the host filled, where a pointer leads to them.
#[repr(C, align(64))]
pub struct TensorMap {
    _words: [u64; 16],
}

impl TensorMap {
    /// Size in bytes.
    pub const SIZE_BYTES: usize = size_of::<Self>();

    /// Its generic address, as instructions that name a map take it. The map stays where it
    /// is.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        (&raw const *self) as u64
    }
}

const _: () = assert!(TensorMap::SIZE_BYTES == 128 && align_of::<TensorMap>() == 64);

/// A map in a PTX entry's signature, which names it so that the parameter has its size.
///
/// rustc 1.97 cannot pass by value what is aligned to more than 16 bytes; `cuda_builder`
/// writes the alignment of 64 into the PTX.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[repr(C, align(16))]
pub struct InParameters([u128; 8]);

/// The map at a generic address in the launch's parameters.
///
/// # Safety
///
/// There is one.
#[doc(hidden)]
#[cfg(target_arch = "nvptx64")]
#[inline(always)]
pub unsafe fn in_parameters(address: u64) -> &'static TensorMap {
    // SAFETY: by this function's contract; parameters are never written.
    unsafe { &*core::ptr::with_exposed_provenance(address as usize) }
}

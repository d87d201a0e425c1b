//! Memory: on devices, on the host, managed; pools; and pointer attributes.

use std::ffi::{c_int, c_uint, c_void};

use super::{api, needed, put};
use crate::current;
use crate::driver;
use crate::error::Outcome;
use crate::layouts::{ChannelFormat, Extent, Pitched, PointerAttributes};

/// An allocation of no bytes is a null pointer; the driver makes all others.
unsafe fn allocated(out: *mut u64, n_bytes: usize, allocate: impl FnOnce() -> Outcome) -> Outcome {
    needed(out)?;
    current::ready()?;
    match n_bytes {
        0 => unsafe { put(out, 0) },
        _ => allocate(),
    }
}

/// Allocates rows.
unsafe fn rows(out: *mut u64, pitch: *mut usize, width: usize, height: usize) -> Outcome {
    needed(pitch)?;
    unsafe {
        // Rows begin where elements of any size may begin.
        let allocate = || driver::cuMemAllocPitch_v2(out, pitch, width, height, 16);
        allocated(out, width.saturating_mul(height), allocate)
    }
}

/// `cudaMemoryType`
const MANAGED: c_uint = 3;

/// What is known of an address.
pub(super) fn pointer_attributes(address: u64) -> Outcome<PointerAttributes> {
    current::ready()?;
    let (mut kind, mut device) = (0_u32, 0_i32);
    let (mut device_pointer, mut host_pointer) = (0_u64, 0_u64);
    let mut is_managed = 0_u8;
    let numbers: [c_uint; 5] = [2, 9, 3, 4, 8];
    let out: [*mut c_void; 5] = [
        (&raw mut kind).cast(),
        (&raw mut device).cast(),
        (&raw mut device_pointer).cast(),
        (&raw mut host_pointer).cast(),
        (&raw mut is_managed).cast(),
    ];
    unsafe { driver::cuPointerGetAttributes(5, numbers.as_ptr(), out.as_ptr(), address)? };
    Ok(match kind {
        // The host's own memory, which no device knows.
        0 => PointerAttributes {
            kind,
            device: -2,
            device_pointer: 0,
            host_pointer: address,
        },
        _ => PointerAttributes {
            kind: if is_managed != 0 { MANAGED } else { kind },
            device,
            device_pointer,
            host_pointer,
        },
    })
}

pub unsafe extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: c_uint,
) -> ChannelFormat {
    let bits = [x, y, z, w];
    ChannelFormat { bits, kind }
}

api! {
    fn cudaMalloc(out: *mut u64, n_bytes: usize) {
        allocated(out, n_bytes, || driver::cuMemAlloc_v2(out, n_bytes))
    }
    fn cudaFree(address: u64) = cuMemFree_v2;
    fn cudaMallocPitch(out: *mut u64, pitch: *mut usize, width: usize, height: usize) {
        rows(out, pitch, width, height)
    }
    fn cudaMalloc3D(out: *mut Pitched, extent: Extent) {
        needed(out)?;
        let (mut address, mut pitch) = (0, 0);
        let n_rows = extent.height.saturating_mul(extent.depth);
        rows(&mut address, &mut pitch, extent.width, n_rows)?;
        put(out, Pitched { address, pitch, width: extent.width, height: extent.height })
    }
    fn cudaMallocManaged(out: *mut u64, n_bytes: usize, flags: c_uint) {
        allocated(out, n_bytes, || driver::cuMemAllocManaged(out, n_bytes, flags))
    }
    fn cudaMallocHost(out: *mut u64, n_bytes: usize) {
        allocated(out, n_bytes, || driver::cuMemHostAlloc(out, n_bytes, 0))
    }
    fn cudaHostAlloc(out: *mut u64, n_bytes: usize, flags: c_uint) {
        allocated(out, n_bytes, || driver::cuMemHostAlloc(out, n_bytes, flags))
    }
    fn cudaFreeHost(pointer: u64) = cuMemFreeHost;
    fn cudaHostRegister(pointer: u64, n_bytes: usize, flags: c_uint) = cuMemHostRegister_v2;
    fn cudaHostUnregister(pointer: u64) = cuMemHostUnregister;
    fn cudaHostGetDevicePointer(out: *mut u64, pointer: u64, flags: c_uint) = cuMemHostGetDevicePointer_v2 needs out;
    fn cudaHostGetFlags(out: *mut c_uint, pointer: u64) = cuMemHostGetFlags needs out;
    fn cudaMemGetInfo(free: *mut usize, total: *mut usize) = cuMemGetInfo_v2;
    fn cudaMallocAsync, cudaMallocAsync_ptsz(out: *mut u64, n_bytes: usize, stream: usize) in stream {
        allocated(out, n_bytes, || driver::cuMemAllocAsync(out, n_bytes, stream))
    }
    fn cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz(out: *mut u64, n_bytes: usize, pool: usize, stream: usize) in stream {
        allocated(out, n_bytes, || driver::cuMemAllocFromPoolAsync(out, n_bytes, pool, stream))
    }
    fn cudaFreeAsync, cudaFreeAsync_ptsz(address: u64, stream: usize) in stream = cuMemFreeAsync;
    fn cudaMemRangeGetAttribute(out: *mut c_void, size: usize, number: c_uint, address: u64, n_bytes: usize) = cuMemRangeGetAttribute;
    fn cudaDeviceGetDefaultMemPool(out: *mut usize, device: c_int) = cuDeviceGetDefaultMemPool needs out on device;
    fn cudaDeviceGetMemPool(out: *mut usize, device: c_int) = cuDeviceGetMemPool needs out on device;
    fn cudaDeviceSetMemPool(device: c_int, pool: usize) = cuDeviceSetMemPool on device;
    fn cudaMemPoolCreate(out: *mut usize, properties: *const c_void) = cuMemPoolCreate needs out, properties;
    fn cudaMemPoolDestroy(pool: usize) = cuMemPoolDestroy;
    fn cudaMemPoolTrimTo(pool: usize, n_bytes: usize) = cuMemPoolTrimTo;
    fn cudaMemPoolSetAttribute(pool: usize, number: c_uint, value: *const c_void) = cuMemPoolSetAttribute needs value;
    fn cudaMemPoolGetAttribute(pool: usize, number: c_uint, out: *mut c_void) = cuMemPoolGetAttribute needs out;
    fn cudaMemPoolSetAccess(pool: usize, access: *const c_void, n: usize) = cuMemPoolSetAccess;
    fn cudaMemPoolGetAccess(out: *mut c_uint, pool: usize, location: *const c_void) = cuMemPoolGetAccess needs out;
}

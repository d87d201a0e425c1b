//! Tensor maps, made by the driver, which alone knows what is in them.

use super::sys;
use cuda_driver::{DriverError, check};
use ptx_sim::tensor_map::TensorMap;
use std::ffi::c_uint;

/// `CUtensorMap`, which the driver takes at multiples of 64 only.
#[repr(C, align(64))]
struct Bytes([u8; 128]);

/// The map that a description stands for.
pub(crate) fn encode(map: &TensorMap) -> Result<[u8; 128], DriverError> {
    let mut bytes = Bytes([0; 128]);
    // SAFETY: writes one map, and reads as many numbers as there are dimensions; of
    // strides one less.
    check("cuTensorMapEncodeTiled", unsafe {
        sys::cuTensorMapEncodeTiled(
            bytes.0.as_mut_ptr().cast(),
            map.element() as c_uint,
            map.rank() as c_uint,
            map.address(),
            map.dims().as_ptr(),
            map.strides().as_ptr(),
            map.box_dims().as_ptr(),
            map.element_strides().as_ptr(),
            map.interleave() as c_uint,
            map.swizzle() as c_uint,
            map.l2_promotion() as c_uint,
            map.fill() as c_uint,
        )
    })?;
    Ok(bytes.0)
}

/// A map of the driver's, of an array of the same shape at another address.
pub(crate) fn at_address(map: &[u8; 128], address: u64) -> Result<[u8; 128], DriverError> {
    let mut bytes = Bytes(*map);
    // SAFETY: reads and writes one map.
    check("cuTensorMapReplaceAddress", unsafe {
        sys::cuTensorMapReplaceAddress(bytes.0.as_mut_ptr().cast(), address)
    })?;
    Ok(bytes.0)
}

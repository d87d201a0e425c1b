//! Tensor maps, made by the driver, which alone knows their format.

use super::sys;
use cuda_driver::{DriverError, check};
use ptx_sim::tensor_map::TensorMap;
use std::ffi::c_uint;

/// `CUtensorMap`, which the driver requires to be aligned to 64 bytes.
#[repr(C, align(64))]
struct Bytes([u8; 128]);

/// The map for a description.
pub(crate) fn encode(map: &TensorMap) -> Result<[u8; 128], DriverError> {
    let mut bytes = Bytes([0; 128]);
    // SAFETY: writes one map; reads one number per dimension, and one stride fewer.
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

/// The driver's map of an array of the same shape at another address.
pub(crate) fn at_address(map: &[u8; 128], address: u64) -> Result<[u8; 128], DriverError> {
    let mut bytes = Bytes(*map);
    // SAFETY: reads and writes one map.
    check("cuTensorMapReplaceAddress", unsafe {
        sys::cuTensorMapReplaceAddress(bytes.0.as_mut_ptr().cast(), address)
    })?;
    Ok(bytes.0)
}

//! Tensor maps: `ptx_sim` makes them, by the driver's rules for its own.
//!
//! Left out: maps for `im2col`.

use std::ffi::{c_uint, c_void};

use ptx_sim::tensor_map::{TENSOR_MAP_BYTES, TensorMap, TensorSpec};

use super::{api, list, put};
use crate::recorder::recorder;
use crate::status::{Outcome, Status};

/// The alignment of a `CUtensorMap`.
const ALIGN_BYTES: usize = 64;

/// What is wrong with a function's arguments, for the log's readers.
fn refused(function: &str, reason: &dyn std::fmt::Display) -> Status {
    if let Ok(recorder) = recorder() {
        recorder.note(&format!("{function}: {reason}"));
    }
    Status::INVALID_VALUE
}

/// The address for a map, or of one, checked.
fn checked(map: *mut c_void) -> Outcome<*mut [u8; TENSOR_MAP_BYTES]> {
    Status::INVALID_VALUE.when(map.is_null() || !map.addr().is_multiple_of(ALIGN_BYTES))?;
    Ok(map.cast())
}

/// One of the driver's choices, by its number.
fn choice<T: TryFrom<u32>>(number: c_uint) -> Outcome<T> {
    T::try_from(number).map_err(|_| Status::INVALID_VALUE)
}

api! {
    fn cuTensorMapEncodeTiled(
        map: *mut c_void,
        element: c_uint,
        rank: c_uint,
        address: *mut c_void,
        dims: *const u64,
        strides: *const u64,
        box_dims: *const c_uint,
        element_strides: *const c_uint,
        interleave: c_uint,
        swizzle: c_uint,
        l2_promotion: c_uint,
        fill: c_uint,
    ) {
        let map = checked(map)?;
        let rank = usize::try_from(rank).unwrap_or(usize::MAX);
        Status::INVALID_VALUE.when(!(1..=ptx_sim::tensor_map::MAX_RANK).contains(&rank))?;
        let spec = TensorSpec {
            element: choice(element)?,
            address: address.addr() as u64,
            dims: &list(dims, rank)?,
            strides: &list(strides, rank - 1)?,
            box_dims: &list(box_dims, rank)?,
            element_strides: &list(element_strides, rank)?,
            interleave: choice(interleave)?,
            swizzle: choice(swizzle)?,
            l2_promotion: choice(l2_promotion)?,
            fill: choice(fill)?,
        };
        let made = TensorMap::new(&spec).map_err(|error| refused("cuTensorMapEncodeTiled", &error))?;
        // Blackwell's choices are not for the simulated GPU.
        let needed = spec.element.least_capability();
        Status::INVALID_VALUE.when(needed.max(spec.swizzle.least_capability()) > (9, 0))?;
        put(map, made.to_bytes())
    }
    fn cuTensorMapReplaceAddress(map: *mut c_void, address: *mut c_void) {
        let map = checked(map)?;
        let function = "cuTensorMapReplaceAddress";
        let before = TensorMap::from_bytes(&*map).map_err(|error| refused(function, &error))?;
        let after = before
            .at(address.addr() as u64)
            .map_err(|error| refused(function, &error))?;
        put(map, after.to_bytes())
    }
}

//! Functions that cannot be kernels: by their qualifiers, by what they return, or by parameters
//! that no launch can pass.
use cuda_std::{TensorMap, kernel};

#[kernel]
pub async unsafe fn later() {}

#[kernel]
pub const unsafe fn early() {}

#[kernel]
pub unsafe extern "C" fn foreign() {}

#[kernel]
pub unsafe fn sum(x: &[f32]) -> f32 {
    x[0]
}

struct Matrix;

impl Matrix {
    #[kernel]
    pub unsafe fn zero(&self) {}
}

/// All threads would hold the mutable slice at once.
#[kernel]
pub unsafe fn mutable_slice(out: &mut [f32]) {
    out[0] = 0.0;
}

#[kernel]
pub unsafe fn references(factor: &f32, count: &mut u32) {}

#[kernel]
pub unsafe fn tuple(pair: (u32, u32)) {}

#[kernel]
pub unsafe fn array(values: [f32; 4]) {}

#[kernel]
pub unsafe fn slice_pointer(x: *const [f32]) {}

#[kernel]
pub unsafe fn pattern(_: u32) {}

#[kernel]
pub unsafe fn map_by_value(map: TensorMap) {}

#[kernel]
pub unsafe fn mutable_map(map: &mut TensorMap) {}

#[kernel]
pub fn safe_with_map(map: &TensorMap) {}

fn main() {}

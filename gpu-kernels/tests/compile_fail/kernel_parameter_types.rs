//! Parameters of types that no launch can pass.
use cuda_std::kernel;

#[kernel]
pub unsafe fn tuple(pair: (u32, u32)) {}

#[kernel]
pub unsafe fn array(values: [f32; 4]) {}

#[kernel]
pub unsafe fn slice_pointer(x: *const [f32]) {}

#[kernel]
pub unsafe fn pattern(_: u32) {}

fn main() {}

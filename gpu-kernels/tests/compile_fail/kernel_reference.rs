//! A reference as a parameter.
use cuda_std::kernel;

#[kernel]
pub unsafe fn scale(factor: &f32, count: &mut u32) {}

fn main() {}

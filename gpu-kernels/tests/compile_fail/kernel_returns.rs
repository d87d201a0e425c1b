//! A kernel that returns a value.
use cuda_std::kernel;

#[kernel]
pub unsafe fn sum(x: &[f32]) -> f32 {
    x[0]
}

fn main() {}

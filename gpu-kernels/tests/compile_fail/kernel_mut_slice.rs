//! A mutable slice as a parameter: all threads would hold it at once.
use cuda_std::kernel;

#[kernel]
pub unsafe fn zero(out: &mut [f32]) {
    out[0] = 0.0;
}

fn main() {}

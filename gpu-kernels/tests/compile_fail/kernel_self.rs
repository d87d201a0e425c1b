//! A method as a kernel.
use cuda_std::kernel;

struct Matrix;

impl Matrix {
    #[kernel]
    pub unsafe fn zero(&self) {}
}

fn main() {}

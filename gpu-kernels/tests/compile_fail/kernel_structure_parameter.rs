//! A structure by value that is not a `KernelArg`.
use cuda_std::kernel;

#[derive(Clone, Copy)]
pub struct Shape {
    pub rows: u32,
    pub columns: u32,
}

#[kernel]
pub unsafe fn by_value(shape: Shape) {}

fn main() {}

use cuda_std::kernel;

#[kernel]
pub unsafe fn copy<T: Copy, const N: usize>(x: *const T, z: *mut T) {}

#[kernel]
pub unsafe fn first<'a>(x: &'a [f32]) {}

fn main() {}

//! Kernels that nothing checks, without `unsafe`.
use cuda_std::kernel;
use cuda_std::view::{Disjoint, Global};

#[kernel]
pub fn pointers(x: *const f32, z: *mut f32) {}

#[kernel]
pub fn slice(x: &[f32], z: Disjoint<[f32; n]>, n: u32) {}

#[kernel]
pub unsafe fn views_and_unsafe(x: Global<[f32; n]>, n: u32) {}

#[kernel(pdl)]
pub fn pdl(x: Global<[f32; n]>, n: u32) {}

fn main() {}

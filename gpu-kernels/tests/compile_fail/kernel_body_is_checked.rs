//! The host type-checks a kernel's body, though it never runs it.
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn add(x: *const f32, z: *mut f32) {
    let i: u64 = thread::index_1d();
}

fn main() {}

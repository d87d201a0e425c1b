use cuda_std::prelude::*;

#[kernel]
pub unsafe fn add(x: *const f32, z: *mut f32) {
    let i: u64 = thread::index_1d();
}

fn main() {}

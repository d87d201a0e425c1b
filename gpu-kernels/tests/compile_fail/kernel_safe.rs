use cuda_std::kernel;

#[kernel]
pub fn add(x: *const f32, z: *mut f32) {}

fn main() {}

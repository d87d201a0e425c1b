//! A launch that gives a read-only buffer to a kernel that writes to it.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn main() {
    let read_only = DevicePtr::<f32>::new(256);
    launch(transpose_swizzled, (read_only, read_only, 3, 4));
}

//! A launch with a number of another type.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn main() {
    launch(transpose_swizzled, (DevicePtr::new(256), DevicePtrMut::new(512), 3_i64, 4));
}

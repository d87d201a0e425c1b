//! A launch with too few arguments.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn main() {
    launch(transpose_swizzled, (DevicePtr::new(256), DevicePtrMut::new(512), 3));
}

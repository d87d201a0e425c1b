//! A launch with its arguments in the wrong order.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn main() {
    launch(transpose_swizzled, (DevicePtrMut::new(512), DevicePtr::new(256), 3, 4));
}

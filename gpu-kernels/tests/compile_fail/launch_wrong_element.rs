//! A launch with a buffer of another element type.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn main() {
    launch(transpose_swizzled, (DevicePtr::<f64>::new(256), DevicePtrMut::new(512), 3, 4));
}

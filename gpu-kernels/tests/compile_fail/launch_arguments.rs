//! Launches whose arguments are not the kernel's parameters.
use cuda_std::launch::{DevicePtr, DevicePtrMut, Kernel};
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

fn too_few() {
    launch(transpose_swizzled, (DevicePtr::new(256), DevicePtrMut::new(512), 3));
}

fn too_many() {
    launch(transpose_swizzled, (DevicePtr::new(256), DevicePtrMut::new(512), 3, 4, 5));
}

/// A read-only buffer for a kernel that writes to it.
fn writes_through_const() {
    let read_only = DevicePtr::<f32>::new(256);
    launch(transpose_swizzled, (read_only, read_only, 3, 4));
}

fn wrong_element() {
    launch(transpose_swizzled, (DevicePtr::<f64>::new(256), DevicePtrMut::new(512), 3, 4));
}

fn wrong_order() {
    launch(transpose_swizzled, (DevicePtrMut::new(512), DevicePtr::new(256), 3, 4));
}

fn wrong_scalar() {
    launch(transpose_swizzled, (DevicePtr::new(256), DevicePtrMut::new(512), 3_i64, 4));
}

fn main() {}

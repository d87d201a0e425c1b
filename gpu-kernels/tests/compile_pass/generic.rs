//! Instances of generic kernels: each is a kernel of its own.
use cuda_std::launch::{DevicePtrMut, DeviceSlice, Kernel, KernelArgs, LaunchBounds, SafeKernel};
use cuda_std::prelude::*;
use cuda_std::view::{DeviceCopy, Disjoint, Global};
use core::ops::Mul;

fn launch<K: Kernel>(_: K, _: K::Args) {}

/// Multiplies.
#[kernel(
    launch_bounds(THREADS, 2),
    instances(
        scale_floats = scale::<f32, 64>,
        pub_scale_doubles = scale<f64, { 4 * 32 }>,
    )
)]
pub unsafe fn scale<T: Copy + Mul<Output = T>, const THREADS: u32>(x: &[T], mut y: *mut T, factor: T)
where
    T: Send,
{
    let i = thread::index_1d() as usize;
    if i < x.len() && THREADS > 0 {
        y = y.wrapping_add(i);
        *y = x[i] * factor;
    }
}

/// Copies, safely.
#[kernel(instances(copy_bytes = copy::<u8>))]
fn copy<T: DeviceCopy>(x: Global<[T; n]>, mut y: Disjoint<[T; n]>, n: u32) {
    let i = thread::index_1d();
    if let (Some(x), Some(y)) = (x.get(i), y.own()) {
        y.set(x);
    }
}

fn is_safe<K: SafeKernel>(_: K) {}

fn main() {
    launch(scale_floats, (DeviceSlice::new(256, 8), DevicePtrMut::<f32>::new(512), 2.0));
    launch(pub_scale_doubles, (DeviceSlice::new(256, 8), DevicePtrMut::<f64>::new(512), 2.0));
    is_safe(copy_bytes);

    assert_eq!(scale_floats::NAME, "scale_floats");
    assert_eq!(scale_floats::PARAM_NAMES, ["x", "y", "factor"]);
    let bounds = |max_threads| Some(LaunchBounds { max_threads, min_blocks: Some(2) });
    assert_eq!(scale_floats::LAUNCH_BOUNDS, bounds(64));
    assert_eq!(pub_scale_doubles::LAUNCH_BOUNDS, bounds(128));
    let sizes = |sizes: &mut dyn Iterator<Item = u32>| sizes.collect::<Vec<_>>();
    assert_eq!(sizes(&mut <scale_floats as Kernel>::Args::param_sizes()), [8, 8, 8, 4]);
    assert_eq!(sizes(&mut <pub_scale_doubles as Kernel>::Args::param_sizes()), [8, 8, 8, 8]);
    assert_eq!(copy_bytes::MODULE_PATH, module_path!());
}

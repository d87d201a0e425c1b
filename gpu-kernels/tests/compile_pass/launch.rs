//! Arguments that match, and a kernel of every kind of parameter.
use cuda_std::TensorMap;
use cuda_std::launch::{
    DevicePtr, DevicePtrMut, DeviceSlice, DeviceTensorMap, Kernel, KernelArgs, LaunchBounds,
};
use cuda_std::prelude::*;
use gpu_kernels::swizzle::ChunkSwizzle;
use gpu_kernels::transpose::transpose_swizzled;

fn launch<K: Kernel>(_: K, _: K::Args) {}

const THREADS: u32 = 128;

/// Adds.
#[kernel(launch_bounds(THREADS, 2))]
pub unsafe fn add(x: &[f32], y: *const f32, z: *mut f32, mut n: u32, _unused: f64) {
    let tile = shared_array![f32; 128];
    n = n.min(x.len() as u32);
    let i = thread::index_1d();
    if i < n {
        *tile = x[i as usize];
        // An extra block does no harm.
        unsafe { *z.add(i as usize) = *tile + *y.add(i as usize) };
    }
}

#[kernel]
unsafe fn maps(a: &TensorMap, n: u32, #[allow(unused)] b: &cuda_std::TensorMap, z: *mut u64) {
    unsafe { *z.add(n as usize) = a.address() };
}

#[kernel]
unsafe fn nothing() {}

#[kernel(pdl, launch_bounds(32))]
unsafe fn waits() {
    cuda_std::grid::wait_for_previous();
}

#[kernel(cooperative)]
unsafe fn meets() {
    cuda_std::grid::sync();
}

fn main() {
    let (input, output) = (DevicePtr::<f32>::new(256), DevicePtrMut::<f32>::new(512));
    launch(transpose_swizzled, (input, output, 3, 4));
    launch(transpose_swizzled, (output.as_const(), output, 3, 4));
    launch(add, (DeviceSlice::new(256, 8), input, output, 8, 1.0));
    launch(nothing, ());
    let map = DeviceTensorMap::new([0; 128], 256, |map, _| Ok(*map));
    launch(maps, (map, 8, map, DevicePtrMut::new(512)));

    assert_eq!(add::NAME, "add");
    assert_eq!(add::PARAM_NAMES, ["x", "y", "z", "n", "_unused"]);
    assert_eq!(add::LAUNCH_BOUNDS, Some(LaunchBounds { max_threads: 128, min_blocks: Some(2) }));
    let sizes: Vec<u32> = <add as Kernel>::Args::param_sizes().collect();
    assert_eq!(sizes, [8, 8, 8, 8, 4, 8]);
    let sizes: Vec<u32> = <maps as Kernel>::Args::param_sizes().collect();
    assert_eq!(sizes, [128, 4, 128, 8]);
    assert_eq!(nothing::LAUNCH_BOUNDS, None);
    assert_eq!([add::USES_PDL, nothing::USES_PDL, waits::USES_PDL], [false, false, true]);
    assert_eq!([add::IS_COOPERATIVE, meets::IS_COOPERATIVE], [false, true]);
    assert!(waits::LAUNCH_BOUNDS.is_some());

    assert_eq!(ChunkSwizzle::<4, 32, 4, 128>::xor(5, 9), 12);
}

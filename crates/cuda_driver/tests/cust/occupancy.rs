//! Occupancy, attributes and limits: of the device, of a kernel, of a launch.

use cust::device::DeviceAttribute;
use cust::error::CudaError;
use cust::function::{BlockSize, FunctionAttribute, GridSize};
use cust::memory::DeviceBuffer;

use crate::{Program, values};

#[test]
fn a_multiprocessor_holds_as_many_blocks_as_it_has_room_for() {
    let program = Program::new();
    let kernel = program
        .module
        .get_function("through_shared")
        .expect("it is there");
    let blocks = |threads, bytes| {
        let blocks = kernel.max_active_blocks_per_multiprocessor(BlockSize::x(threads), bytes);
        blocks.expect("reported")
    };
    let threads = program
        .device
        .get_attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)
        .expect("reported") as u32;
    assert_eq!(blocks(1024, 0), threads / 1024);
    let shared = program
        .device
        .get_attribute(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)
        .expect("reported") as u32;
    // Each block also has a kilobyte that the system reserves.
    assert_eq!(blocks(32, 40 << 10), shared / (41 << 10));
    let (grid, block) = kernel
        .suggested_launch_configuration(0, BlockSize::x(0))
        .expect("reported");
    assert!(block >= 128 && grid >= 1, "{grid} blocks of {block}");
    let left = kernel.available_dynamic_shared_memory_per_block(GridSize::x(2), BlockSize::x(64));
    assert!(left.expect("reported") >= 32 << 10);
}

#[test]
fn kernels_and_devices_have_attributes() {
    let program = Program::new();
    let kernel = program.module.get_function("saxpy").expect("it is there");
    let attribute = |which| kernel.get_attribute(which).expect("reported");
    assert_eq!(attribute(FunctionAttribute::MaxThreadsPerBlock), 1024);
    assert_eq!(attribute(FunctionAttribute::SharedMemorySizeBytes), 0);
    assert!((1..=64).contains(&attribute(FunctionAttribute::NumRegisters)));
    assert!(!program.device.name().expect("reported").is_empty());
    assert!(program.device.total_memory().expect("reported") > 1 << 30);
    assert_eq!(
        program.device.get_attribute(DeviceAttribute::WarpSize).ok(),
        Some(32)
    );
}

#[test]
fn dynamic_shared_memory_is_the_launchs() {
    let program = Program::new();
    let kernel = program
        .module
        .get_function("through_shared")
        .expect("it is there");
    let data = DeviceBuffer::from_slice(&[5_u32; 256]).expect("room");
    let stream = &program.stream;
    // SAFETY: one element and four bytes of shared memory per thread.
    unsafe { cust::launch!(kernel<<<1, 256, 1024, stream>>>(data.as_device_ptr())) }
        .expect("launched");
    stream.synchronize().expect("done");
    assert_eq!(values(&data), [6; 256]);
    // SAFETY: it is refused.
    let refused = unsafe { cust::launch!(kernel<<<1, 2048, 8192, stream>>>(data.as_device_ptr())) };
    assert_eq!(refused, Err(CudaError::InvalidValue));
}

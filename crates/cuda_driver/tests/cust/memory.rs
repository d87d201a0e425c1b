//! Memory: on the device, pinned, unified; copies, fills and slices; allocations of a stream.

use cust::memory::{
    AsyncCopyDestination, CopyDestination, DeviceBox, DeviceBuffer, LockedBuffer, UnifiedBuffer,
    mem_get_info,
};

use crate::{Program, values};

#[test]
fn buffers_are_copied_to_and_from_the_device() {
    let _program = Program::new();
    let data: Vec<u32> = (0..1000).collect();
    let mut buffer = DeviceBuffer::from_slice(&data).expect("room");
    assert_eq!(values(&buffer), data);
    buffer.copy_from(&vec![7; 1000][..]).expect("copied");
    let mut copy = DeviceBuffer::<u32>::zeroed(1000).expect("room");
    assert_eq!(values(&copy), [0; 1000]);
    buffer.copy_to(&mut copy).expect("copied");
    assert_eq!(values(&copy), [7; 1000]);
    let one = DeviceBox::new(&5_u64).expect("room");
    assert_eq!(one.as_host_value().ok(), Some(5));
}

#[test]
fn pinned_memory_is_copied_in_a_stream() {
    let program = Program::new();
    let source = LockedBuffer::from_slice(&[1.5_f32; 300]).expect("room");
    let mut target = LockedBuffer::new(&0.0_f32, 300).expect("room");
    let mut buffer = DeviceBuffer::<f32>::zeroed(300).expect("room");
    // SAFETY: all three live until the stream is done.
    unsafe {
        buffer
            .async_copy_from(&source, &program.stream)
            .expect("submitted");
        buffer
            .async_copy_to(&mut target, &program.stream)
            .expect("submitted");
    }
    program.stream.synchronize().expect("done");
    assert_eq!(target.as_slice(), [1.5; 300]);
}

#[test]
fn unified_memory_is_the_hosts_and_the_devices() {
    let program = Program::new();
    let x = DeviceBuffer::from_slice(&[2.0_f32; 64]).expect("room");
    let mut y = UnifiedBuffer::from_slice(&[1.0_f32; 64]).expect("room");
    let saxpy = program.module.get_function("saxpy").expect("it is there");
    let stream = &program.stream;
    // SAFETY: both have 64 elements.
    unsafe {
        cust::launch!(saxpy<<<1, 64, 0, stream>>>(
            x.as_device_ptr(),
            y.as_unified_ptr(),
            3.0_f32,
            64_u32
        ))
    }
    .expect("launched");
    stream.synchronize().expect("done");
    assert_eq!(y.as_slice(), [7.0; 64]);
}

#[test]
fn a_stream_allocates_and_frees() {
    let program = Program::new();
    // SAFETY: they are written before they are read, and freed in the stream that made them.
    unsafe {
        let mut buffer =
            DeviceBuffer::<u32>::uninitialized_async(256, &program.stream).expect("room");
        let source = LockedBuffer::from_slice(&[9_u32; 256]).expect("room");
        let mut target = LockedBuffer::new(&0_u32, 256).expect("room");
        buffer
            .async_copy_from(&source, &program.stream)
            .expect("submitted");
        buffer
            .async_copy_to(&mut target, &program.stream)
            .expect("submitted");
        buffer.drop_async(&program.stream).expect("submitted");
        program.stream.synchronize().expect("done");
        assert_eq!(target.as_slice(), [9; 256]);
    }
}

#[test]
fn what_is_allocated_shows_in_the_free_memory() {
    let _program = Program::new();
    let (free, all) = mem_get_info().expect("reported");
    assert!(free <= all);
    let buffer = DeviceBuffer::<u8>::zeroed(256 << 20).expect("room");
    let (less, _) = mem_get_info().expect("reported");
    assert!(less < free, "{less} of {free}");
    drop(buffer);
}

#[test]
fn variables_of_a_module_are_read_and_written() {
    let program = Program::new();
    let mut variable = program
        .module
        .get_global::<u32>(c"n_runs")
        .expect("it is there");
    let mut value = 0;
    variable.copy_to(&mut value).expect("copied");
    assert_eq!(value, 3);
    variable.copy_from(&4).expect("copied");
    variable.copy_to(&mut value).expect("copied");
    assert_eq!(value, 4);
}

//! A program on `cust` that lends its context, its stream and its buffers to a typed launch, and
//! takes them back.

use crate::behaviour::{kernels, loaded};
use cust::context::Context;
use cust::device::Device as CustDevice;
use cust::memory::{CopyDestination, DeviceBuffer, DevicePointer};
use cust::stream::{Stream, StreamFlags};
use lockstep::{Device, LaunchConfig};
use std::mem::ManuallyDrop;

const N: usize = 1000;

#[test]
fn cust_lends_a_buffer_and_a_stream_and_takes_them_back() {
    let (device, module) = loaded();
    let context = Context::new(CustDevice::get_device(0).expect("a device")).expect("a context");
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).expect("a stream");
    let values: Vec<u32> = (0..N as u32).collect();
    let lent = ManuallyDrop::new(DeviceBuffer::from_slice(&values).expect("there is room"));

    let address = lent.as_device_ptr().as_raw();
    // SAFETY: it is that large and not dropped.
    let x = unsafe { device.adopt::<u32>("x", address, N) }.expect("it is taken");
    // SAFETY: it outlives `queue`.
    let queue = unsafe { device.stream_of(stream.as_inner().cast()) }.expect("it is taken");
    assert_eq!(queue.as_raw(), Some(stream.as_inner().cast()));
    let args = (x.as_mut_ptr(), N as u32);
    // SAFETY: `x` is as long, and lives until the stream has been waited for.
    unsafe {
        queue.launch(
            &module,
            kernels::increment,
            LaunchConfig::linear(N, 256),
            args,
        )
    }
    .expect("it is put in");
    drop(queue);
    stream
        .synchronize()
        .expect("it is alive, and the launch has ended");

    assert_eq!(x.read().expect("it is read")[N - 1], N as u32);
    let address = device.release(x).expect("it is given back");
    // SAFETY: the memory that `lent` had, which is not used any more.
    let back = unsafe { DeviceBuffer::from_raw_parts(DevicePointer::<u32>::from_raw(address), N) };
    let mut result = vec![0; N];
    back.copy_to(&mut result).expect("it is alive");
    assert!((1..=N as u32).eq(result));
    drop(back);
    drop(context);
    // The context that they share is still there.
    let y = device.upload("y", &[7u32]).expect("there is room");
    assert_eq!(y.read().expect("it is read"), [7]);
}

#[test]
fn cust_takes_what_was_allocated_here() {
    let (device, _) = loaded();
    let x = device.upload("x", &[1u32, 2, 3]).expect("there is room");
    let address = device.release(x).expect("it is given away");
    // SAFETY: nothing else owns the memory any more.
    let taken = unsafe { DeviceBuffer::from_raw_parts(DevicePointer::<u32>::from_raw(address), 3) };
    let mut values = [0; 3];
    taken.copy_to(&mut values).expect("it is alive");
    assert_eq!(values, [1, 2, 3]);
}

#[test]
fn a_simulator_has_nothing_of_others() {
    let device = Device::simulator();
    // SAFETY: it is refused.
    let refused = unsafe { device.adopt::<u32>("x", 0x7000_0000_0000, 4) };
    let error = refused.expect_err("it is refused").to_string();
    assert!(error.contains("this device is a simulator"), "{error}");
    let x = device.upload("x", &[1u32]).expect("there is room");
    assert!(device.release(x).is_err());
    assert_eq!(device.stream().expect("there is one").as_raw(), None);
}

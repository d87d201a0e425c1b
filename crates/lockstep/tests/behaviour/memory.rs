//! Buffers and pinned memory.

use lockstep::Buffer;

#[test]
fn what_is_uploaded_is_read_back() {
    let device = crate::device();
    let values: Vec<u32> = (0..1000).collect();
    let buffer = device.upload("values", &values).expect("there is room");
    assert_eq!(buffer.len(), 1000);
    assert_eq!(buffer.read().expect("it is read"), values);
    buffer.fill(0).expect("it is filled");
    assert_eq!(buffer.read().expect("it is read"), [0; 1000]);
}

#[test]
fn fresh_memory_is_poison_or_zero() {
    let device = crate::device();
    let fresh: Buffer<f32> = device.alloc("fresh", 33).expect("there is room");
    assert!(fresh.read().expect("it is read").iter().all(|x| x.is_nan()));
    let zeroed: Buffer<f32> = device.zeroed("zeroed", 33).expect("there is room");
    assert_eq!(zeroed.read().expect("it is read"), [0.0; 33]);
}

#[test]
fn a_buffer_keeps_its_device() {
    let buffer = {
        let device = crate::device();
        device.upload("kept", &[1u64, 2, 3]).expect("there is room")
    };
    assert_eq!(buffer.read().expect("it is read"), [1, 2, 3]);
}

#[test]
fn no_values_are_a_buffer_too() {
    let device = crate::device();
    let buffer: Buffer<u8> = device.upload("empty", &[]).expect("there is room");
    assert!(buffer.is_empty());
    assert!(buffer.read().expect("it is read").is_empty());
}

#[test]
fn copies_of_another_length_are_refused() {
    let device = crate::device();
    let buffer = device.upload("three", &[1u8, 2, 3]).expect("there is room");
    let error = buffer.write(&[1]).expect_err("it is shorter").to_string();
    assert!(error.contains("1 values to or from `three`"), "{error}");
}

#[test]
fn more_than_there_is_names_the_buffer() {
    let device = crate::device();
    let error = device
        .alloc::<f64>("enormous", usize::MAX / 16)
        .expect_err("no device has that much")
        .to_string();
    assert!(error.contains("enormous"), "{error}");
    let error = device
        .alloc::<f64>("wrapped", usize::MAX / 2)
        .expect_err("too large to count in bytes")
        .to_string();
    assert!(error.contains("wrapped"), "{error}");
}

#[test]
fn pinned_memory_is_a_slice() {
    let device = crate::device();
    let mut pinned = device.pinned::<i16>(100).expect("there is room");
    assert_eq!(&*pinned, [0; 100]);
    pinned[99] = -7;
    assert_eq!(pinned.iter().sum::<i16>(), -7);
    assert!(
        device
            .pinned::<i16>(0)
            .expect("nothing has room for that")
            .is_empty()
    );
}

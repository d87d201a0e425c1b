//! Streams, events and graphs.

use super::{kernels, loaded};
use lockstep::LaunchConfig;

#[test]
fn a_stream_does_things_in_order() {
    let (device, module) = loaded();
    let stream = device.stream().expect("there is one");
    let n = 10_000;
    let mut values = device.pinned::<u32>(n).expect("there is room");
    values
        .iter_mut()
        .enumerate()
        .for_each(|(i, value)| *value = i as u32);
    let mut result = device.pinned::<u32>(n).expect("there is room");
    let x = device.alloc::<u32>("x", n).expect("there is room");
    let y = device.alloc::<u32>("y", n).expect("there is room");
    let config = LaunchConfig::linear(n, 256);
    // SAFETY: everything lives until the stream is waited for, and nothing else uses it.
    unsafe {
        stream.upload(&x, &values).expect("it is put in");
        for _ in 0..3 {
            let args = (x.as_mut_ptr(), n as u32);
            stream
                .launch(&module, kernels::increment, config, args)
                .expect("it is put in");
        }
        stream.copy(&y, &x).expect("it is put in");
        stream.fill(&x, 0).expect("it is put in");
        stream.download(&mut result, &y).expect("it is put in");
    }
    stream.synchronize().expect("all of it ran");
    assert!(
        result
            .iter()
            .enumerate()
            .all(|(i, &value)| value == i as u32 + 3)
    );
    assert_eq!(x.read().expect("it is read")[..4], [0; 4]);
}

#[test]
fn one_stream_waits_for_another() {
    let (device, module) = loaded();
    let (first, second) = (
        device.stream().expect("there is one"),
        device.stream().expect("there is another"),
    );
    let n = 1 << 16;
    let x = device.zeroed::<u32>("x", n).expect("there is room");
    let y = device.zeroed::<u32>("y", n).expect("there is room");
    let start = first.record().expect("it is put in");
    let args = || (x.as_mut_ptr(), n as u32);
    let config = LaunchConfig::linear(n, 256);
    // SAFETY: as above.
    unsafe {
        for _ in 0..20 {
            first
                .launch(&module, kernels::increment, config, args())
                .expect("it is put in");
        }
        let done = first.record().expect("it is put in");
        second.wait(&done).expect("it is put in");
        second.copy(&y, &x).expect("it is put in");
        second.synchronize().expect("all of it ran");
        assert!(done.is_passed().expect("it is known"));
        let ms = done.ms_since(&start).expect("both are passed");
        assert_eq!(ms.is_some(), !device.is_simulator());
        assert!(ms.is_none_or(|ms| ms > 0.0));
    }
    assert!(
        y.read()
            .expect("it is read")
            .iter()
            .all(|&value| value == 20)
    );
}

#[test]
fn a_graph_runs_when_it_is_launched_and_as_often() {
    let (device, module) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 100).expect("there is room");
    let config = LaunchConfig::linear(100, 64);
    let add = || {
        // SAFETY: `x` has 100 numbers, and lives longer than the graph.
        unsafe { stream.launch(&module, kernels::increment, config, (x.as_mut_ptr(), 100)) }
    };
    let graph = stream
        .record_graph(|| {
            add()?;
            add()
        })
        .expect("it is recorded");
    stream.synchronize().expect("nothing ran");
    assert_eq!(x.read().expect("it is read")[0], 0);
    for _ in 0..5 {
        // SAFETY: as above.
        unsafe { stream.launch_graph(&graph) }.expect("it is put in");
    }
    stream.synchronize().expect("all of it ran");
    assert_eq!(x.read().expect("it is read"), [10; 100]);
}

#[test]
fn a_recording_ends_with_a_panic_too() {
    let (device, _) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    let panicking = std::panic::AssertUnwindSafe(|| {
        stream
            .record_graph(|| panic!("in the middle"))
            .map(drop)
            .expect("it does not get here");
    });
    std::panic::catch_unwind(panicking).expect_err("it panics");
    // SAFETY: `x` lives until the stream is waited for.
    unsafe { stream.fill(&x, 1) }.expect("it is put in");
    stream.synchronize().expect("it ran");
    assert_eq!(x.read().expect("it is read"), [0x0101_0101; 4]);
}

#[test]
fn other_threads_work_while_a_graph_is_recorded() {
    fn work_of_another_thread() {
        let (device, module) = loaded();
        let x = device.upload("x", &[1u32; 100]).expect("there is room");
        let config = LaunchConfig::linear(100, 64);
        // SAFETY: `x` has 100 numbers.
        unsafe { module.launch(kernels::increment, config, (x.as_mut_ptr(), 100)) }
            .expect("it runs");
        x.write(&x.read().expect("it is read"))
            .expect("it is written");
        assert_eq!(x.read().expect("it is read"), [2; 100]);
    }
    let (device, _) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.upload("x", &[7u32; 4]).expect("there is room");
    let graph = stream
        .record_graph(|| {
            // SAFETY: `x` lives longer than the graph.
            unsafe { stream.fill(&x, 0) }?;
            let other = std::thread::spawn(work_of_another_thread);
            other.join().expect("it works");
            // What is in no stream is done at once.
            x.write(&[9; 4])?;
            assert_eq!(x.read()?, [9; 4]);
            Ok(())
        })
        .expect("it is recorded");
    // SAFETY: as above.
    unsafe { stream.launch_graph(&graph) }.expect("it is put in");
    stream.synchronize().expect("it ran");
    assert_eq!(x.read().expect("it is read"), [0; 4]);
}

#[test]
fn what_cannot_be_in_a_graph_is_an_error_and_the_stream_goes_on() {
    let (device, _) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    assert!(stream.record_graph(|| stream.synchronize()).is_err());
    let other = device.stream().expect("there is another");
    let event = other.record().expect("it is put in");
    assert!(stream.record_graph(|| stream.wait(&event)).is_err());
    assert!(
        stream
            .record_graph(|| stream.record_graph(|| Ok(())).map(drop))
            .is_err()
    );
    // SAFETY: `x` lives until the stream is waited for.
    unsafe { stream.fill(&x, 1) }.expect("it is put in");
    stream.synchronize().expect("it ran");
    assert_eq!(x.read().expect("it is read"), [0x0101_0101; 4]);
}

#[test]
fn a_launch_in_no_stream_is_no_part_of_a_graph() {
    let (device, module) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    let launch = || {
        let config = LaunchConfig::linear(4, 32);
        // SAFETY: `x` has 4 values.
        let launched = unsafe { module.launch(kernels::increment, config, (x.as_mut_ptr(), 4)) };
        launched.map(drop)
    };
    let error = stream.record_graph(launch).expect_err("it is refused");
    assert!(error.to_string().contains("`Stream::launch`"), "{error}");
    launch().expect("it runs");
    assert_eq!(x.read().expect("it is read"), [1; 4]);
}

#[test]
fn lengths_and_devices_must_agree() {
    let (device, module) = loaded();
    let (other, _) = loaded();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    let pinned = device.pinned::<u32>(5).expect("there is room");
    // SAFETY: refused.
    let error = unsafe { stream.upload(&x, &pinned) }.expect_err("5 are not 4");
    assert!(
        error.to_string().contains("`x`, which has 4 values")
            && error.to_string().contains("pinned memory, which has 5"),
        "{error}"
    );
    // SAFETY: refused.
    let error = unsafe { stream.copy_part(&x, 1, &x, 0..2) }.expect_err("value 1 is in both");
    assert!(error.to_string().contains("to itself"), "{error}");
    // SAFETY: the buffer lives until the stream is waited for.
    unsafe { stream.copy_part(&x, 2, &x, 0..2) }.expect("they are apart");
    // SAFETY: as above.
    let error = unsafe { stream.copy(&x, &x) }.expect_err("all are in both");
    assert!(error.to_string().contains("`x` to itself"), "{error}");
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is wrong")]
    // SAFETY: as above.
    let error = unsafe { stream.copy_part(&x, 0, &x, 2..1) }.expect_err("it has no values");
    assert!(
        error.to_string().contains("the values 2..1 of `x`"),
        "{error}"
    );
    stream.synchronize().expect("it ran");
    let elsewhere = other.stream().expect("there is one");
    let config = LaunchConfig::linear(4, 32);
    // SAFETY: refused.
    let error =
        unsafe { elsewhere.launch(&module, kernels::increment, config, (x.as_mut_ptr(), 4)) }
            .expect_err("the module is elsewhere");
    assert!(error.to_string().contains("different devices"), "{error}");
}

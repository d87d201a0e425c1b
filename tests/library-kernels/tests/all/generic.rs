//! Instances of generic kernels: entries of their own, which do the work of code written out.

use crate::bench::{Bench, opcodes, ptx, read};
use cuda_std::launch::DeviceTensorMap;
use library_kernels::generic as kernels;
use lockstep::LaunchConfig;

#[test]
fn every_instance_computes_with_its_types() {
    let bench = Bench::of("library");
    let floats: Vec<f32> = (0..40).map(|i| i as f32 * 0.25).collect();
    let (x, out) = (bench.input(&floats), bench.output(40));
    let args = (x.as_slice(), out.as_mut_ptr(), 0.5);
    bench.launch(kernels::sum_4_floats, 1, 64, args);
    let expected: Vec<f64> = (0..37).map(|i| 0.5 * f64::from(i) + 0.75).collect();
    assert_eq!(read(&out)[..37], expected);

    let words: Vec<u32> = (0..40).map(|i| u32::MAX - i).collect();
    let (x, out) = (bench.input(&words), bench.output(40));
    let args = (x.as_slice(), out.as_mut_ptr(), 3);
    bench.launch(kernels::sum_2_words, 1, 64, args);
    let sum = |i: u64| 3 * (2 * u64::from(u32::MAX) - 2 * i - 1);
    assert_eq!(read(&out)[..39], (0..39).map(sum).collect::<Vec<u64>>());
}

#[test]
fn safe_instances_compute_too() {
    let bench = Bench::of("library");
    let (x, out) = (bench.input(&[1.5f32, 2.5]), bench.output(2));
    let args = (x.as_ptr(), out.as_mut_ptr(), 2);
    bench.launch(kernels::double_floats, 1, 32, args);
    assert_eq!(read(&out), [3.0, 5.0]);
    let (x, out) = (bench.input(&[7u32, 8]), bench.output(2));
    let args = (x.as_ptr(), out.as_mut_ptr(), 2);
    bench.launch(kernels::double_words, 1, 32, args);
    assert_eq!(read(&out), [14, 16]);
}

#[test]
fn launches_run_in_the_order_that_a_simulator_is_given() {
    let schedule = Some(lockstep::Schedule::new(3));
    let device = lockstep::Device::simulator_with(lockstep::Simulator {
        schedule,
        ..Default::default()
    });
    let module = device.load(ptx("library")).expect("it is PTX");
    let x = device.upload("x", &[1.5f32; 64]).expect("there is room");
    let mut y = device.alloc::<f32>("y", 64).expect("there is room");
    let config = LaunchConfig::new([1, 1, 1], [64, 1, 1]);
    let launched = module.run(kernels::double_floats, config, (x.input(), y.output(), 64));
    assert!(launched.expect("it runs").counts().is_some());
    assert_eq!(read(&y), [3.0; 64]);
    let args = (x.as_ptr(), y.as_mut_ptr(), 65);
    // SAFETY: the simulator reports what it does beyond the buffers.
    let failed =
        unsafe { module.launch(kernels::double_floats, LaunchConfig::linear(65, 96), args) };
    let error = failed
        .map(|_| ())
        .expect_err("there are 64 values")
        .to_string();
    assert!(error.contains("under schedule 3"), "{error}");
}

/// A launch in a stream is checked as any other, and recorded in a graph.
#[test]
fn a_safe_kernel_runs_in_a_stream() {
    let device = lockstep::Device::simulator();
    let module = device.load(ptx("library")).expect("it is PTX");
    let stream = device.stream().expect("there is one");
    let x = device.upload("x", &[1.5f32; 64]).expect("there is room");
    let mut y = device.alloc::<f32>("y", 64).expect("there is room");
    let config = LaunchConfig::new([1, 1, 1], [96, 1, 1]);
    let mut put = |n| {
        // SAFETY: both buffers live until the stream is waited for, and nothing else uses them.
        unsafe {
            let views = (x.input(), y.output(), n);
            stream.run(&module, kernels::double_floats, config, views)
        }
    };
    let error = put(65).expect_err("there are 64 values").to_string();
    assert!(error.contains("`x`"), "{error}");
    let graph = stream.record_graph(|| put(64)).expect("it is recorded");
    // SAFETY: as above.
    unsafe { stream.launch_graph(&graph) }.expect("it is put in");
    stream.synchronize().expect("it ran");
    assert_eq!(read(&y), [3.0; 64]);
}

/// Simulators have the same addresses: another's buffer would be taken for one of the module's own.
#[test]
fn a_safe_kernel_gets_no_buffers_of_another_simulator() {
    let [device, other] = [(); 2].map(|()| lockstep::Device::simulator());
    let module = device.load(ptx("library")).expect("it is PTX");
    let x = other.upload("x", &[1.5f32; 64]).expect("there is room");
    let mut y = device.alloc::<f32>("y", 64).expect("there is room");
    let config = LaunchConfig::new([1, 1, 1], [64, 1, 1]);
    let launched = module.run(kernels::double_floats, config, (x.input(), y.output(), 64));
    let error = launched.map(|_| ()).expect_err("it is elsewhere");
    assert!(
        error
            .to_string()
            .contains("`x` is a buffer of another simulator")
    );
    let stream = device.stream().expect("there is one");
    // SAFETY: nothing is copied.
    let copied = unsafe { stream.copy(&y, &x) };
    let error = copied.expect_err("it is elsewhere").to_string();
    assert!(error.contains("another simulator's"), "{error}");
}

/// A launch in which two threads would write one element, or some past the buffer's end.
#[test]
fn a_launch_that_does_not_fit_a_safe_kernel_is_refused() {
    let device = lockstep::Device::simulator();
    let module = device.load(ptx("library")).expect("it is PTX");
    let x = device.upload("x", &[1.5f32; 64]).expect("there is room");
    let mut y = device.alloc::<f32>("y", 64).expect("there is room");
    let mut run = |block, n| {
        let config = LaunchConfig::new([1, 1, 1], block);
        let launched = module.run(kernels::double_floats, config, (x.input(), y.output(), n));
        launched.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(run([64, 1, 1], 64), Ok(()));
    for (refused, reason) in [
        (
            run([8, 8, 1], 64),
            "two threads would write one element: grid and block must be 1 along y and z",
        ),
        (
            run([96, 1, 1], 65),
            "`x` has 64 elements, but the kernel's other arguments say 65",
        ),
    ] {
        let error = refused.expect_err("it does not fit");
        let is_told = error.contains("double_floats") && error.contains(reason);
        assert!(is_told, "{error}");
    }
}

#[test]
fn an_instance_takes_a_tensor_map() {
    let bench = Bench::of("library");
    let bytes = std::array::from_fn(|i| i as u8);
    let map = DeviceTensorMap::new(bytes, 0, |map, _| Ok(*map));
    let (before, out) = (bench.output(1), bench.output::<u64>(1));
    let args = (before.as_slice(), map, out.as_mut_ptr());
    bench.launch(kernels::last_word, 1, 1, args);
    assert_eq!(read(&out)[0].to_le_bytes(), bytes[120..]);
}

#[test]
fn entries_are_named_and_bounded_as_asked() {
    let text = ptx("library");
    let head = |name: &str| {
        let start = text.find(&format!(".visible .entry {name}(")).expect(name);
        let end = text[start..].find('{').expect("it has a body");
        text[start..start + end].to_owned()
    };
    assert!(head("sum_4_floats").contains(".maxntid 128\n"), "{text}");
    assert!(head("sum_2_words").contains(".maxntid 64\n"), "{text}");
    assert!(head("last_word").contains(".align 64 .b8 last_word_param_2[128]"));
    assert!(!text.contains(".entry sum_neighbours"));
}

#[test]
fn an_instance_is_what_is_written_out() {
    let text = ptx("library");
    let instance = opcodes(&text, "sum_4_floats");
    assert!(instance.len() > 20, "{instance:?}");
    assert_eq!(instance, opcodes(&text, "sum_4_floats_by_hand"));
}

#[test]
fn a_launch_with_too_little_fuel_is_told_so() {
    let device = lockstep::Device::simulator_with(lockstep::Simulator {
        fuel: Some(3),
        ..Default::default()
    });
    let module = device.load(ptx("library")).expect("it is PTX");
    let x = device.upload("x", &[1.5f32; 64]).expect("there is room");
    let mut y = device.alloc::<f32>("y", 64).expect("there is room");
    let config = LaunchConfig::linear(64, 32);
    let launched = module.run(kernels::double_floats, config, (x.input(), y.output(), 64));
    let error = launched.map(|_| ()).expect_err("it takes more").to_string();
    assert!(error.contains("more fuel"), "{error}");
}

//! Modules and launches.

use super::{kernels, loaded};
use lockstep::{Buffer, Error, LaunchConfig, Module};

#[test]
fn a_launch_does_its_work() {
    let (device, module) = loaded();
    let values: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let x = device.upload("x", &values).expect("there is room");
    let y = device.alloc::<f32>("y", x.len()).expect("there is room");
    let config = LaunchConfig::linear(x.len(), 128);
    let args = (x.as_slice(), y.as_mut_ptr(), 2.5);
    // SAFETY: `y` is as long as `x`.
    let report = unsafe { module.launch(kernels::scale, config, args) }.expect("it runs");
    let expected: Vec<f32> = values.iter().map(|x| 2.5 * x).collect();
    assert_eq!(y.read().expect("it is read"), expected);
    assert_eq!(
        report.place().to_string(),
        "kernel `scale`, launched with 8×1×1 blocks of 128×1×1 threads"
    );
    // The two kinds of device can be told apart by what the report has.
    assert_eq!(report.time_ms().is_some(), !device.is_simulator());
    assert_eq!(report.counts().is_some(), device.is_simulator());
}

#[test]
fn dynamic_shared_memory_is_there_above_48_kilobytes_too() {
    let (device, module) = loaded();
    let out = device.alloc::<u32>("out", 32).expect("there is room");
    let all = device.properties().shared_per_block_bytes;
    for stride in [600, all / (32 * 4)] {
        strided_by(&module, &out, stride);
    }
}

fn strided_by(module: &Module, out: &Buffer<u32>, stride: u32) {
    let config = LaunchConfig::new([1; 3], [32, 1, 1]).with_shared(32 * stride * 4);
    // SAFETY: 32 numbers, and shared memory for 32 strides.
    unsafe { module.launch(kernels::strided, config, (out.as_mut_ptr(), stride)) }
        .expect("it runs");
    let expected: Vec<u32> = (0..32).collect();
    assert_eq!(out.read().expect("it is read"), expected);
}

#[test]
fn a_cooperative_launch_has_a_meeting_place_and_room_for_all_blocks() {
    let (device, module) = loaded();
    let out = device.alloc::<u64>("out", 1 << 20).expect("there is room");
    let launch = |n_blocks| {
        let config = LaunchConfig::new([n_blocks, 1, 1], [1024, 1, 1]);
        // SAFETY: a number for each block.
        unsafe { module.launch(kernels::meeting_place, config, (out.as_mut_ptr(),)) }
    };
    launch(20).expect("it runs");
    let found = out.read().expect("it is read");
    assert!(found[0] != 0 && found[..20].iter().all(|place| *place == found[0]));

    let error = launch(1 << 20).expect_err("no device has room for 2^30 threads");
    let error = error.to_string();
    let reasons = [
        "only 264 of 1024 threads",
        "too many blocks in cooperative launch",
    ];
    assert!(
        reasons.iter().any(|reason| error.contains(reason)),
        "{error}"
    );
}

#[test]
fn blocks_of_a_cluster_reach_each_others_shared_memory() {
    let device = crate::device();
    if device.properties().sm < 90 {
        return;
    }
    let module = device.load(kernels::CLUSTERS).expect("it loads");
    let n_blocks = 32;
    for n in [1, 2, 8, 16] {
        let out = device.alloc::<u32>("out", 32).expect("there is room");
        let config = LaunchConfig::new([n_blocks, 1, 1], [1; 3]).with_cluster([n, 1, 1]);
        let n = u32::from(n);
        // SAFETY: a number for each block.
        unsafe { module.launch(kernels::exchange, config, (out.as_mut_ptr(),)) }.expect("it runs");
        let before = |block: u32| block / n * n + (block % n + n - 1) % n;
        let expected: Vec<u32> = (0..n_blocks).map(before).collect();
        assert_eq!(out.read().expect("it is read"), expected, "clusters of {n}");
    }
}

#[test]
fn two_modules_with_the_same_kernel_are_kept_apart() {
    let (device, module) = loaded();
    let other = kernels::PTX.replace("add.u32 %r7, %r6, 1;", "add.u32 %r7, %r6, 10;");
    let other = device.load(other).expect("it loads");
    let x = device.upload("x", &[5u32]).expect("there is room");
    let config = LaunchConfig::linear(1, 32);
    for module in [&module, &other, &module] {
        // SAFETY: `x` has one number.
        unsafe { module.launch(kernels::increment, config, (x.as_mut_ptr(), 1)) }.expect("it runs");
    }
    assert_eq!(x.read().expect("it is read"), [17]);
}

#[test]
fn what_breaks_a_rule_is_not_launched() {
    let (device, module) = loaded();
    let x = device.upload("x", &[0u32; 8]).expect("there is room");
    let cases = [
        (LaunchConfig::new([1; 3], [512, 1, 1]), "launch_bounds"),
        (LaunchConfig::new([1; 3], [0, 1, 1]), "empty along x"),
        (LaunchConfig::linear(8, 0), "empty along x"),
        (
            LaunchConfig::new([1, 70_000, 1], [1; 3]),
            "70000 blocks along y",
        ),
        (
            LaunchConfig::new([3, 1, 1], [32, 1, 1]).with_cluster([2, 1, 1]),
            "not a multiple",
        ),
        (
            LaunchConfig::new([64, 1, 1], [32, 1, 1]).with_cluster([32, 1, 1]),
            "32 blocks in a cluster",
        ),
    ];
    for (config, words) in cases {
        // SAFETY: refused before anything runs.
        let result = unsafe { module.launch(kernels::increment, config, (x.as_mut_ptr(), 8)) };
        let error = result.expect_err("it is refused");
        assert!(matches!(error, Error::Refused { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("`increment`") && text.contains(words),
            "{text}"
        );
    }
    assert_eq!(x.read().expect("it is read"), [0; 8]);
}

#[test]
fn a_kernel_that_is_not_there_is_named_with_its_module() {
    let (_, module) = loaded();
    let config = LaunchConfig::linear(1, 32);
    // SAFETY: it takes nothing.
    let error = unsafe { module.launch(kernels::missing, config, ()) }.expect_err("no such kernel");
    assert_eq!(error.to_string(), "no kernel `missing` in `kernels.ptx`");
}

#[test]
fn what_is_no_ptx_is_an_error_with_its_place() {
    let device = crate::device();
    let error = device
        .load(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { mov.b32 %r1, 1; ret; }\n")
        .expect_err("it is not PTX")
        .to_string();
    assert!(error.contains("`PTX` could not be loaded"), "{error}");
    assert!(error.contains("line 4") || error.contains(":4"), "{error}");
}

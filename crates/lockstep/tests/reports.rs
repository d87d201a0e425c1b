//! The library on the simulator: reports of launches, failures of tests that claim something else,
//! and collective calls.

mod behaviour;
mod collective;
mod unwritten;

use behaviour::{kernels, loaded};
use lockstep::{Device, Error, LaunchConfig, Report, Simulator};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn device() -> Device {
    Device::simulator()
}

fn devices() -> Vec<Device> {
    Device::simulators(2)
}

/// The line of `strided` that its PTX names.
const LINE: &str = "30";

fn strided(stride: u32) -> Report {
    let (device, module) = loaded();
    let out = device.alloc::<u32>("out", 32).expect("there is room");
    let config = LaunchConfig::new([1; 3], [32, 1, 1]).with_shared(32 * stride * 4);
    // SAFETY: 32 numbers, and as much shared memory as 32 strides.
    unsafe { module.launch(kernels::strided, config, (out.as_mut_ptr(), stride)) }.expect("it runs")
}

fn message(claim: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(claim)).expect_err("the claim is wrong");
    *panic.downcast::<String>().expect("it says why")
}

#[test]
fn right_claims_pass() {
    let report = strided(1);
    report.expect_bank_conflicts(0);
    report.expect_sectors_per_store(4.0);
    report.expect_no_local_memory();
    let report = strided(32);
    report.expect_bank_conflicts(62);
    report.expect_bank_conflicts(..=62);
    report.expect_sectors_per_store(..=4.5);
}

#[test]
fn a_wrong_claim_shows_the_lines() {
    let text = message(|| strided(2).expect_bank_conflicts(0));
    let expected = "\
kernel `strided`, launched with 1×1×1 blocks of 32×1×1 threads and 256 bytes of dynamic shared memory: \
expected 0 bank conflicts, counted 2
  crates/lockstep/tests/behaviour/kernels.rs:LINE  let _ = (out, stride);
      2 conflicts in 2 requests, 2-way at worst";
    assert_eq!(text, expected.replace("LINE", LINE));
    let text = message(|| strided(1).expect_sectors_per_store(8.0));
    let expected = "\
kernel `strided`, launched with 1×1×1 blocks of 32×1×1 threads and 128 bytes of dynamic shared memory: \
expected 8 sectors per global store request, counted 4
  crates/lockstep/tests/behaviour/kernels.rs:LINE  let _ = (out, stride);
      4 sectors in 1 request, 4.00 each";
    assert_eq!(text, expected.replace("LINE", LINE));
}

#[test]
fn a_claim_can_set_a_maximum() {
    let text = message(|| strided(32).expect_bank_conflicts(..=61));
    assert!(
        text.contains("expected at most 61 bank conflicts, counted 62"),
        "{text}"
    );
    let text = message(|| strided(1).expect_sectors_per_store(..=3.5));
    assert!(text.contains("expected at most 3.5 sectors"), "{text}");
    let text = message(|| strided(1).expect_sectors_per_load(..=4.0));
    assert!(text.ends_with("but there was no request"), "{text}");
}

#[test]
fn what_was_not_requested_has_no_average() {
    let text = message(|| strided(1).expect_sectors_per_load(4.0));
    assert!(text.ends_with("but there was no request"), "{text}");
}

#[test]
fn what_was_not_checked_is_not_claimed() {
    let text = message(|| strided(1).expect_no_race());
    assert!(text.contains("check: true"), "{text}");
}

#[test]
fn lines_are_those_of_the_kernels_file() {
    let report = strided(1);
    let lines = report.lines();
    let line = &lines[0];
    assert_eq!(
        (line.file.as_str(), line.line),
        (file_of_kernels(), LINE.parse().expect("a number"))
    );
    assert_eq!(line.shared_requests, 2);
    assert_eq!(line.text.as_deref(), Some("let _ = (out, stride);"));
}

fn file_of_kernels() -> &'static str {
    <kernels::strided as cuda_std::launch::Kernel>::FILE
}

#[test]
fn a_checked_device_finds_what_a_gpu_lets_pass() {
    let device = Device::simulator_with(Simulator {
        check: true,
        ..Simulator::default()
    });
    let module = device.load(kernels::PTX).expect("it loads");
    let x = device.alloc::<u32>("x", 32).expect("there is room");
    let launch = |x: &lockstep::Buffer<u32>| {
        // SAFETY: `x` has 32 numbers.
        unsafe {
            module.launch(
                kernels::increment,
                LaunchConfig::linear(32, 32),
                (x.as_mut_ptr(), 32),
            )
        }
    };
    let error = launch(&x).expect_err("they were never written");
    assert!(matches!(error, Error::Fault { .. }), "{error}");
    assert!(error.to_string().contains("`x`"), "{error}");
    x.fill(0).expect("it is filled");
    launch(&x).expect("it runs").expect_no_race();
}

#[test]
fn a_fault_names_thread_buffer_and_kernel_and_costs_nothing_else() {
    let (device, module) = loaded();
    let x = device.upload("short", &[0u32; 31]).expect("there is room");
    // SAFETY: it is not; the simulator checks.
    let error = unsafe {
        module.launch(
            kernels::increment,
            LaunchConfig::linear(32, 32),
            (x.as_mut_ptr(), 32),
        )
    }
    .expect_err("the last is beyond the end");
    let text = error.to_string();
    assert!(
        text.contains("`increment`") && text.contains("`short`") && text.contains("(31, 0, 0)"),
        "{text}"
    );
    // SAFETY: 31 numbers.
    unsafe {
        module.launch(
            kernels::increment,
            LaunchConfig::linear(31, 32),
            (x.as_mut_ptr(), 31),
        )
    }
    .expect("the device goes on");
}

#[test]
fn a_kernel_that_does_not_end_runs_out_of_fuel() {
    let device = Device::simulator_with(Simulator {
        fuel: Some(3),
        ..Simulator::default()
    });
    let module = device.load(kernels::PTX).expect("it loads");
    let x = device.zeroed::<u32>("x", 32).expect("there is room");
    // SAFETY: 32 numbers.
    let error = unsafe {
        module.launch(
            kernels::increment,
            LaunchConfig::linear(32, 32),
            (x.as_mut_ptr(), 32),
        )
    }
    .expect_err("3 instructions are not enough");
    assert!(matches!(error, Error::NeverEnds { .. }), "{error}");
}

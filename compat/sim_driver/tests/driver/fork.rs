//! Processes that fork.

use std::path::Path;
use std::process::Command;

use sim_driver::Status;
use sim_driver::api::copy::*;
use sim_driver::api::device::*;
use sim_driver::api::memory::*;
use sim_driver::api::misc::*;
use sim_driver::api::stream::*;

use crate::client::Client;
use crate::under_test::{call, is_real, ok};

/// Forks, and makes the child do something that takes seconds at most; returns the outcome.
fn in_child(work: impl FnOnce() -> bool) -> bool {
    let child = unsafe { libc::fork() };
    if child == 0 {
        // It would wait for a thread of its parent.
        unsafe { libc::alarm(20) };
        let is_well = work();
        unsafe { libc::_exit(if is_well { 0 } else { 1 }) };
    }
    assert!(child > 0, "there is no child");
    let mut status = 0;
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn a_driver_is_lost_to_children() {
    let client = Client::new();
    let stream = client.stream(1);
    let data: Vec<u32> = (0..1000).collect();
    let buffer = client.upload(&data);
    client.launch("add_one", 4, 256, &[&buffer, &1000_u32]);
    let lost = Status::NOT_INITIALIZED.0;
    let all_is_lost = || {
        let (mut n, mut address, mut words) = (0, 0, [0_u32; 4]);
        let answers = [
            call!(cuInit(0)),
            call!(cuDeviceGetCount(&mut n)),
            call!(cuMemAlloc_v2(&mut address, 4096)),
            call!(cuMemcpyDtoH_v2(words.as_mut_ptr() as u64, buffer, 16)),
            call!(cuStreamSynchronize(stream)),
            call!(cuMemFree_v2(buffer)),
        ];
        answers == [lost; 6]
    };
    assert!(in_child(all_is_lost));
    assert!(in_child(|| in_child(all_is_lost)));
    assert!(in_child(|| {
        let (mut version, mut name) = (0, std::ptr::null());
        call!(cuDriverGetVersion(&mut version)) == 0
            && call!(cuGetErrorName(lost, &mut name)) == 0
            && version > 0
            && !name.is_null()
    }));
    // The parent has what it had.
    ok!(cuStreamSynchronize(stream));
    let expected: Vec<u32> = (1..=1000).collect();
    assert_eq!(client.download(buffer, 1000), expected);
}

/// In its own process, where no other test initializes the driver.
#[test]
#[ignore = "is the program that another test runs"]
fn program() {
    let has_driver = || call!(cuInit(0)) == 0;
    assert!(in_child(has_driver));
    assert!(has_driver());
    assert!(!in_child(has_driver));
    if is_real() {
        return;
    }
    assert!(in_child(|| {
        let report = std::env::var_os("LOCKSTEP_SIM_REPORT").expect("where it goes");
        // Including everything that is done when a process ends.
        let is_well = in_child(|| unsafe { libc::exit(0) });
        is_well && !Path::new(&report).exists()
    }));
}

#[test]
fn a_child_has_a_driver_if_its_parent_had_none_and_reports_nothing_of_its_parents() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fork.json");
    let _ = std::fs::remove_file(&report);
    let mut command = Command::new(std::env::current_exe().expect("this one"));
    command.args(["--exact", "fork::program", "--ignored", "--nocapture"]);
    let output = command.env("LOCKSTEP_SIM_REPORT", &report).output();
    let output = output.expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
    assert!(is_real() || report.exists());
}

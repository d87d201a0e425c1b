//! Several devices: their lessons are right on every number of devices, with all checks, and in other
//! orders; and what is broken on purpose is found.

use broken_kernels::devices as broken;
use cuda_std::launch::{DevicePtrMut, Kernel};
use host::several::{LESSONS, Node, Outcome};
use lockstep::{Device, Error, LaunchConfig, PtxModule, Simulator, Together};
use lockstep_tests::ptx;
use ptx_sim::Schedule;

fn checked(n: usize) -> Vec<Device> {
    let settings = Simulator {
        check: true,
        ..Simulator::default()
    };
    Device::simulators_with(n, settings)
}

/// What every way of all lessons does on `n` devices, by name.
fn outcomes(n: usize, schedule: Option<Schedule>) -> Vec<(String, Outcome)> {
    let mut outcomes = Vec::new();
    for lesson in LESSONS {
        for way in lesson.ways {
            let node = Node::new(&checked(n)).unwrap_or_else(|error| panic!("{error}"));
            let node = node.with_schedule(schedule);
            let name = format!("{} {}", lesson.id, way.id);
            let outcome = (way.run)(&node, lesson.quick);
            let outcome = outcome.unwrap_or_else(|error| panic!("{name} on {n}: {error}"));
            outcomes.push((name, outcome));
        }
    }
    outcomes
}

#[test]
fn all_are_right_on_one_device_and_nothing_crosses_a_link() {
    for (name, outcome) in outcomes(1, None) {
        assert_eq!(outcome.link_bytes, Some(0), "{name}");
    }
}

#[test]
fn all_are_right_on_two_devices_and_as_much_crosses_as_they_say() {
    let outcomes = outcomes(2, None);
    let crossed = |name: &str| {
        let found = outcomes.iter().find(|(of, _)| of == name);
        found
            .and_then(|(_, outcome)| outcome.link_bytes)
            .expect("it is counted")
    };
    // Five steps, in each of which two rows of 64 inner columns cross.
    let halos = 5 * 2 * 64 * 4;
    assert_eq!(crossed("jacobi copies"), 0);
    assert_eq!(crossed("jacobi stores"), halos);
    assert_eq!(crossed("jacobi loads"), halos);
    // And a flag in each direction, each step; a flag that is waited for is at home.
    assert_eq!(crossed("jacobi flags"), halos + 5 * 2 * 4);
    // Each device reads the other's 4000 numbers, or half of them and stores half.
    let flags = |n_blocks: u64| 2 * 2 * n_blocks * 4;
    assert_eq!(crossed("all_reduce one_shot"), 2 * 4000 * 4 + flags(4));
    assert_eq!(crossed("all_reduce two_shot"), 2 * 4000 * 4 + flags(4));
    assert_eq!(crossed("all_reduce ring"), 2 * 4000 * 4 + flags(4));
    // A band of 64 rows and one of 36: two rectangles cross.
    assert_eq!(crossed("transpose_to_all stores"), 2 * 64 * 36 * 4);
}

#[test]
fn all_are_right_on_three_devices() {
    outcomes(3, None);
}

#[test]
fn all_are_right_on_eight_devices() {
    outcomes(8, None);
}

#[test]
fn all_are_right_in_other_orders() {
    for seed in 0..3 {
        outcomes(3, Some(Schedule::new(seed)));
    }
}

type Exchange = (
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
    DevicePtrMut<u32>,
);

fn one_thread() -> LaunchConfig {
    LaunchConfig::new([1; 3], [1; 3])
}

fn broken_module() -> PtxModule {
    PtxModule::of_text("broken.ptx", ptx::broken()).with_sources(ptx::root())
}

/// Two devices exchange numbers; gives the sum that each got.
fn exchange<K: Kernel<Args = Exchange>>(kernel: K, are_peers: bool) -> Result<[u32; 2], Error> {
    exchange_under(None, kernel, are_peers)
}

fn exchange_under<K: Kernel<Args = Exchange>>(
    schedule: Option<Schedule>,
    kernel: K,
    are_peers: bool,
) -> Result<[u32; 2], Error> {
    let devices = checked(2);
    if are_peers {
        devices[0].enable_peer(&devices[1])?;
        devices[1].enable_peer(&devices[0])?;
    }
    let zeroed = |name, len| -> Result<Vec<_>, Error> {
        devices
            .iter()
            .map(|device| device.zeroed::<u32>(name, len))
            .collect()
    };
    let (inboxes, flags, sums) = (zeroed("inbox", 2)?, zeroed("flag", 1)?, zeroed("sum", 1)?);
    let mut together = Together::new();
    for (i, device) in devices.iter().enumerate() {
        let module = device.load(broken_module())?;
        let args = (
            inboxes[i].as_mut_ptr(),
            inboxes[1 - i].as_mut_ptr(),
            flags[i].as_mut_ptr(),
            flags[1 - i].as_mut_ptr(),
            sums[i].as_mut_ptr(),
        );
        // SAFETY: the buffers are as long as the kernel asks.
        unsafe { together.add(&module, kernel, one_thread(), args) }?;
    }
    together.set_schedule(schedule);
    together.run()?;
    Ok([sums[0].read()?[0], sums[1].read()?[0]])
}

/// The report on a broken exchange, which names both devices and two places in the source.
fn report_of<K: Kernel<Args = Exchange>>(kernel: K) -> String {
    let report = exchange(kernel, true)
        .expect_err("it is broken")
        .to_string();
    names_both(&report);
    assert!(report.contains(K::NAME), "{report}");
    report
}

fn names_both(report: &str) {
    for words in ["race: ", "device 0, block", "device 1, block"] {
        assert!(report.contains(words), "`{words}` is missing in: {report}");
    }
    let n_places = report
        .matches("tests/broken-kernels/src/devices.rs:")
        .count();
    assert!(n_places >= 2, "{n_places} places: {report}");
}

#[test]
fn numbers_are_exchanged() {
    assert_eq!(
        exchange(broken::exchanged_rightly, true).expect("it is right"),
        [21, 21]
    );
}

#[test]
fn flags_of_too_small_a_scope_or_without_release_are_found() {
    for report in [
        report_of(broken::flag_of_device_scope),
        report_of(broken::flag_without_release),
    ] {
        // The flag is in order for itself or the number is what races.
        assert!(
            report.contains("`inbox") || report.contains("`flag"),
            "{report}"
        );
    }
}

#[test]
fn a_halo_that_is_read_before_it_has_come_is_found() {
    let report = report_of(broken::halo_not_waited_for);
    assert!(report.contains("`inbox"), "{report}");
}

/// In the usual order the number is overwritten before it is read, and its flag says so: the sum is
/// wrong, and nothing races. In another order it is read first, and nothing orders the two.
#[test]
fn a_wrong_parity_is_found() {
    let usual = exchange(broken::wrong_parity, true).expect("no race");
    assert_ne!(usual, [21, 21]);
    let in_order = |seed| exchange_under(Some(Schedule::new(seed)), broken::wrong_parity, true);
    let found = (0..20).find_map(|seed| in_order(seed).err());
    let report = found.expect("one of the orders").to_string();
    names_both(&report);
    assert!(report.contains("`inbox"), "{report}");
}

#[test]
fn memory_without_peer_access_is_found() {
    let error = exchange(broken::exchanged_rightly, false).expect_err("no access");
    let report = error.to_string();
    for words in [
        "device 0: kernel `exchanged_rightly`",
        "no peer access: store of 4 bytes",
        "in the memory of device 1: 0 bytes into `inbox`",
        "tests/broken-kernels/src/devices.rs:",
        "enable_peer",
    ] {
        assert!(report.contains(words), "`{words}` is missing in: {report}");
    }
}

#[test]
fn two_devices_that_write_one_word_are_found() {
    let devices = checked(2);
    devices[1].enable_peer(&devices[0]).expect("not yet");
    let word = devices[0].zeroed::<u32>("word", 1).expect("room");
    let mut together = Together::new();
    for (value, device) in (0..).zip(&devices) {
        let module = device.load(broken_module()).expect("it loads");
        let args = (word.as_mut_ptr(), value);
        // SAFETY: the word is there.
        let added = unsafe { together.add(&module, broken::one_word_for_both, one_thread(), args) };
        added.expect("allowed");
    }
    let report = together.run().expect_err("a race").to_string();
    names_both(&report);
    assert!(report.contains("`word`"), "{report}");
}

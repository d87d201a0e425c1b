//! The lessons of several devices: right on every number of devices, with all checks, and in other
//! orders.

use host::several::{LESSONS, Node, Outcome};
use lockstep::{Device, Simulator};
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

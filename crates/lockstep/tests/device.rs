//! The library on the device that is here: a GPU, or the simulator.

mod behaviour;

use behaviour::kernels::{self, PTX};
use lockstep::{Device, LaunchConfig, Schedule, Simulator, Together};

fn device() -> Device {
    Device::open().expect("there is always one")
}

/// Two GPUs, if they are here and linked; else simulators.
fn devices() -> Vec<Device> {
    let all = Device::all().expect("they can be used");
    if let [a, b, ..] = &all[..]
        && a.can_access_peer(b).expect("it is known")
    {
        return all.into_iter().take(2).collect();
    }
    Device::simulators(2)
}

#[test]
fn simulators_that_were_not_made_together_are_no_peers() {
    let (a, b) = (Device::simulator(), Device::simulator());
    assert!(!a.can_access_peer(&b).expect("it is known"));
    let error = a.enable_peer(&b).expect_err("two machines").to_string();
    assert!(error.contains("`Device::simulators`"), "{error}");
}

#[test]
fn launches_together_run_in_the_order_of_their_device() {
    let settings = Simulator {
        schedule: Some(Schedule::new(5)),
        ..Simulator::default()
    };
    let device = Device::simulator_with(settings);
    let module = device.load(PTX).expect("it loads");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    let mut together = Together::new();
    let config = LaunchConfig::linear(100, 32);
    // SAFETY: the simulator finds what is wrong.
    unsafe { together.add(&module, kernels::increment, config, (x.as_mut_ptr(), 100)) }
        .expect("it may be launched");
    let error = together.run().expect_err("4 are not 100").to_string();
    assert!(error.contains("under schedule 5"), "{error}");
    let stream = device.stream().expect("there is one");
    let recorded = stream.record_graph(|| together.run().map(drop));
    let error = recorded.expect_err("it would run at once").to_string();
    assert!(error.contains("a graph is being recorded"), "{error}");
}

#[test]
fn a_graph_names_the_fill_of_a_dropped_buffer() {
    let device = Device::simulator();
    let stream = device.stream().expect("there is one");
    let x = device.zeroed::<u32>("x", 4).expect("there is room");
    // SAFETY: the simulator finds what is wrong.
    let graph = stream.record_graph(|| unsafe { stream.fill(&x, 1) });
    let graph = graph.expect("it is recorded");
    drop(x);
    // SAFETY: as above.
    let error = unsafe { stream.launch_graph(&graph) }
        .expect_err("it is gone")
        .to_string();
    let words = ["the fill at ", "tests/device.rs:", "been dropped?"];
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

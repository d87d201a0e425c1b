//! The library on the device that is here: a GPU, or the simulator.

mod behaviour;

use lockstep::Device;

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

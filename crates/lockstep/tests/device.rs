//! The library on the device that is here: a GPU, or the simulator.

mod behaviour;

use lockstep::Device;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Lets the tests take turns: while one records a graph, a GPU's driver lets nobody wait for the
/// device.
fn take_turn() {
    static TURN: Mutex<()> = Mutex::new(());
    thread_local! {
        // Each test has a thread, at whose end it gives its turn back.
        static OWN: MutexGuard<'static, ()> = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    }
    OWN.with(|_| ());
}

fn device() -> Device {
    take_turn();
    Device::open().expect("there is always one")
}

/// Two GPUs, if they are here and linked; else simulators.
fn devices() -> Vec<Device> {
    take_turn();
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

//! Several devices.

use super::kernels::{self, DEVICES, PTX};
use lockstep::{Buffer, Device, LaunchConfig, Module, Together};

fn loaded(devices: &[Device], ptx: &str) -> Vec<Module> {
    let load = |device: &Device| device.load(ptx).expect("it loads");
    devices.iter().map(load).collect()
}

fn zeroed(devices: &[Device]) -> Vec<Buffer<u32>> {
    let zeroed = |device: &Device| device.zeroed("word", 2).expect("there is room");
    devices.iter().map(zeroed).collect()
}

/// A launch on each device that passes a number on to the next one.
fn ring(modules: &[Module], words: &[Buffer<u32>]) -> Together {
    let mut together = Together::new();
    let n = modules.len();
    for i in 0..n {
        let args = (
            words[i].as_mut_ptr(),
            words[(i + 1) % n].as_mut_ptr(),
            u32::from(i == 0),
        );
        let config = LaunchConfig::new([1; 3], [1; 3]);
        // SAFETY: both have two numbers, and live longer than the launches.
        unsafe { together.add(&modules[i], kernels::pass_on, config, args) }.expect("allowed");
    }
    together
}

#[test]
fn kernels_on_several_devices_wait_for_each_other() {
    let devices = crate::devices();
    let modules = loaded(&devices, DEVICES);
    for device in &devices {
        for peer in devices
            .iter()
            .filter(|peer| peer.number() != device.number())
        {
            assert!(device.can_access_peer(peer).expect("it is known"));
            device.enable_peer(peer).expect("not yet");
        }
    }
    let words = zeroed(&devices);
    let reports = ring(&modules, &words).run().expect("it ends");
    let n = devices.len() as u32;
    assert_eq!(words[0].read().expect("it is read"), [1, n]);
    assert_eq!(reports.len(), devices.len());
    for (report, device) in reports.iter().zip(&devices) {
        assert_eq!(report.time_ms().is_some(), !device.is_simulator());
        let crossed = report.counts().map(|counts| counts.peer_store_bytes);
        assert_eq!(crossed, device.is_simulator().then_some(8));
    }
}

#[test]
fn streams_copy_and_wait_across_devices() {
    let devices = crate::devices();
    let values: Vec<u32> = (0..10_000).collect();
    let from = devices[0].upload("from", &values).expect("there is room");
    let to = devices[1]
        .zeroed::<u32>("to", values.len())
        .expect("there is room");
    let back = devices[0]
        .zeroed::<u32>("back", values.len())
        .expect("there is room");
    let modules = loaded(&devices, PTX);
    let streams = [0, 1].map(|i| devices[i].stream().expect("there is one"));
    let n = values.len();
    // SAFETY: everything lives until the streams are waited for, and nothing else uses it.
    unsafe {
        streams[0].copy(&to, &from).expect("it is put in");
        streams[1]
            .wait(&streams[0].record().expect("put in"))
            .expect("put in");
        let args = (to.as_mut_ptr(), n as u32);
        let config = LaunchConfig::linear(n, 256);
        (streams[1].launch(&modules[1], kernels::increment, config, args)).expect("put in");
        streams[1].copy(&back, &to).expect("it is put in");
    }
    streams[1].synchronize().expect("all of it ran");
    let expected: Vec<u32> = (1..=10_000).collect();
    assert_eq!(back.read().expect("it is read"), expected);
}

#[test]
fn a_device_is_no_peer_of_itself() {
    let device = crate::device();
    assert!(!device.can_access_peer(&device).expect("it is known"));
    let error = device.enable_peer(&device).expect_err("itself").to_string();
    assert!(error.contains("they are one and the same"), "{error}");
}

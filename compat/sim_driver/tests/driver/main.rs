//! The driver's functions, as a client uses them.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is one of a C API"
)]

mod client;
mod clusters;
mod contexts;
mod copies;
mod devices;
mod errors;
mod fork;
mod graph_nodes;
mod graphs;
mod handles;
mod kernel_heap;
mod legacy;
mod load;
mod managed;
mod modules;
mod order;
mod per_thread;
mod random;
mod tensor_maps;
mod under_test;
mod user_objects;

use client::Client;
use sim_driver::api::device::*;
use sim_driver::api::misc::*;
use sim_driver::api::proc_address::*;
use sim_driver::{Settings, Status};
use under_test::{call, fails, ok};

/// The simulated machine's settings.
fn settings() -> Settings {
    Settings {
        n_devices: 8,
        memory_bytes: 1 << 30,
        fuel: Some(300_000_000),
        ..Settings::default()
    }
}

#[test]
fn a_kernel_runs() {
    let client = Client::new();
    let data: Vec<u32> = (0..1000).collect();
    let buffer = client.upload(&data);
    client.launch("add_one", 4, 256, &[&buffer, &1000_u32]);
    assert_eq!(
        client.download(buffer, 1000),
        (1..=1000).collect::<Vec<u32>>()
    );
}

#[test]
fn devices_say_what_they_are() {
    let _client = Client::new();
    if under_test::is_real() {
        return;
    }
    let (mut n, mut major, mut minor, mut bytes) = (0, 0, 0, 0);
    ok!(cuDeviceGetCount(&mut n));
    ok!(cuDeviceComputeCapability(&mut major, &mut minor, 1));
    ok!(cuDeviceTotalMem_v2(&mut bytes, 0));
    assert_eq!((n, major, minor, bytes), (8, 9, 0, 1 << 30));
    let mut name = [1_u8; 64];
    ok!(cuDeviceGetName(name.as_mut_ptr().cast(), 9, 0));
    assert_eq!(name[..9], *b"Lockstep\0");
    let mut device = 7;
    fails!(cuDeviceGet(&mut device, 8) with INVALID_DEVICE);
    fails!(cuDeviceGet(&mut device, -1) with INVALID_DEVICE);
    fails!(cuDeviceGet(std::ptr::null_mut(), 0) with INVALID_VALUE);
    let mut value = 0;
    ok!(cuDeviceGetAttribute(&mut value, 16, 0));
    assert_eq!(value, 132);
    fails!(cuDeviceGetAttribute(&mut value, 100_000, 0) with INVALID_VALUE);
}

#[test]
fn functions_are_found_by_version() {
    let _client = Client::new();
    let find_with = |name: &std::ffi::CStr, version, flags| {
        let (mut function, mut found) = (std::ptr::null(), 9);
        let status = call! {
            cuGetProcAddress_v2(name.as_ptr(), &mut function, version, flags, &mut found)
        };
        (status, function, found)
    };
    let find = |name, version| find_with(name, version, 0);
    if under_test::is_real() {
        return;
    }
    let own = |name| sim_driver::function(name).expect("there is one");
    assert_eq!(find(c"cuMemAlloc", 12000), (0, own("cuMemAlloc_v2"), 0));
    assert_eq!(find(c"cuCtxCreate", 12090), (0, own("cuCtxCreate_v2"), 0));
    assert_eq!(find(c"cuCtxCreate", 13000), (0, own("cuCtxCreate_v4"), 0));
    assert_eq!(find(c"cuMemAdvise", 12000), (0, own("cuMemAdvise"), 0));
    for name in [c"cuTensorMapEncodeTiled", c"cuTensorMapReplaceAddress"] {
        let text = name.to_str().expect("ASCII");
        assert_eq!(find(name, 12000), (0, own(text), 0));
    }
    assert_eq!(
        find(c"cuLaunchKernel", 11000),
        (0, own("cuLaunchKernel"), 0)
    );
    assert_eq!(
        find(c"cuCtxSynchronize", 13000),
        (0, own("cuCtxSynchronize"), 0)
    );
    // As requested by programs in which each thread has its own default stream.
    let find_own = |name| find_with(name, 12000, 2);
    let synchronize = own("cuStreamSynchronize_ptsz");
    assert_eq!(find_own(c"cuStreamSynchronize"), (0, synchronize, 0));
    assert_eq!(
        find_own(c"cuMemcpyHtoD"),
        (0, own("cuMemcpyHtoD_v2_ptds"), 0)
    );
    assert_eq!(find_own(c"cuMemAlloc"), (0, own("cuMemAlloc_v2"), 0));
    let none = find(c"cuFrobnicate", 13000);
    assert_eq!(none, (Status::NOT_FOUND.0, std::ptr::null(), 1));
}

#[test]
fn undocumented_tables_are_refused() {
    let _client = Client::new();
    if under_test::is_real() {
        return;
    }
    let mut table = std::ptr::dangling();
    let id = [0_u8; 16];
    let status = call!(cuGetExportTable(&mut table, id.as_ptr().cast()));
    assert_eq!((status, table), (Status::NOT_SUPPORTED.0, std::ptr::null()));
}

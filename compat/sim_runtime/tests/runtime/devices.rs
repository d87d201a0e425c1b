//! Several devices.

use std::ffi::c_void;

use sim_runtime::api::copy::*;
use sim_runtime::api::device::*;
use sim_runtime::api::launch::cudaLaunchKernel;
use sim_runtime::api::memory::*;
use sim_runtime::api::stream::*;
use sim_runtime::api::v12::{cudaLaunchCooperativeKernelMultiDevice, cudaPointerGetAttributes};
use sim_runtime::layouts::{Dim3, PointerAttributes};

use crate::client::{Program, address, ok};

const ONE: Dim3 = Dim3 { x: 1, y: 1, z: 1 };

fn set_device(device: i32) {
    ok!(cudaSetDevice(device));
}

/// The device that an address belongs to, and its address for the current device.
fn place_of(address: u64) -> (i32, u64) {
    let mut attributes = PointerAttributes::default();
    ok!(cudaPointerGetAttributes(&mut attributes, address));
    (attributes.device, attributes.device_pointer)
}

#[test]
fn a_device_uses_the_memory_of_another() {
    let program = Program::new();
    let mut can = 0;
    set_device(4);
    let there = program.upload(&[1, 2]);
    set_device(3);
    unsafe {
        ok!(cudaDeviceCanAccessPeer(&mut can, 3, 4));
        assert_eq!(can, 1);
        assert_eq!(cudaDeviceDisablePeerAccess(4), 705);
        assert_eq!(cudaDeviceEnablePeerAccess(3, 0), 101);
        assert_eq!(cudaDeviceEnablePeerAccess(5, 0), 101);
        assert_eq!(cudaDeviceEnablePeerAccess(4, 7), 1);
        assert_eq!(place_of(there), (4, 0));
        ok!(cudaDeviceEnablePeerAccess(4, 0));
        assert_eq!(cudaDeviceEnablePeerAccess(4, 0), 704);
    }
    assert_eq!(place_of(there), (4, there));
    ok(program.launch(&program.add, 2, &[&there, &10_i32]));
    assert_eq!(program.download(there, 2), [11, 12]);
    let here = program.upload(&[0; 2]);
    unsafe {
        ok!(cudaDeviceDisablePeerAccess(4));
        // Copies need no access.
        ok!(cudaMemcpyPeer(here, 3, there, 4, 8));
        assert_eq!(cudaMemcpyPeer(here, 3, there, 5, 8), 101);
    }
    assert_eq!(program.download(here, 2), [11, 12]);
}

#[test]
fn kernels_are_launched_in_streams_of_their_device() {
    let program = Program::new();
    let mut streams = [0; 2];
    for (device, stream) in (3..).zip(&mut streams) {
        set_device(device);
        ok!(cudaStreamCreate(stream));
    }
    let mut buffer = program.upload(&[0]);
    let mut value = 5_i32;
    let params = [(&raw mut buffer).cast::<c_void>(), (&raw mut value).cast()];
    let launch =
        |stream| unsafe { cudaLaunchKernel(program.add(), ONE, ONE, params.as_ptr(), 0, stream) };
    assert_eq!(launch(streams[0]), 400);
    ok(launch(streams[1]));
    ok!(cudaStreamSynchronize(streams[1]));
    assert_eq!(program.download(buffer, 1), [5]);
    // On several devices at the same time; each adds to pinned memory of its own.
    let mut words = 0;
    ok!(cudaMallocHost(&mut words, 8));
    let places = [words, words + 4];
    let params = places
        .each_ref()
        .map(|place| [address(place), address(&value)]);
    let list: Vec<[usize; 7]> = params
        .iter()
        .zip(streams)
        .map(|(params, stream)| {
            let sizes = [1 | 1 << 32, 1 | 1 << 32, 1 | 1 << 32];
            let [x, y, z] = sizes;
            [program.add(), x, y, z, address(params), 0, stream]
        })
        .collect();
    let on_all = |n| unsafe { cudaLaunchCooperativeKernelMultiDevice(list.as_ptr().cast(), n, 0) };
    assert_eq!(on_all(0), 1);
    ok(on_all(2));
    for stream in streams {
        ok!(cudaStreamSynchronize(stream));
    }
    let values = std::ptr::with_exposed_provenance::<[i32; 2]>(words as usize);
    assert_eq!(unsafe { values.read_volatile() }, [5, 5]);
}

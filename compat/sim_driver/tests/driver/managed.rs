//! Variables that host and devices access at the same address.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::host::*;
use sim_driver::api::launch::*;
use sim_driver::api::library::*;
use sim_driver::api::memory::*;
use sim_driver::api::module::*;

use crate::client::{Client, function_of, load_library, load_module};
use crate::under_test::{call, fails, got, is_real, ok};

const TOTAL: &CStr = c".version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 other;
.visible .global .attribute(.managed) .align 4 .u32 total = 5;
.visible .entry bump_total()
{
	.reg .b32 %r;
	ld.global.u32 %r, [total];
	add.u32 %r, %r, 1;
	st.global.u32 [total], %r;
	ret;
}";

/// Makes a kernel add one, and waits for it.
fn bump(kernel: usize) {
    let none = null::<*mut c_void>();
    ok!(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, none, none));
    ok!(cuCtxSynchronize());
}

/// The host's own view of the value.
fn value(address: u64) -> u32 {
    let word = unsafe { AtomicU32::from_ptr(address as *mut u32) };
    word.load(Ordering::Relaxed)
}

fn is_managed(address: u64) -> bool {
    let mut managed = 0_u8;
    let out = (&raw mut managed).cast();
    call!(cuPointerGetAttribute(out, 8, address)) == 0 && managed == 1
}

#[test]
fn a_library_has_one_variable_for_all_devices() {
    let clients = [Client::new(), Client::on(if is_real() { 0 } else { 1 })];
    let (mut kernel, mut places) = (0, Vec::new());
    let library = load_library(TOTAL);
    let name = c"bump_total".as_ptr();
    ok!(cuLibraryGetKernel(&mut kernel, library, name));
    for client in &clients {
        ok!(cuCtxSetCurrent(client.context));
        let (mut address, mut n_bytes, name) = (0, 0, c"total".as_ptr());
        ok! { cuLibraryGetManaged(&mut address, &mut n_bytes, library, name) }
        assert_eq!((value(address), n_bytes), (5 + places.len() as u32, 4));
        places.push(address);
        bump(kernel);
    }
    assert_eq!(places[0], places[1]);
    assert_eq!(value(places[0]), 7);
    assert!(is_managed(places[0]));
    let (mut address, mut n_bytes, name) = (0, 0, c"other".as_ptr());
    fails!(cuLibraryGetManaged(&mut address, &mut n_bytes, library, name) with NOT_FOUND);
    ok!(cuLibraryUnload(library));
    if !is_real() {
        assert!(!is_managed(places[0]));
    }
}

#[test]
fn a_modules_variable_is_the_hosts() {
    let client = Client::new();
    let module = load_module(TOTAL);
    let kernel = function_of(module, c"bump_total");
    let (mut address, mut n_bytes, name) = (0, 0, c"total".as_ptr());
    ok! { cuModuleGetGlobal_v2(&mut address, &mut n_bytes, module, name) }
    fails!(cuModuleGetGlobal_v2(null_mut(), null_mut(), module, name) with INVALID_VALUE);
    bump(kernel);
    assert_eq!((value(address), n_bytes), (6, 4));
    assert_eq!(client.download(address, 1), [6]);
    // It belongs to the module; the client must not free it.
    if !is_real() {
        fails!(cuMemFree_v2(address) with INVALID_VALUE);
    }
    ok!(cuModuleUnload(module));
    if !is_real() {
        assert!(!is_managed(address));
    }
}

/// The results of an H200's driver.
#[test]
fn only_managed_memory_is_moved_and_only_to_places_that_exist() {
    let client = Client::new();
    let (invalid, no_device) = (Status::INVALID_VALUE.0, Status::INVALID_DEVICE.0);
    let managed = got!(managed of cuMemAllocManaged(&mut managed, 4096, 1));
    let plain = client.alloc(4096);
    fails!(cuMemFreeAsync(managed, 0) with NOT_SUPPORTED);
    let prefetch = |(at, n), device| call!(cuMemPrefetchAsync(at, n, device, 0));
    let advise = |(at, n), advice, device| call!(cuMemAdvise(at, n, advice, device));
    let ends = managed + 4096;
    for range in [
        (managed, 0),
        (managed, 4097),
        (ends, 1),
        (plain, 64),
        (0, 64),
    ] {
        assert_eq!(prefetch(range, 0), invalid);
        assert_eq!(advise(range, 1, 0), invalid);
        let mut value = 0_u32;
        let (out, (at, n)) = ((&raw mut value).cast(), range);
        assert_eq!(call!(cuMemRangeGetAttribute(out, 4, 1, at, n)), invalid);
    }
    let part = (managed + 1, 5);
    for (device, expected) in [(0, 0), (-1, 0), (-2, no_device), (99, no_device)] {
        assert_eq!(prefetch(part, device), expected);
        for advice in [3, 5, 6] {
            assert_eq!(advise(part, advice, device), expected);
        }
        // Where makes no difference.
        assert_eq!(advise(part, 1, device), 0);
    }
    assert_eq!([0, 7].map(|advice| advise(part, advice, 0)), [invalid; 2]);
    // By kind of place: none, a device, the host, its nodes, and one that does not exist.
    let place = |kind: u64, number: u64| number << 32 | kind;
    let prefetch = |to, flags| call!(cuMemPrefetchAsync_v2(managed, 64, to, flags, 0));
    let advise = |advice, to| call!(cuMemAdvise_v2(managed, 64, advice, to));
    for (to, moved, preferred, accessed) in [
        (place(0, 0), invalid, invalid, invalid),
        (place(1, 0), 0, 0, 0),
        (place(1, 99), no_device, invalid, invalid),
        (place(2, 7), 0, 0, 0),
        (place(3, 0), 0, 0, invalid),
        (place(3, 99), invalid, invalid, invalid),
        (place(4, 0), 0, 0, invalid),
        (place(5, 0), invalid, invalid, invalid),
    ] {
        assert_eq!(
            (prefetch(to, 0), advise(3, to), advise(5, to)),
            (moved, preferred, accessed)
        );
    }
    assert_eq!(prefetch(place(1, 0), 1), invalid);
}

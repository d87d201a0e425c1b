//! Several devices: access of one to another's memory, and what is of one device only.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::device::*;
use sim_driver::api::event::*;
use sim_driver::api::host::*;
use sim_driver::api::launch::*;
use sim_driver::api::memory::*;
use sim_driver::api::module::*;
use sim_driver::api::stream::*;

use crate::client::{Client, ok};
use crate::under_test::{call, fails, is_real, ok};

/// Two devices; none with one GPU.
fn pair() -> Option<[Client; 2]> {
    (!is_real()).then(|| [Client::new(), Client::on(1)])
}

fn make_current(client: &Client) {
    ok!(cuCtxSetCurrent(client.context));
}

/// The device pointer of an address for the current context, by the function that reports what does
/// not apply as an error, and its device.
fn pointer(address: u64) -> (u32, i32) {
    let (mut device_pointer, mut ordinal) = (0_u64, -1_i32);
    let out = (&raw mut device_pointer).cast();
    let status = call!(cuPointerGetAttribute(out, 3, address));
    let out = (&raw mut ordinal).cast();
    ok!(cuPointerGetAttribute(out, 9, address));
    assert_eq!(device_pointer, if status == 0 { address } else { 0 });
    (status, ordinal)
}

#[test]
fn two_devices_can_access_each_other() {
    let Some(_clients) = pair() else { return };
    let can = |a, b| {
        let mut can = 7;
        let status = call!(cuDeviceCanAccessPeer(&mut can, a, b));
        (status, can)
    };
    assert_eq!((can(0, 1), can(1, 0)), ((0, 1), (0, 1)));
    assert_eq!(can(1, 1), (0, 0));
    assert_eq!(can(0, 8), (Status::INVALID_DEVICE.0, 7));
    let attribute = |number, a, b| {
        let mut value = 7;
        let status = call!(cuDeviceGetP2PAttribute(&mut value, number, a, b));
        (status, value)
    };
    let all = [1, 2, 3, 4].map(|number| attribute(number, 0, 1));
    assert_eq!(all, [(0, 0), (0, 1), (0, 1), (0, 0)]);
    assert_eq!(attribute(2, 1, 1), (Status::INVALID_DEVICE.0, 7));
    assert_eq!(attribute(99, 0, 1), (Status::INVALID_VALUE.0, 7));
}

/// Which no other test may enable meanwhile.
#[test]
fn access_is_enabled_in_one_direction_for_a_context() {
    let Some([first, second]) = pair() else {
        return;
    };
    let third = Client::on(1);
    let buffer = third.upload(&[5]);
    make_current(&second);
    let own = second.upload(&[0]);
    let enable = |peer, flags| call!(cuCtxEnablePeerAccess(peer, flags));
    let disable = |peer| call!(cuCtxDisablePeerAccess(peer));
    let (not_enabled, invalid) = (Status::PEER_ACCESS_NOT_ENABLED.0, Status::INVALID_CONTEXT.0);
    make_current(&first);
    assert_eq!(pointer(own), (Status::INVALID_VALUE.0, 1));
    assert_eq!(disable(second.context), not_enabled);
    assert_eq!(enable(second.context, 1), Status::INVALID_VALUE.0);
    assert_eq!(enable(first.context, 0), invalid);
    assert_eq!((enable(99, 0), disable(99)), (invalid, invalid));
    ok(enable(second.context, 0));
    assert_eq!(
        enable(second.context, 0),
        Status::PEER_ACCESS_ALREADY_ENABLED.0
    );
    // A kernel of the first device uses memory of the second.
    assert_eq!(pointer(own), (0, 1));
    first.launch("add_one", 1, 1, &[&own, &1_u32]);
    ok!(cuCtxSynchronize());
    assert_eq!(first.download(own, 1), [1]);
    // The other direction, and the other context, are separate; copies need no access.
    make_current(&second);
    assert_eq!(disable(first.context), not_enabled);
    assert_eq!(enable(third.context, 0), Status::PEER_ACCESS_UNSUPPORTED.0);
    make_current(&first);
    let here = first.alloc(4);
    ok(enable(third.context, 0));
    ok(disable(second.context));
    assert_eq!(disable(second.context), not_enabled);
    ok!(cuMemcpyPeer(here, first.context, buffer, third.context, 4));
    assert_eq!(first.download(here, 1), [5]);
    // It ends with a context.
    assert_eq!(pointer(own), (0, 1));
    drop(third);
    assert_eq!(pointer(own), (Status::INVALID_VALUE.0, 1));
}

#[test]
fn a_pool_allows_other_devices() {
    let Some([first, second]) = pair() else {
        return;
    };
    make_current(&first);
    let (mut pool, mut address, mut flags) = (0, 0, 7);
    let device = |number| [1_u32, number];
    let access = |number, flags| [1_u32, number, flags];
    let get = |pool, number, flags: &mut u32| {
        let location = device(number);
        call!(cuMemPoolGetAccess(flags, pool, location.as_ptr().cast()))
    };
    let set = |pool, access: [u32; 3]| call!(cuMemPoolSetAccess(pool, access.as_ptr().cast(), 1));
    ok!(cuMemPoolCreate(&mut pool, &PoolProperties::new(0, 0)));
    fails!(cuDeviceSetMemPool(1, pool) with INVALID_VALUE);
    // In a stream of another device.
    make_current(&second);
    let stream = second.stream(0);
    ok!(cuMemAllocFromPoolAsync(&mut address, 4, pool, stream));
    ok!(cuMemsetD32Async(address, 6, 1, stream));
    ok!(cuStreamSynchronize(stream));
    assert_eq!(pointer(address), (Status::INVALID_VALUE.0, 0));
    ok(get(pool, 1, &mut flags));
    assert_eq!(flags, 0);
    assert_eq!(set(pool, access(9, 3)), Status::INVALID_DEVICE.0);
    assert_eq!(set(pool, access(0, 0)), Status::INVALID_VALUE.0);
    ok(set(pool, access(1, 3)));
    ok(get(pool, 1, &mut flags));
    assert_eq!((flags, pointer(address)), (3, (0, 0)));
    second.launch("add_one", 1, 1, &[&address, &1_u32]);
    assert_eq!(second.download(address, 1), [7]);
    ok!(cuMemFree_v2(address));
    ok!(cuMemPoolDestroy(pool));
}

#[test]
fn rows_are_copied_from_device_to_device() {
    let Some([first, second]) = pair() else {
        return;
    };
    make_current(&first);
    let from = first.upload(&(0..24).collect::<Vec<u32>>());
    make_current(&second);
    let to = second.upload(&[9; 4]);
    // Offsets, level, kind, host, device, array, context, pitch, height: of two slices of 3 rows of
    // 4 words, from the second word of the second row on.
    let source = [4, 1, 0, 0, 2, 0, from, 0, first.context as u64, 16, 3];
    let target = [0, 0, 0, 0, 2, 0, to, 0, second.context as u64, 8, 1];
    let mut copy = [source, target].concat();
    copy.extend([8_u64, 1, 2]);
    ok!(cuMemcpy3DPeer(copy.as_ptr().cast()));
    assert_eq!(second.download(to, 4), [5, 6, 17, 18]);
}

#[test]
fn events_and_streams_belong_to_a_device() {
    let Some([first, second]) = pair() else {
        return;
    };
    make_current(&first);
    let (here, stream) = (first.event(), first.stream(1));
    let out = first.upload(&[0]);
    make_current(&second);
    let (there, other) = (second.event(), second.stream(1));
    let buffer = second.upload(&[0]);
    let mut milliseconds = 0.0;
    let wrong = Status::INVALID_HANDLE.0;
    assert_eq!(call!(cuEventRecord(there, stream)), wrong);
    let add_one = second.try_launch("add_one", (1, 1, stream), &[&buffer, &1_u32]);
    assert_eq!(add_one, wrong);
    ok(second.try_launch("add_one", (1, 1, other), &[&buffer, &1_u32]));
    ok!(cuEventRecord(there, other));
    // A stream of one device waits for an event of another, and copies from it.
    ok!(cuStreamWaitEvent(stream, there, 0));
    ok!(cuMemcpyDtoDAsync_v2(out, buffer, 4, stream));
    ok!(cuEventRecord(here, stream));
    ok!(cuEventSynchronize(here));
    let elapsed = call!(cuEventElapsedTime(&mut milliseconds, there, here));
    assert_eq!(elapsed, wrong);
    assert_eq!(second.download(out, 1), [1]);
}

/// `CUDA_LAUNCH_PARAMS`
struct OfDevice {
    function: usize,
    sizes: [u32; 7],
    stream: usize,
    params: *const *mut c_void,
}

impl OfDevice {
    fn words(&self) -> [u64; 7] {
        let size = |i: usize| u64::from(*self.sizes.get(i).unwrap_or(&0));
        let sizes = |i: usize| size(2 * i) | size(2 * i + 1) << 32;
        let params = self.params as u64;
        let function = self.function as u64;
        [
            function,
            sizes(0),
            sizes(1),
            sizes(2),
            sizes(3),
            self.stream as u64,
            params,
        ]
    }
}

/// Each thread counts itself, and waits until there are two.
const MEET: &CStr = c".version 8.0
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 counter)
{
	.reg .pred %p;
	.reg .b32 %r;
	.reg .b64 %rd;
	ld.param.u64 %rd, [counter];
	red.relaxed.sys.global.add.u32 [%rd], 1;
WAIT:
	ld.relaxed.sys.global.u32 %r, [%rd];
	setp.ne.u32 %p, %r, 2;
	@%p bra WAIT;
	ret;
}";

#[test]
fn a_launch_on_several_devices_runs_on_all_at_the_same_time() {
    let Some(mut clients) = pair() else { return };
    let mut counter = null_mut::<c_void>();
    ok!(cuMemHostAlloc(&mut counter, 4, 0));
    let params = [(&raw mut counter).cast::<c_void>()];
    let all = clients.each_mut().map(|client| {
        make_current(client);
        ok!(cuModuleLoadData(&mut client.module, MEET.as_ptr().cast()));
        OfDevice {
            function: client.function("meet"),
            sizes: [1, 1, 1, 1, 1, 1, 0],
            stream: client.stream(1),
            params: params.as_ptr(),
        }
    });
    let launch = |all: &[&OfDevice], flags| {
        let all: Vec<[u64; 7]> = all.iter().map(|one| one.words()).collect();
        let (n, all) = (all.len() as u32, all.as_ptr().cast());
        call!(cuLaunchCooperativeKernelMultiDevice(all, n, flags))
    };
    let invalid = Status::INVALID_VALUE.0;
    assert_eq!(launch(&[&all[0], &all[1]], 4), invalid);
    assert_eq!(launch(&[&all[0], &all[0]], 0), invalid);
    ok(launch(&[&all[0], &all[1]], 0));
    for one in &all {
        ok!(cuStreamSynchronize(one.stream));
    }
}

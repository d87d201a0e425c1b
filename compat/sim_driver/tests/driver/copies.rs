//! Copies and fills.

use std::ffi::c_void;

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::host::*;
use sim_driver::api::memory::*;
use sim_driver::api::stream::*;

use crate::client::{Client, ok};
use crate::under_test::{call, fails, got, is_real, ok};

const VALUE: u32 = Status::INVALID_VALUE.0;

#[test]
fn fills_of_every_width() {
    let client = Client::new();
    let buffer = client.upload(&[0; 8]);
    ok!(cuMemsetD8_v2(buffer, 0xab, 5));
    ok!(cuMemsetD16_v2(buffer + 8, 0x1234, 2));
    ok!(cuMemsetD32_v2(buffer + 16, 0xdead_beef, 2));
    let expected = [
        0xabab_abab,
        0xab,
        0x1234_1234,
        0,
        0xdead_beef,
        0xdead_beef,
        0,
        0,
    ];
    assert_eq!(client.download(buffer, 8), expected);
    fails!(cuMemsetD16_v2(buffer + 1, 1, 1) with INVALID_VALUE);
    fails!(cuMemsetD32_v2(buffer + 2, 1, 1) with INVALID_VALUE);
    fails!(cuMemsetD8_v2(buffer, 1, 33) with INVALID_VALUE);
    fails!(cuMemsetD8_v2(0, 1, 1) with INVALID_VALUE);
    ok!(cuMemsetD2D32_v2(buffer, 16, 7, 2, 2));
    assert_eq!(
        client.download(buffer, 8),
        [7, 7, 0x1234_1234, 0, 7, 7, 0, 0]
    );
    fails!(cuMemsetD2D32_v2(buffer, 4, 7, 2, 2) with INVALID_VALUE);
}

#[test]
fn copies_past_an_end_are_refused() {
    let client = Client::new();
    let (a, b) = (client.upload(&[1, 2, 3, 4]), client.upload(&[0; 4]));
    let mut host = [0_u32; 8];
    let at = host.as_mut_ptr() as u64;
    fails!(cuMemcpyDtoH_v2(at, a, 17) with INVALID_VALUE);
    fails!(cuMemcpyDtoH_v2(at, a + 4, 16) with INVALID_VALUE);
    fails!(cuMemcpyHtoD_v2(a, at, 20) with INVALID_VALUE);
    fails!(cuMemcpyHtoD_v2(at, at, 4) with INVALID_VALUE);
    fails!(cuMemcpyDtoH_v2(0, a, 4) with INVALID_VALUE);
    fails!(cuMemcpyDtoD_v2(b, a, 20) with INVALID_VALUE);
    ok!(cuMemcpyDtoD_v2(b + 4, a, 12));
    ok!(cuMemcpyDtoH_v2(0, 0, 0));
    assert_eq!(client.download(b, 4), [0, 1, 2, 3]);
    ok!(cuMemcpy(b, a, 4));
    ok!(cuMemcpy(at, b, 8));
    assert_eq!(host[..2], [1, 1]);
    ok!(cuMemFree_v2(a));
    fails!(cuMemcpyDtoH_v2(at, a, 4) with INVALID_VALUE);
    ok!(cuCtxSynchronize());
}

/// `CUDA_MEMCPY2D`, as C lays it out.
#[repr(C)]
#[derive(Default)]
struct Rows {
    from: [usize; 2],
    from_kind: u32,
    from_host: u64,
    from_device: u64,
    from_array: usize,
    from_pitch: usize,
    to: [usize; 2],
    to_kind: u32,
    to_host: u64,
    to_device: u64,
    to_array: usize,
    to_pitch: usize,
    width: usize,
    height: usize,
}

#[test]
fn rows_with_a_pitch() {
    let _client = Client::new();
    let (mut buffer, mut pitch) = (0, 0);
    ok!(cuMemAllocPitch_v2(&mut buffer, &mut pitch, 12, 3, 4));
    assert_eq!(pitch % 512, 0);
    let source: Vec<u32> = (0..16).collect();
    let mut copy = Rows {
        from: [4, 1],
        from_kind: 1,
        from_host: source.as_ptr() as u64,
        from_pitch: 16,
        to_kind: 2,
        to_device: buffer,
        to_pitch: pitch,
        width: 12,
        height: 3,
        ..Rows::default()
    };
    let run = |copy: &Rows| call!(cuMemcpy2D_v2(std::ptr::from_ref(copy).cast()));
    ok(run(&copy));
    let mut back = [0_u32; 9];
    let to_host = Rows {
        from_kind: 2,
        from_device: buffer,
        from_pitch: pitch,
        to_kind: 1,
        to_host: back.as_mut_ptr() as u64,
        to_pitch: 12,
        width: 12,
        height: 3,
        ..Rows::default()
    };
    ok(run(&to_host));
    assert_eq!(back, [5, 6, 7, 9, 10, 11, 13, 14, 15]);
    copy.to_pitch = 8;
    assert_eq!(run(&copy), VALUE);
    copy.to_pitch = pitch;
    copy.height = 4;
    assert_eq!(run(&copy), VALUE);
    copy.to_kind = 9;
    assert_eq!(run(&copy), VALUE);
    copy.to_kind = 3;
    assert_eq!(run(&copy), VALUE);
}

#[test]
fn pinned_managed_and_registered_memory() {
    let client = Client::new();
    let mut pinned: *mut c_void = std::ptr::null_mut();
    ok!(cuMemHostAlloc(&mut pinned, 4096, 2));
    let words = pinned.cast::<u32>();
    unsafe { words.write(41) };
    let device = got!(device of cuMemHostGetDevicePointer_v2(&mut device, pinned, 0));
    client.launch("add_one", 1, 1, &[&device, &1_u32]);
    ok!(cuCtxSynchronize());
    assert_eq!(unsafe { words.read() }, 42);

    let managed = got!(managed of cuMemAllocManaged(&mut managed, 64, 1));
    unsafe { (managed as *mut u32).write(1) };
    client.launch("add_one", 1, 1, &[&managed, &1_u32]);
    ok!(cuCtxSynchronize());
    assert_eq!(unsafe { (managed as *const u32).read() }, 2);
    ok!(cuMemcpyDtoH_v2(words as u64, managed, 4));
    assert_eq!(unsafe { words.read() }, 2);

    let mut own = vec![9_u32; 64];
    let registered = own.as_mut_ptr().cast::<c_void>();
    ok!(cuMemHostRegister_v2(registered, 256, 0));
    fails!(cuMemHostRegister_v2(registered, 16, 0) with HOST_MEMORY_ALREADY_REGISTERED);
    client.launch("add_one", 1, 32, &[&(registered as u64), &64_u32]);
    ok!(cuMemHostUnregister(registered));
    assert_eq!((own[31], own[32]), (10, 9));
    fails!(cuMemHostUnregister(registered) with HOST_MEMORY_NOT_REGISTERED);

    let (mut kind, mut base) = (0_u32, 0_u64);
    let out = |p: *mut u32| p.cast::<c_void>();
    ok!(cuPointerGetAttribute(out(&mut kind), 2, pinned as u64 + 8));
    assert_eq!(kind, 1);
    ok! { cuPointerGetAttribute((&raw mut base).cast(), 11, managed + 60) }
    assert_eq!(base, managed);
    fails!(cuPointerGetAttribute(out(&mut kind), 2, own.as_ptr() as u64) with INVALID_VALUE);
    fails!(cuMemFreeHost(managed as *mut c_void) with INVALID_VALUE);
    ok!(cuMemFree_v2(managed));
    ok!(cuMemFreeHost(pinned));
    fails!(cuMemFreeHost(pinned) with INVALID_VALUE);
}

#[test]
fn streams_allocate_and_free() {
    let client = Client::new();
    let stream = client.stream(1);
    let (mut free, mut total, mut after) = (0, 0, 0);
    ok!(cuMemGetInfo_v2(&mut free, &mut total));
    assert!(is_real() || total == 1 << 30);
    let buffer = got!(buffer of cuMemAllocAsync(&mut buffer, 4000, stream));
    ok!(cuMemsetD32Async(buffer, 5, 1000, stream));
    ok(client.try_launch("add_one", (4, 256, stream), &[&buffer, &1000_u32]));
    let mut back = [0_u32; 1000];
    ok! { cuMemcpyDtoHAsync_v2(back.as_mut_ptr() as u64, buffer, 4000, stream) }
    ok!(cuMemFreeAsync(buffer, stream));
    // Though the stream may not have got there.
    fails!(cuMemFreeAsync(buffer, stream) with INVALID_VALUE);
    ok!(cuStreamSynchronize(stream));
    assert_eq!(back, [6; 1000]);
    fails!(cuMemFreeAsync(buffer, stream) with INVALID_VALUE);
    let mut size = 0;
    let mut base = 0;
    fails!(cuMemGetAddressRange_v2(&mut base, &mut size, buffer) with NOT_FOUND);
    ok!(cuMemGetInfo_v2(&mut after, &mut total));
    let (mut pool, mut same) = (0, 0);
    ok!(cuDeviceGetDefaultMemPool(&mut pool, 0));
    ok!(cuDeviceGetMemPool(&mut same, 0));
    assert_eq!(pool, same);
    fails!(cuMemPoolDestroy(pool) with INVALID_VALUE);
}

/// The results of an H200's driver.
#[test]
fn some_functions_allocate_nothing() {
    let client = Client::new();
    let stream = client.stream(1);
    let (mut address, mut pointer) = (7, std::ptr::dangling_mut());
    ok!(cuMemAllocAsync(&mut address, 0, stream));
    assert_eq!(address, 0);
    ok!(cuMemFreeAsync(address, stream));
    ok!(cuMemHostAlloc(&mut pointer, 0, 0));
    assert!(pointer.is_null());
    ok!(cuMemFreeHost(pointer));
    pointer = std::ptr::dangling_mut();
    ok!(cuMemAllocHost_v2(&mut pointer, 0));
    assert!(pointer.is_null());
    fails!(cuMemAlloc_v2(&mut address, 0) with INVALID_VALUE);
    fails!(cuMemAllocManaged(&mut address, 0, 1) with INVALID_VALUE);
}

#[test]
fn devices_copy_to_each_other() {
    let first = Client::new();
    let a = first.upload(&[1, 2, 3]);
    let second = Client::on(1);
    let b = second.upload(&[0; 3]);
    ok!(cuMemcpyPeer(b, second.context, a, first.context, 12));
    assert_eq!(second.download(b, 3), [1, 2, 3]);
    ok!(cuMemcpyDtoD_v2(a + 4, b, 8));
    assert_eq!(second.download(a, 3), [1, 1, 2]);
}

/// Bytes reserved, the most of these, bytes used, the most of these.
fn sizes_of(pool: usize) -> [u64; 4] {
    [5, 6, 7, 8].map(|number| {
        let mut value = 0_u64;
        ok!(cuMemPoolGetAttribute(pool, number, (&raw mut value).cast()));
        value
    })
}

/// The results of an H200's driver.
#[test]
fn pools_count_what_they_have() {
    const UNIT: u64 = 32 << 20;
    let client = Client::new();
    let stream = client.stream(1);
    let create =
        |pool: &mut usize, n_bytes| call!(cuMemPoolCreate(pool, &PoolProperties::new(0, n_bytes)));
    let alloc = |pool, n_bytes| {
        let mut address = 0;
        let status = call!(cuMemAllocFromPoolAsync(&mut address, n_bytes, pool, stream));
        (status, address)
    };
    let free = |address| {
        ok!(cuMemFreeAsync(address, stream));
        ok!(cuStreamSynchronize(stream));
    };
    let set = |pool, number, value: u64| {
        call!(cuMemPoolSetAttribute(
            pool,
            number,
            (&raw const value).cast()
        ))
    };
    let (mut pool, mut limited) = (0, 0);
    ok(create(&mut pool, 0));
    assert_eq!(sizes_of(pool), [0; 4]);
    let (_, small) = alloc(pool, 1000);
    assert_eq!(sizes_of(pool), [UNIT, UNIT, 1000, 1000]);
    let large = 40 << 20;
    let (_, address) = alloc(pool, large);
    let most = 1000 + large as u64;
    assert_eq!(sizes_of(pool), [2 * UNIT, 2 * UNIT, most, most]);
    free(address);
    assert_eq!(sizes_of(pool), [UNIT, 2 * UNIT, 1000, most]);
    for number in [5, 6, 7, 8] {
        assert_eq!(set(pool, number, 1), VALUE);
        assert_eq!(
            set(pool, number, 0),
            if number % 2 == 1 { VALUE } else { 0 }
        );
    }
    assert_eq!(sizes_of(pool), [UNIT, UNIT, 1000, 1000]);
    ok(set(pool, 4, u64::MAX));
    free(alloc(pool, large).1);
    assert_eq!(sizes_of(pool)[0], 2 * UNIT);
    ok!(cuMemPoolTrimTo(pool, 0));
    assert_eq!(sizes_of(pool)[0], UNIT);
    free(small);
    // The limit is rounded up.
    ok(create(&mut limited, 1));
    let (status, address) = alloc(limited, 32 << 20);
    ok(status);
    assert_eq!(alloc(limited, 1).0, Status::OUT_OF_MEMORY.0);
    free(address);
    ok(alloc(limited, 1).0);
    assert_eq!(create(&mut pool, 1 << 50), Status::OUT_OF_MEMORY.0);
    assert_eq!(
        call!(cuMemPoolCreate(&mut pool, &PoolProperties::new(99, 0))),
        VALUE
    );
}

#[test]
fn no_two_allocations_ever_have_the_same_id() {
    let client = Client::new();
    let id = |address: u64| {
        let mut id = 0_u64;
        ok!(cuPointerGetAttribute((&raw mut id).cast(), 7, address));
        id
    };
    let (stream, mut ids) = (client.stream(1), Vec::new());
    for _ in 0..2 {
        let managed = got!(managed of cuMemAllocManaged(&mut managed, 64, 1));
        let plain = client.alloc(64);
        let from_pool = got!(address of cuMemAllocAsync(&mut address, 64, stream));
        ids.extend([managed, plain, from_pool].map(id));
        assert_eq!(id(plain + 8), id(plain));
        ok!(cuMemFree_v2(managed));
        ok!(cuMemFree_v2(plain));
        ok!(cuMemFreeAsync(from_pool, stream));
        ok!(cuStreamSynchronize(stream));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

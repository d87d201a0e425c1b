//! Rows and slices, host memory, pointer attributes.

use sim_runtime::api::copy::*;
use sim_runtime::api::memory::*;
use sim_runtime::api::set::*;
use sim_runtime::api::v12;
use sim_runtime::layouts::{Extent, Pitched, PointerAttributes};

use crate::client::{Program, ok};

#[test]
fn rows_are_copied_and_filled() {
    let _program = Program::new();
    let (mut rows, mut pitch) = (0, 0);
    let host: Vec<u8> = (0..30).collect();
    let mut back = [0_u8; 30];
    ok!(cudaMallocPitch(&mut rows, &mut pitch, 10, 3));
    assert!(pitch >= 10 && pitch.is_multiple_of(256));
    ok! { cudaMemcpy2D(rows, pitch, host.as_ptr() as u64, 10, 10, 3, 1) }
    ok!(cudaMemset2D(rows + 2, pitch, 0x1ff, 3, 2));
    ok! { cudaMemcpy2D_ptds(back.as_mut_ptr() as u64, 10, rows, pitch, 10, 3, 2) }
    ok!(cudaFree(rows));
    let mut expected = host;
    for i in [2, 3, 4, 12, 13, 14] {
        expected[i] = 0xff;
    }
    assert_eq!(back, *expected);
}

#[test]
fn slices_are_filled_without_what_lies_between() {
    let _program = Program::new();
    let extent = |width, height, depth| Extent {
        width,
        height,
        depth,
    };
    let mut all = Pitched::default();
    let mut back = vec![0_u8; 4 * 3 * 2];
    unsafe {
        ok!(cudaMalloc3D(&mut all, extent(4, 3, 2)));
        assert_eq!((all.width, all.height), (4, 3));
        ok!(cudaMemset3D(all, 1, extent(4, 3, 2)));
        ok!(cudaMemset3D(all, 2, extent(3, 2, 2)));
        assert_eq!(cudaMemset3D(all, 2, extent(all.pitch + 1, 1, 1)), 12);
        let to = back.as_mut_ptr() as u64;
        ok!(cudaMemcpy2D(to, 4, all.address, all.pitch, 4, 6, 2));
        ok!(cudaFree(all.address));
    }
    let slice = [2, 2, 2, 1, 2, 2, 2, 1, 1, 1, 1, 1];
    assert_eq!(back, [slice, slice].concat());
}

#[test]
fn nothing_is_a_null_pointer() {
    let _program = Program::new();
    let (mut device, mut host) = (1, 1);
    unsafe {
        ok!(cudaMalloc(&mut device, 0));
        ok!(cudaMallocHost(&mut host, 0));
        assert_eq!(cudaMalloc(std::ptr::null_mut(), 4), 1);
    }
    assert_eq!((device, host), (0, 0));
}

#[test]
fn pointers_tell_what_they_are() {
    let program = Program::new();
    let device = program.upload(&[1]);
    let own = 5_u32;
    let (mut pinned, mut managed) = (0, 0);
    let ask = |address| {
        let mut attributes = PointerAttributes::default();
        ok!(v12::cudaPointerGetAttributes(&mut attributes, address));
        (
            attributes.kind,
            attributes.device_pointer,
            attributes.host_pointer,
        )
    };
    ok!(cudaMallocHost(&mut pinned, 4));
    ok!(cudaMallocManaged(&mut managed, 4, 1));
    let stack = &raw const own as u64;
    assert_eq!(ask(device), (2, device, 0));
    assert_eq!(ask(pinned), (1, pinned, pinned));
    assert_eq!(ask(managed), (3, managed, managed));
    assert_eq!(ask(stack), (0, 0, stack));
    ok!(cudaFreeHost(pinned));
    ok!(cudaFree(managed));
}

#[test]
fn kernels_use_managed_memory() {
    let program = Program::new();
    let mut managed = 0;
    unsafe {
        ok!(cudaMallocManaged(&mut managed, 8, 1));
        let values = managed as *mut i32;
        values.write(1);
        values.add(1).write(2);
        ok(program.launch(&program.add, 2, &[&managed, &5_i32]));
        ok!(sim_runtime::api::device::cudaDeviceSynchronize());
        assert_eq!((values.read(), values.add(1).read()), (6, 7));
        ok!(cudaFree(managed));
    }
}

//! The statuses of wrong calls, and the last error that a thread remembers.

use std::ffi::c_char;

use sim_runtime::api::copy::*;
use sim_runtime::api::device::*;
use sim_runtime::api::errors::*;
use sim_runtime::api::launch::*;
use sim_runtime::api::memory::*;
use sim_runtime::api::registration::*;
use sim_runtime::layouts::Dim3;

use crate::client::{Place, Program, ok};

#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);
static MACHINE_CODE: &Aligned<[u8]> = &Aligned(*include_bytes!(
    "../../../fatbin/tests/samples/machine.fatbin"
));

#[test]
fn the_last_error_is_kept_by_thread_until_asked_for() {
    let _program = Program::new();
    unsafe {
        assert_eq!(cudaSetDevice(77), 101);
        assert_eq!((cudaPeekAtLastError(), cudaPeekAtLastError()), (101, 101));
        ok!(cudaSetDevice(0));
        let other = std::thread::spawn(|| cudaPeekAtLastError());
        assert_eq!(other.join().ok(), Some(0));
        assert_eq!((cudaGetLastError(), cudaGetLastError()), (101, 0));
    }
}

#[test]
fn wrong_launches_are_told() {
    let program = Program::new();
    let size = |x| Dim3 { x, y: 1, z: 1 };
    let null = std::ptr::null();
    unsafe {
        assert_eq!(program.launch(&program.add, 1025, &[&0_u64, &0_i32]), 1);
        assert_eq!(program.launch(&program.add, 0, &[&0_u64, &0_i32]), 1);
        assert_eq!(cudaGetLastError(), 1);
        let deep = Dim3 { x: 1, y: 1, z: 65 };
        assert_eq!(
            cudaLaunchKernel(program.add(), size(1), deep, null, 0, 0),
            1
        );
        // Neither a kernel of the program nor one of the driver.
        assert_eq!(cudaLaunchKernel(0x1234, size(1), size(1), null, 0, 0), 98);
        assert_eq!(cudaLaunchKernel(0, size(1), size(1), null, 0, 0), 98);
        let absent = Place::default();
        program.register_kernel(&absent, "absent");
        assert_eq!(program.launch(&absent, 1, &[]), 98);
        let (mut grid, mut block, mut shared_bytes, mut stream) = (size(0), size(0), 0, 0);
        let popped =
            __cudaPopCallConfiguration(&mut grid, &mut block, &mut shared_bytes, &mut stream);
        assert_eq!(popped, 52);
    }
}

#[test]
fn machine_code_alone_is_told_at_the_launch() {
    let program = Program::of(&MACHINE_CODE.0);
    assert_eq!(program.launch(&program.add, 1, &[&0_u64, &0_i32]), 209);
    assert_eq!(unsafe { cudaGetLastError() }, 209);
}

#[test]
fn a_fault_is_left_for_good() {
    let program = Program::new();
    unsafe {
        ok!(cudaSetDevice(2));
        let buffer = program.upload(&[1]);
        ok(program.launch(&program.add, 1, &[&0x10_u64, &1_i32]));
        assert_eq!(cudaDeviceSynchronize(), 700);
        let mut other = 0;
        assert_eq!(cudaMalloc(&mut other, 4), 700);
        assert_eq!((cudaGetLastError(), cudaGetLastError()), (700, 700));
        assert_eq!(cudaFree(buffer), 700);
        // As on a GPU, only a new process gets rid of it.
        cudaDeviceReset();
        assert_eq!(cudaMalloc(&mut other, 4), 700);
        // Another device still works, which it does not on GPUs.
        ok!(cudaSetDevice(0));
        let buffer = program.upload(&[1]);
        ok(program.launch(&program.add, 1, &[&buffer, &1_i32]));
        assert_eq!(program.download(buffer, 1), [2]);
    }
}

#[test]
fn errors_have_names_and_texts() {
    let text = |text| unsafe { std::ffi::CStr::from_ptr(text) };
    unsafe {
        assert_eq!(
            text(cudaGetErrorName(98)),
            c"cudaErrorInvalidDeviceFunction"
        );
        assert_eq!(text(cudaGetErrorString(2)), c"out of memory");
        assert_eq!(text(cudaGetErrorString(8888)), c"unrecognized error code");
    }
}

#[test]
fn wrong_copies_are_told() {
    let program = Program::new();
    let buffer = program.upload(&[1, 2]);
    let host = [0_i32; 2].as_ptr() as u64;
    unsafe {
        assert_eq!(cudaMemcpy(buffer, host, 8, 5), 21);
        assert_eq!(cudaMemcpy(buffer, host, 4096, 1), 1);
        assert_eq!(cudaMemcpy2D(buffer, 4, host, 4, 8, 1, 1), 12);
        assert_eq!(cudaFree(buffer + 4), 1);
        ok!(cudaFree(buffer));
        assert_eq!(cudaFree(buffer), 1);
        ok!(cudaFree(0));
    }
}

#[test]
fn driver_functions_are_found_by_name() {
    let _program = Program::new();
    let (mut function, mut found) = (0, 9);
    unsafe {
        type Find = unsafe extern "C" fn(*const c_char, *mut usize, u64, *mut u32) -> u32;
        let find: Find = sim_runtime::api::v13::cudaGetDriverEntryPoint;
        ok(find(c"cuMemAlloc".as_ptr(), &mut function, 0, &mut found));
        let own = sim_driver::function("cuMemAlloc_v2").expect("there is one");
        assert_eq!((function, found), (own.addr(), 0));
        // A program in which each thread has its own default stream gets the functions that use it.
        let find_own: Find = sim_runtime::api::v13::cudaGetDriverEntryPoint_ptsz;
        let query = c"cuStreamQuery".as_ptr();
        for (find, name) in [(find, "cuStreamQuery"), (find_own, "cuStreamQuery_ptsz")] {
            ok(find(query, &mut function, 0, &mut found));
            let own = sim_driver::function(name).expect("there is one");
            assert_eq!((function, found), (own.addr(), 0));
        }
        ok(find(c"cuFrobnicate".as_ptr(), &mut function, 0, &mut found));
        assert_eq!((function, found), (0, 1));
        assert_eq!(
            find(
                c"cuFrobnicate".as_ptr(),
                &mut function,
                0,
                std::ptr::null_mut()
            ),
            500
        );
    }
}

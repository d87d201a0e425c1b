//! The runtime's functions, called in the way of the code that nvcc puts into a program.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every call is one of a C API"
)]

#[macro_use]
mod client;
mod devices;
mod errors;
mod memory;
mod order;

use client::{Program, ok};
use sim_runtime::api::device::*;
use sim_runtime::api::function::*;
use sim_runtime::api::registration::*;
use sim_runtime::api::symbol::*;
use sim_runtime::layouts::FunctionAttributes;

#[test]
fn a_registered_kernel_is_launched() {
    let program = Program::new();
    let buffer = program.upload(&[1, 2, 3, 4]);
    ok(program.launch(&program.add, 4, &[&buffer, &10_i32]));
    assert_eq!(program.download(buffer, 4), [11, 12, 13, 14]);
}

#[test]
fn relocatable_code_is_linked() {
    let program = Program::relocatable();
    let buffer = program.upload(&[1, 2]);
    ok(program.launch(&program.add, 2, &[&buffer, &10_i32]));
    assert_eq!(program.download(buffer, 2), [11, 12]);
}

#[test]
fn managed_variables_have_one_address() {
    let program = Program::of_ptx(
        c".version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 total = 5;
.visible .entry bump()
{
	.reg .b32 %r;
	ld.global.u32 %r, [total];
	add.u32 %r, %r, 1;
	st.global.u32 [total], %r;
	ret;
}",
    );
    let (mut slot, bump) = (client::Place::default(), client::Place::default());
    program.register_managed(&mut slot, c"total");
    program.register_kernel(&bump, "bump");
    assert!(program.init_module());
    let word = std::ptr::with_exposed_provenance_mut::<u32>(*slot as usize);
    let value = || unsafe { std::sync::atomic::AtomicU32::from_ptr(word) };
    assert_eq!(value().load(std::sync::atomic::Ordering::Relaxed), 5);
    let mut address = 0;
    ok!(cudaGetSymbolAddress(&mut address, client::address(&*slot)));
    ok(program.launch(&bump, 1, &[]));
    ok!(cudaDeviceSynchronize());
    assert_eq!(address, *slot);
    assert_eq!(value().load(std::sync::atomic::Ordering::Relaxed), 6);
}

#[test]
fn what_is_not_simulated_is_in_the_log() {
    let _program = Program::new();
    assert_eq!(sim_runtime::api::not_simulated("cudaFrobnicate"), 801);
    let log = std::fs::read_to_string(client::log()).expect("there is a log");
    std::fs::remove_file(client::log()).expect("there is a log");
    assert!(log.contains("cudaFrobnicate is not simulated\n"), "{log}");
}

#[test]
fn variables_are_known_by_the_programs_addresses() {
    let program = Program::new();
    let (counter, table) = (program.counter(), program.table());
    let (mut size, mut address, mut back) = (0, 0, 0);
    let values = [10, 20, 30, 40];
    let buffer = program.upload(&[0; 4]);
    unsafe {
        ok!(cudaGetSymbolSize(&mut size, table));
        ok!(cudaGetSymbolAddress(&mut address, counter));
        ok!(cudaMemcpyToSymbol(table, values.as_ptr() as u64, 16, 0, 1));
        ok(program.launch(&program.read_variables, 4, &[&buffer]));
        ok!(cudaMemcpyToSymbol(table, [50].as_ptr() as u64, 4, 8, 1));
        ok! { cudaMemcpyFromSymbol_ptds(&raw mut back as u64, table, 4, 8, 2) }
        assert_eq!(
            cudaMemcpyToSymbol(table, values.as_ptr() as u64, 16, 4, 1),
            1
        );
        assert_eq!(
            cudaMemcpyToSymbol(table, values.as_ptr() as u64, 4, 0, 2),
            21
        );
        assert_eq!(cudaGetSymbolAddress(&mut address, 8), 13);
    }
    assert_eq!((size, back), (16, 50));
    assert_eq!(program.download(buffer, 4), [13, 23, 33, 43]);
}

#[test]
fn kernels_tell_what_they_need() {
    let program = Program::new();
    let mut attributes = FunctionAttributes::default();
    let (mut n, mut kernel) = (0, 0);
    unsafe {
        ok!(cudaFuncGetAttributes(&mut attributes, program.add()));
        ok! { cudaOccupancyMaxActiveBlocksPerMultiprocessor(&mut n, program.add(), 256, 0) }
        ok!(cudaGetKernel(&mut kernel, program.add()));
        let mut by_handle = FunctionAttributes::default();
        ok!(cudaFuncGetAttributes(&mut by_handle, kernel));
        assert_eq!(by_handle.others, attributes.others);
        ok!(cudaFuncSetAttribute(program.add(), 8, 100_000));
        assert_eq!(cudaFuncSetAttribute(program.add(), 8, 1_000_000), 1);
    }
    assert_eq!(
        (attributes.others[0], attributes.others[5]),
        (1024, 48 << 10)
    );
    assert!(n >= 1 && kernel != program.add());
}

#[test]
fn devices_are_chosen_by_thread() {
    let _program = Program::new();
    let (mut n, mut device, mut warp) = (0, 0, 0);
    let mut properties = vec![0xff_u8; 1100];
    unsafe {
        ok!(cudaGetDeviceCount(&mut n));
        ok!(cudaSetDevice(1));
        let other = std::thread::spawn(|| {
            let mut device = 9;
            ok!(cudaGetDevice(&mut device));
            device
        });
        ok!(cudaGetDevice(&mut device));
        assert_eq!((n, device, other.join().ok()), (5, 1, Some(0)));
        assert_eq!(cudaSetDevice(5), 101);
        ok!(cudaDeviceGetAttribute(&mut warp, 10, 1));
        ok!(sim_runtime::api::v13::cudaGetDeviceProperties(
            properties.as_mut_ptr(),
            1,
        ));
    }
    assert_eq!(warp, 32);
    assert_eq!(&properties[..9], b"Lockstep ");
    assert_eq!((properties[1007], properties[1008]), (0, 0xff));
    // `warpSize`
    assert_eq!(properties[308], 32);
}

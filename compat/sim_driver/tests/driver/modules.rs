//! Modules, libraries, kernels and their properties.

use std::ffi::{CStr, CString, c_void};

use sim_driver::Status;
use sim_driver::api::context::*;
use sim_driver::api::copy::*;
use sim_driver::api::kernel::*;
use sim_driver::api::launch::*;
use sim_driver::api::library::*;
use sim_driver::api::link::*;
use sim_driver::api::module::*;
use sim_driver::api::occupancy::*;

use crate::client::{Client, KERNELS, function_of, launch_block, load_library, load_module, ok};
use crate::under_test::{call, fails, got, is_real, ok};

#[test]
fn variables_have_addresses_and_values() {
    let client = Client::new();
    let (mut address, mut n_bytes, name) = (0, 0, c"counter".as_ptr());
    ok! { cuModuleGetGlobal_v2(&mut address, &mut n_bytes, client.module, name) }
    assert_eq!((n_bytes, client.download(address, 1)), (4, vec![5]));
    client.launch("bump", 1, 1, &[]);
    assert_eq!(client.download(address, 1), [6]);
    let (mut function, name) = (0, c"x".as_ptr());
    fails!(cuModuleGetGlobal_v2(&mut address, &mut n_bytes, client.module, name) with NOT_FOUND);
    fails!(cuModuleGetFunction(&mut function, client.module, name) with NOT_FOUND);
}

/// Loads an image; returns the status and the log's text.
fn loaded(image: &[u8]) -> (u32, String) {
    let mut module = 0;
    let mut log = [0_u8; 600];
    // The error log and its size.
    let options = [5_u32, 6];
    let size = std::ptr::without_provenance_mut(log.len());
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), size];
    let status = call! {
        cuModuleLoadDataEx(
            &mut module, image.as_ptr().cast(), 2, options.as_ptr(), values.as_mut_ptr()
        )
    };
    let end = log.iter().position(|&b| b == 0).expect("it ends");
    assert!(status == 0 || values[1].addr() == end);
    (status, String::from_utf8_lossy(&log[..end]).into_owned())
}

#[test]
fn what_is_no_ptx_is_explained() {
    let _client = Client::new();
    let text = b".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { mov.u32 %r1; }\0";
    let (status, log) = loaded(text);
    assert_eq!(status, Status::INVALID_PTX.0);
    assert!(log.contains("line 4") && log.contains("%r1"), "{log}");
    if is_real() {
        return;
    }
    // What compilers called by programs produce, and what nvcc puts into a program.
    let cubin = include_bytes!("../../../fatbin/tests/samples/cuda_13.cubin");
    let fat = include_bytes!("../../../fatbin/tests/samples/machine.fatbin");
    for (machine_code, cures) in [
        (&cubin[..], ["nvrtcGetPTX", "CUPY_COMPILE_WITH_PTX=1"]),
        (fat, ["-gencode", "cuFFT"]),
    ] {
        let (status, log) = loaded(machine_code);
        assert_eq!(status, Status::NO_BINARY_FOR_GPU.0);
        // A repetition is not reported again.
        assert_eq!((status, log.clone()), loaded(machine_code));
        for part in cures {
            assert!(log.contains(part), "{log}");
        }
        let recorder = sim_driver::recorder::recorder().expect("there is one");
        let reported = recorder.records().not_loaded;
        let one = format!("a module cannot be loaded: {log}");
        assert_eq!(reported.iter().filter(|text| **text == one).count(), 1);
    }
    let mut module = 0;
    let mut load = |image: &[u8]| call!(cuModuleLoadData(&mut module, image.as_ptr().cast()));
    assert_eq!(load(b"\x7fELF\x02\x01\x01\0"), Status::INVALID_IMAGE.0);
    for sample in [
        &include_bytes!("../../../fatbin/tests/samples/size.fatbin")[..],
        include_bytes!("../../../fatbin/tests/samples/speed.fatbin"),
        include_bytes!("../../../fatbin/tests/samples/several.fatbin"),
    ] {
        ok(load(sample));
    }
    assert_eq!(load(b"\0"), Status::INVALID_IMAGE.0);
    fails!(cuModuleLoadData(&mut module, std::ptr::null()) with INVALID_VALUE);
    fails!(cuModuleLoad(&mut module, c"nosuch.ptx".as_ptr()) with FILE_NOT_FOUND);
    let recorder = sim_driver::recorder::recorder().expect("there is one");
    let reported = recorder.records().not_loaded;
    let is_it = |text: &String| text.starts_with("the module `nosuch.ptx` cannot be read: ");
    assert!(reported.iter().any(is_it), "{reported:?}");
}

/// The results of a GPU's driver.
#[test]
fn what_cannot_be_assembled_is_not_loaded() {
    let _client = Client::new();
    let loaded_with = |target: &str, body: &str| {
        let text = format!(".version 8.6\n.target {target}\n.address_size 64\n{body}\0");
        loaded(text.as_bytes())
    };
    let kernel = ".visible .entry k() { ret; }";
    for target in ["sm_999", "sm_0", "sm_100", "sm_80a"] {
        let (status, log) = loaded_with(target, kernel);
        assert_eq!(status, Status::INVALID_PTX.0, "{target}");
        assert!(is_real() || log.contains(target), "{log}");
    }
    ok(loaded_with("sm_90a", kernel).0);
    let missing = format!(".extern .func missing();\n{kernel}");
    ok(loaded_with("sm_80", &missing).0);
    let calling = format!("{missing}\n.visible .entry other() {{ call missing; ret; }}");
    let (status, log) = loaded_with("sm_80", &calling);
    assert_eq!(status, Status::INVALID_PTX.0);
    assert!(log.contains("missing"), "{log}");
    let shared = ".visible .entry k() { .shared .b8 x[232452]; .reg .b32 %r; mov.u32 %r, x; ret; }";
    let (status, log) = loaded_with("sm_90", shared);
    assert_eq!(status, Status::INVALID_PTX.0);
    assert!(is_real() || log.contains("232448"), "{log}");
    // Less than that only a linker refuses.
    let large = c".version 8.0
.target sm_80
.address_size 64
.visible .entry k()
{
	.shared .align 4 .b8 x[102400];
	.reg .b32 %r;
	mov.u32 %r, x;
	st.shared.u32 [%r], %r;
	ret;
}";
    ok(launch_block(
        function_of(load_module(large), c"k"),
        (1, 0),
        &[],
    ));
    ok!(cuCtxSynchronize());
    let (status, _, log) = linked(&[large]);
    assert_eq!(status, Status::INVALID_SOURCE.0);
    assert!(log.contains("too much") && log.contains("shared"), "{log}");
}

#[test]
fn libraries_are_every_contexts() {
    let first = Client::new();
    let text = CString::new(KERNELS).expect("no nul");
    let mut kernel = 0;
    let library = load_library(&text);
    let name = c"add_one".as_ptr();
    ok!(cuLibraryGetKernel(&mut kernel, library, name));
    let n = got!(n of cuLibraryGetKernelCount(&mut n, library));
    assert_eq!(n, 11);
    for client in [first, Client::new(), Client::on(1)] {
        ok!(cuCtxSetCurrent(client.context));
        let (mut buffer, mut count) = (client.upload(&[7; 32]), 32_u32);
        let params = [(&raw mut buffer).cast(), (&raw mut count).cast()];
        ok(launch_block(kernel, (32, 0), &params));
        assert_eq!(client.download(buffer, 32), [8; 32]);
        let function = got!(function of cuKernelGetFunction(&mut function, kernel));
        ok(launch_block(function, (32, 0), &params));
        assert_eq!(client.download(buffer, 1), [9]);
    }
    let _client = Client::new();
    ok!(cuLibraryUnload(library));
    if !is_real() {
        assert_eq!(launch_block(kernel, (32, 0), &[]), Status::INVALID_HANDLE.0);
    }
}

#[test]
fn parameters_in_one_buffer() {
    let client = Client::new();
    let out = client.alloc(12);
    // out at 0, a at 8, b at 16, c at 24.
    let mut buffer = [0_u8; 26];
    buffer[..8].copy_from_slice(&out.to_le_bytes());
    buffer[8] = 200;
    buffer[16..24].copy_from_slice(&0x1_0000_0007_u64.to_le_bytes());
    buffer[24..].copy_from_slice(&513_u16.to_le_bytes());
    let function = client.function("gaps");
    let launch = |mut size: usize| {
        let name = std::ptr::without_provenance_mut::<c_void>;
        let bytes = buffer.as_ptr().cast_mut().cast();
        let extra = [name(1), bytes, name(2), (&raw mut size).cast(), name(0)];
        call! { cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, 0, std::ptr::null(), extra.as_ptr()) }
    };
    ok(launch(26));
    assert_eq!(client.download(out, 3), [200, 7, 513]);
    // A buffer that is too short is accepted.
    ok(launch(20));
    let (mut offset, mut size) = (0, 0);
    ok!(cuFuncGetParamInfo(function, 3, &mut offset, &mut size));
    assert_eq!((offset, size), (24, 2));
    fails!(cuFuncGetParamInfo(function, 4, &mut offset, &mut size) with INVALID_VALUE);
}

#[test]
fn shared_memory_has_a_limit_that_can_be_raised() {
    let client = Client::new();
    let function = client.function("shared_kernel");
    let mut out = client.alloc(4);
    let params = [(&raw mut out).cast()];
    let launch = |shared_bytes| launch_block(function, (1, shared_bytes), &params);
    let mut value = 0;
    ok!(cuFuncGetAttribute(&mut value, 1, function));
    assert_eq!(value, 1024);
    assert_eq!(launch(48 << 10), Status::INVALID_VALUE.0);
    ok(launch(47 << 10));
    fails!(cuFuncSetAttribute(function, 8, 228 << 10) with INVALID_VALUE);
    ok!(cuFuncSetAttribute(function, 8, 200 << 10));
    ok!(cuFuncGetAttribute(&mut value, 8, function));
    assert_eq!(value, 200 << 10);
    ok(launch(200 << 10));
    ok!(cuCtxSynchronize());
}

#[test]
fn occupancy_is_limited_by_threads_and_shared_memory() {
    let client = Client::new();
    let function = client.function("shared_kernel");
    let blocks = |threads, shared| {
        let mut n = -1;
        ok! { cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut n, function, threads, shared) }
        n
    };
    assert_eq!(blocks(1024, 0), 2);
    assert_eq!(blocks(32, 0), 32);
    assert_eq!(blocks(128, 47 << 10), 4);
    // More than is allowed.
    assert_eq!(blocks(128, 100 << 10), 0);
    unsafe extern "C" fn of_threads(threads: i32) -> usize {
        200 * threads as usize
    }
    let (mut grid, mut block) = (0, 0);
    ok! { cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, Some(of_threads), 0, 0) }
    assert!(block > 0 && 200 * block <= 48 << 10, "{block}");
    ok!(cuFuncSetAttribute(function, 8, 100 << 10));
    assert_eq!(blocks(128, 100 << 10), 2);
    assert_eq!(blocks(2048, 0), 0);
    ok! { cuOccupancyMaxPotentialBlockSize(&mut grid, &mut block, function, None, 0, 0) }
    assert_eq!((grid, block), (264, 1024));
}

#[test]
fn a_block_of_another_shape_than_the_kernels_is_refused() {
    let client = Client::new();
    let text = c".version 8.0
.target sm_80
.address_size 64
.visible .entry only() .reqntid 64 { ret; }";
    let (mut module, mut function) = (0, 0);
    ok!(cuModuleLoadData(&mut module, text.as_ptr().cast()));
    ok!(cuModuleGetFunction(&mut function, module, c"only".as_ptr()));
    let (stream, none) = (client.stream(1), std::ptr::null());
    ok!(cuLaunchKernel(
        function, 1, 1, 1, 64, 1, 1, 0, stream, none, none
    ));
    for (x, y) in [(32, 1), (32, 2), (128, 1)] {
        fails!(cuLaunchKernel(function, 1, 1, 1, x, y, 1, 0, stream, std::ptr::null(), none) with INVALID_VALUE);
    }
    ok!(cuCtxSynchronize());
}

const CALLED: &CStr = c".version 8.0
.target sm_80
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x)
{
	.reg .b32 %r;
	ld.param.u32 %r, [x];
	add.u32 %r, %r, %r;
	st.param.b32 [r], %r;
	ret;
}";

const CALLER: &CStr = c".version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry double_it(.param .u64 out, .param .u32 x)
{
	.reg .b32 %r;
	.reg .b64 %rd;
	ld.param.u64 %rd, [out];
	ld.param.u32 %r, [x];
	{
	.param .b32 a;
	st.param.b32 [a], %r;
	.param .b32 b;
	call (b), twice, (a);
	ld.param.b32 %r, [b];
	}
	st.global.u32 [%rd], %r;
	ret;
}";

/// Links inputs, each of a kind; returns the final status, and the module if it can be loaded.
fn link(options: &[u32], values: &mut [*mut c_void], inputs: &[(u32, &[u8])]) -> (u32, usize) {
    let (mut state, mut image, mut n_bytes, mut module) = (0, std::ptr::null(), 0, 0);
    let n = options.len() as u32;
    ok! { cuLinkCreate_v2(n, options.as_ptr(), values.as_mut_ptr(), &mut state) }
    for &(kind, data) in inputs {
        ok(add(state, kind, data));
    }
    let status = call!(cuLinkComplete(state, &mut image, &mut n_bytes));
    if status == 0 {
        ok!(cuModuleLoadData(&mut module, image));
        // The client may keep it.
        let kept = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), n_bytes).to_vec() };
        got!(again of cuModuleLoadData(&mut again, kept.as_ptr().cast()));
    }
    ok!(cuLinkDestroy(state));
    if !is_real() {
        fails!(cuLinkDestroy(state) with INVALID_HANDLE);
    }
    (status, module)
}

/// Links texts; returns the final status, the module if it can be loaded, and the log.
fn linked(texts: &[&CStr]) -> (u32, usize, String) {
    let mut log = [0_u8; 600];
    let size = std::ptr::without_provenance_mut(log.len());
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), size];
    let texts = texts.iter().map(|text| (1, text.to_bytes_with_nul()));
    let (status, module) = link(&[5, 6], &mut values, &texts.collect::<Vec<_>>());
    let log = CStr::from_bytes_until_nul(&log).expect("it ends");
    (status, module, log.to_string_lossy().into_owned())
}

#[test]
fn several_texts_are_linked() {
    let client = Client::new();
    let (status, module, _) = linked(&[CALLER, CALLED]);
    ok(status);
    let (mut out, mut x) = (client.alloc(4), 21_u32);
    let params = [(&raw mut out).cast(), (&raw mut x).cast()];
    let function = function_of(module, c"double_it");
    ok(launch_block(function, (1, 0), &params));
    assert_eq!(client.download(out, 1), [42]);
    let (status, _, log) = linked(&[CALLER]);
    assert_eq!(status, Status::INVALID_SOURCE.0);
    assert!(log.contains("twice"), "{log}");
}

/// Each block writes its number, and after the barrier reads its neighbour's.
const GRID_BARRIER: &CStr = c".version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 group) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 status) cudaCGSynchronize(.param .b64 group, .param .b32 flags);
.visible .entry neighbours(.param .u64 numbers, .param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [numbers];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %nctaid.x;
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd4, %rd1, %rd3;
	st.global.u32 [%rd4], %r1;
	{
	.param .b32 a;
	mov.u32 %r3, 1;
	st.param.b32 [a], %r3;
	.param .b64 b;
	call (b), cudaCGGetIntrinsicHandle, (a);
	ld.param.b64 %rd5, [b];
	}
	{
	.param .b64 a;
	st.param.b64 [a], %rd5;
	.param .b32 f;
	mov.u32 %r3, 0;
	st.param.b32 [f], %r3;
	.param .b32 b;
	call (b), cudaCGSynchronize, (a, f);
	ld.param.b32 %r5, [b];
	}
	add.u32 %r4, %r1, 1;
	rem.u32 %r4, %r4, %r2;
	mul.wide.u32 %rd6, %r4, 4;
	add.u64 %rd6, %rd1, %rd6;
	ld.global.u32 %r4, [%rd6];
	add.u32 %r4, %r4, %r5;
	add.u64 %rd7, %rd2, %rd3;
	st.global.u32 [%rd7], %r4;
	ret;
}";

/// A fat binary with one PTX text.
fn fat_binary(architecture: u32, ptx: &str) -> Vec<u8> {
    let n_bytes = ptx.len().next_multiple_of(8);
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend([1, 0, 16, 0]);
    bytes.extend((64 + n_bytes as u64).to_le_bytes());
    // PTX, and the sizes of this header and of the text.
    bytes.extend([1, 0, 1, 1, 64, 0, 0, 0]);
    bytes.extend((n_bytes as u64).to_le_bytes());
    bytes.extend([0; 8]);
    bytes.extend([0, 0, 9, 0]);
    bytes.extend(architecture.to_le_bytes());
    bytes.extend([0; 32]);
    bytes.extend(ptx.as_bytes());
    bytes.resize(16 + 64 + n_bytes, 0);
    bytes
}

/// Adds an input to a link.
fn add(state: usize, kind: u32, data: &[u8]) -> u32 {
    let (null, none) = (std::ptr::null(), std::ptr::null_mut());
    let (bytes, n, name) = (data.as_ptr().cast(), data.len(), c"part".as_ptr());
    call! { cuLinkAddData_v2(state, kind, bytes, n, name, 0, null, none) }
}

/// Checks that [`GRID_BARRIER`] works with an input of that kind in place of `libcudadevrt.a`.
fn barrier_works_with(client: &Client, kind: u32, device_runtime: &[u8]) {
    let (mut numbers, mut out) = (client.alloc(64), client.alloc(64));
    let barrier = GRID_BARRIER.to_bytes_with_nul();
    let (status, module) = link(&[], &mut [], &[(kind, device_runtime), (1, barrier)]);
    ok(status);
    let function = function_of(module, c"neighbours");
    let params = [(&raw mut numbers).cast::<c_void>(), (&raw mut out).cast()];
    // Twice, since the barrier is left as it was found.
    for _ in 0..2 {
        let params = params.as_ptr();
        ok! { cuLaunchCooperativeKernel(function, 16, 1, 1, 64, 1, 1, 0, 0, params) }
        let expected: Vec<u32> = (0..16).map(|block| (block + 1) % 16).collect();
        assert_eq!(client.download(out, 16), expected);
        ok!(cuMemsetD8_v2(out, 0xff, 64));
        ok!(cuMemsetD8_v2(numbers, 0xff, 64));
    }
}

/// Reports whether the launch has memory for a barrier of all blocks where CUDA's headers look for
/// it, and reads the barrier's word, which follows that of the size.
const WORKSPACE: &CStr = c"
.version 8.0
.target sm_80
.address_size 64
.visible .entry workspace(.param .u64 out)
{
	.reg .pred %is_there;
	.reg .b32 %upper, %lower, %found;
	.reg .b64 %out, %at;
	ld.param.u64 %out, [out];
	mov.u32 %upper, %envreg1;
	mov.u32 %lower, %envreg2;
	mov.b64 %at, {%lower, %upper};
	setp.ne.u64 %is_there, %at, 0;
	@%is_there ld.u32 %found, [%at+4];
	selp.u32 %found, 1, 0, %is_there;
	st.global.u32 [%out], %found;
	ret;
}";

#[test]
fn a_cooperative_launch_has_memory_for_a_barrier_and_others_have_none() {
    let client = Client::new();
    let mut out = client.alloc(4);
    let function = function_of(load_module(WORKSPACE), c"workspace");
    let params = [(&raw mut out).cast::<c_void>()];
    let (params, none) = (params.as_ptr(), std::ptr::null());
    ok! { cuLaunchCooperativeKernel(function, 2, 1, 1, 32, 1, 1, 0, 0, params) }
    assert_eq!(client.download(out, 1), [1]);
    ok! { cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, 0, params, none) }
    assert_eq!(client.download(out, 1), [0]);
}

#[test]
fn the_device_runtimes_library_has_the_barrier_of_a_grid() {
    let client = Client::new();
    // The library itself is NVIDIA's; these only resemble it.
    if is_real() {
        return;
    }
    let library = |member: &str| format!("!<arch>\n{member:<58}`\n\u{1}").into_bytes();
    barrier_works_with(&client, 4, &library("cuda_device_runtime.o/"));
    // As nvcc links it: with PTX for the newest devices only, which needs what NVIDIA's driver
    // provides.
    let ptx = |declared: &str| {
        let head = ".version 9.5\n.target sm_121\n.address_size 64";
        format!("{head}\n.extern .func (.param .b32 status) {declared};\n")
    };
    let member = ptx("__cuda_syscall_CGS_sync(.param .b64 group, .param .b32 flags)");
    barrier_works_with(&client, 2, &fat_binary(121, &member));
    barrier_works_with(&client, 2, &fat_binary(90, &member));
    let mut state = 0;
    let (null, none) = (std::ptr::null(), std::ptr::null_mut());
    ok!(cuLinkCreate_v2(0, null, none, &mut state));
    let others = [
        (4, library("somebodys.o/")),
        (2, fat_binary(121, &ptx("somebodys()"))),
    ];
    for (kind, other) in others {
        assert_eq!(add(state, kind, &other), Status::NO_BINARY_FOR_GPU.0);
    }
    ok!(cuLinkDestroy(state));
}

/// A kernel that needs many registers, and one that states how many it may have.
fn hungry() -> CString {
    let mut text = ".version 8.3\n.target sm_80\n.address_size 64\n".to_owned();
    for (name, directive) in [("many", ""), ("declared", ".maxntid 512, 1, 1")] {
        text += &format!(
            ".visible .entry {name}(.param .u64 p) {directive} {{
             .reg .b32 %r<200>; .reg .b64 %d; ld.param.u64 %d, [p];\n"
        );
        for i in 0..200 {
            text += &format!("ld.volatile.global.u32 %r{i}, [%d+{}];\n", 4 * i);
        }
        for i in 0..200 {
            text += &format!("st.volatile.global.u32 [%d+{}], %r{i};\n", 4 * i);
        }
        text += "ret; }\n";
    }
    CString::new(text).expect("no nul")
}

fn registers(module: usize, name: &CStr) -> i32 {
    let (mut function, mut n) = (0, 0);
    ok!(cuModuleGetFunction(&mut function, module, name.as_ptr()));
    ok!(cuFuncGetAttribute(&mut n, 4, function));
    n
}

/// `CU_JIT_MAX_REGISTERS` and `CU_JIT_THREADS_PER_BLOCK` apply where the kernel states nothing,
/// when loading and when linking.
#[test]
fn a_client_can_limit_registers() {
    let _client = Client::new();
    let text = hungry();
    let of = |option: u32, value: usize| {
        let mut values = [std::ptr::without_provenance_mut::<c_void>(value)];
        let (options, mut module) = ([option], 0);
        ok! {
            cuModuleLoadDataEx(
                &mut module, text.as_ptr().cast(), 1, options.as_ptr(), values.as_mut_ptr()
            )
        }
        (registers(module, c"many"), registers(module, c"declared"))
    };
    // An optimisation level.
    let (most, declared) = of(7, 4);
    assert!(most > 200, "{most}");
    assert!((100..=128).contains(&declared), "{declared}");
    let (n, same) = of(0, 64);
    assert!((24..=64).contains(&n), "{n}");
    assert_eq!(same, declared);
    // A block of this many threads can be launched.
    let (n, same) = of(1, 1024);
    assert!((24..=64).contains(&n), "{n}");
    assert_eq!(same, declared);

    let mut values = [std::ptr::without_provenance_mut::<c_void>(80)];
    let (status, module) = link(&[0], &mut values, &[(1, text.to_bytes_with_nul())]);
    ok(status);
    let n = registers(module, c"many");
    assert!((24..=80).contains(&n), "{n}");
    assert_eq!(registers(module, c"declared"), declared);
}

//! What is known of a kernel, and what it may be allowed.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use super::{api, put, put_if};
use crate::context::Context;
use crate::driver::driver;
use crate::module::{Function, SHARED_LIMIT};
use crate::status::{Outcome, Status};

/// `CU_FUNC_ATTRIBUTE_…`
const MAX_THREADS: u32 = 0;
const SHARED_BYTES: u32 = 1;
const CONST_BYTES: u32 = 2;
const LOCAL_BYTES: u32 = 3;
const REGISTERS: u32 = 4;
const PTX_VERSION: u32 = 5;
const BINARY_VERSION: u32 = 6;
const CACHE_MODE: u32 = 7;
const MAX_DYNAMIC_SHARED: u32 = 8;
const CARVEOUT: u32 = 9;
/// The last one: clusters and scheduling.
const LAST: u32 = 16;

fn attribute(function: &Function, number: u32) -> Outcome<i32> {
    let (major, minor) = driver()?.settings.compute;
    let limit = function.dynamic_shared_limit.load(Ordering::Relaxed);
    let known = function.attributes()?;
    let answer = match number {
        MAX_THREADS => known.max_threads.into(),
        SHARED_BYTES => known.static_shared_bytes.into(),
        CONST_BYTES => known.const_bytes,
        LOCAL_BYTES => known.local_bytes,
        REGISTERS => known.registers.into(),
        PTX_VERSION => known.target.into(),
        BINARY_VERSION => (10 * major + minor).into(),
        MAX_DYNAMIC_SHARED => dynamic_limit(limit, known.static_shared_bytes).into(),
        CARVEOUT => return Ok(-1),
        CACHE_MODE | 10..=LAST => 0,
        _ => return Err(Status::INVALID_VALUE),
    };
    Ok(i32::try_from(answer).unwrap_or(i32::MAX))
}

/// Dynamic shared memory that a kernel may have: the usual limit is for both kinds.
fn dynamic_limit(limit: u32, static_bytes: u32) -> u32 {
    match limit {
        SHARED_LIMIT => limit.saturating_sub(static_bytes),
        _ => limit,
    }
}

fn set_attribute(function: &Function, number: u32, value: i32) -> Outcome {
    match number {
        MAX_DYNAMIC_SHARED => function.set_dynamic_shared_limit(value),
        CARVEOUT if (-1..=100).contains(&value) => Ok(()),
        11..=LAST => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}

unsafe fn param_info(function: usize, i: usize, offset: *mut usize, size: *mut usize) -> Outcome {
    let function = Function::of(function)?;
    let found = function.with_info(|info| info.params.get(i).map(|p| (p.offset, p.size_bytes)))?;
    let (at, n_bytes) = found.ok_or(Status::INVALID_VALUE)?;
    unsafe {
        put(offset, at as usize)?;
        put_if(size, n_bytes as usize);
    }
    Ok(())
}

api! {
    fn cuFuncGetAttribute(out: *mut c_int, number: c_uint, function: usize) {
        Context::current()?;
        put(out, attribute(&*Function::of(function)?, number)?)
    }
    fn cuFuncSetAttribute(function: usize, number: c_uint, value: c_int) {
        Context::current()?;
        set_attribute(&*Function::of(function)?, number, value)
    }
    fn cuKernelGetAttribute(out: *mut c_int, number: c_uint, kernel: usize, device: c_int) {
        driver()?.device(device)?;
        put(out, attribute(&*Function::of(kernel)?, number)?)
    }
    fn cuKernelSetAttribute(number: c_uint, value: c_int, kernel: usize, device: c_int) {
        driver()?.device(device)?;
        set_attribute(&*Function::of(kernel)?, number, value)
    }
    fn cuFuncSetCacheConfig(function: usize, config: c_uint) {
        Function::of(function)?;
        if config > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
    fn cuFuncSetSharedMemConfig(function: usize, config: c_uint) {
        Function::of(function)?;
        if config > 2 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
    fn cuKernelSetCacheConfig(kernel: usize, config: c_uint, device: c_int) {
        driver()?.device(device)?;
        Function::of(kernel)?;
        if config > 3 { Err(Status::INVALID_VALUE) } else { Ok(()) }
    }
    fn cuFuncGetName(out: *mut *const c_char, function: usize) {
        // Good as long as the function is.
        put(out, Function::of(function)?.name.as_ptr())
    }
    fn cuKernelGetName(out: *mut *const c_char, kernel: usize) {
        put(out, Function::of(kernel)?.name.as_ptr())
    }
    fn cuFuncGetModule(out: *mut usize, function: usize) {
        let function = Function::of(function)?;
        put(out, function.own_module().ok_or(Status::INVALID_HANDLE)?.handle)
    }
    fn cuFuncGetParamInfo(function: usize, i: usize, offset: *mut usize, size: *mut usize) {
        param_info(function, i, offset, size)
    }
    fn cuKernelGetParamInfo(kernel: usize, i: usize, offset: *mut usize, size: *mut usize) {
        param_info(kernel, i, offset, size)
    }
    fn cuFuncIsLoaded(out: *mut c_uint, function: usize) {
        Function::of(function)?;
        put(out, 1)
    }
    fn cuFuncLoad(function: usize) {
        Function::of(function).map(drop)
    }
}

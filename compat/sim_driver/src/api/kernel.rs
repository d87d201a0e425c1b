//! A kernel's attributes, and the limits that can be set for it.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::atomic::Ordering;

use super::{api, put, put_if};
use crate::context::Context;
use crate::driver::driver;
use crate::module::Function;
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
const CLUSTER_MUST_BE_SET: u32 = 10;
const REQUIRED_CLUSTER_WIDTH: u32 = 11;
const REQUIRED_CLUSTER_DEPTH: u32 = 13;
const NON_PORTABLE_CLUSTER: u32 = 14;
/// The last one: which SMs a cluster gets.
const LAST: u32 = 16;

fn attribute(function: &Function, number: u32) -> Outcome<i32> {
    let (major, minor) = driver()?.settings.compute;
    let known = function.attributes()?;
    let bounds = function.with_info(|info| info.bounds)?;
    let answer = match number {
        MAX_THREADS => known.max_threads.into(),
        SHARED_BYTES => known.static_shared_bytes.into(),
        CONST_BYTES => known.const_bytes,
        LOCAL_BYTES => known.local_bytes,
        REGISTERS => known.registers.into(),
        PTX_VERSION => known.target.into(),
        BINARY_VERSION => (10 * major + minor).into(),
        MAX_DYNAMIC_SHARED => function.dynamic_limit(known.static_shared_bytes).into(),
        CARVEOUT => return Ok(-1),
        CLUSTER_MUST_BE_SET => bounds.needs_cluster.into(),
        REQUIRED_CLUSTER_WIDTH..=REQUIRED_CLUSTER_DEPTH => {
            let set = bounds.required_cluster.unwrap_or(*function.cluster_set());
            set[(number - REQUIRED_CLUSTER_WIDTH) as usize].into()
        }
        NON_PORTABLE_CLUSTER => function.is_non_portable.load(Ordering::Relaxed).into(),
        CACHE_MODE | 15..=LAST => 0,
        _ => return Err(Status::INVALID_VALUE),
    };
    Ok(i32::try_from(answer).unwrap_or(i32::MAX))
}

fn set_attribute(function: &Function, number: u32, value: i32) -> Outcome {
    match number {
        MAX_DYNAMIC_SHARED => function.set_dynamic_shared_limit(value),
        CARVEOUT if (-1..=100).contains(&value) => Ok(()),
        REQUIRED_CLUSTER_WIDTH..=REQUIRED_CLUSTER_DEPTH => {
            let axis = (number - REQUIRED_CLUSTER_WIDTH) as usize;
            require_cluster(function, axis, value)
        }
        NON_PORTABLE_CLUSTER if (0..=1).contains(&value) => {
            let is_allowed = value == 1;
            function
                .is_non_portable
                .store(is_allowed, Ordering::Relaxed);
            Ok(())
        }
        15..=LAST => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// Sets the number of blocks along an axis that the kernel's clusters must have, unless its PTX
/// says it.
fn require_cluster(function: &Function, axis: usize, value: i32) -> Outcome {
    let declared = function.with_info(|info| info.bounds.required_cluster)?;
    let n_blocks = u32::try_from(value).map_err(|_| Status::INVALID_VALUE)?;
    Status::NOT_PERMITTED.when(declared.is_some())?;
    function.cluster_set()[axis] = n_blocks;
    Ok(())
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
        // Valid as long as the function.
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

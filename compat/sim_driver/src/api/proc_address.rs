//! Functions by name.

use std::ffi::{c_char, c_int, c_uint};

use super::table::ALL;
use super::{api, put, put_if, text};
use crate::status::Status;

/// The function with this name, including the ones here.
fn function(name: &str) -> Option<*const ()> {
    let tables = ALL.iter().copied().chain([ENTRIES]);
    let entry = tables.flatten().find(|entry| entry.name == name)?;
    Some(entry.function)
}

/// The library's name for a function, for a caller built for this version of CUDA: later versions
/// of some functions take other arguments.
fn versioned(name: &str, version: i32) -> String {
    let since = |cuda: i32, later: &str, earlier: &str| {
        let chosen = if version >= cuda { later } else { earlier };
        chosen.to_owned()
    };
    match name {
        "cuCtxCreate" => since(13000, "cuCtxCreate_v4", "cuCtxCreate_v2"),
        "cuMemAdvise" => since(13000, "cuMemAdvise_v2", "cuMemAdvise"),
        "cuMemPrefetchAsync" => since(13000, "cuMemPrefetchAsync_v2", "cuMemPrefetchAsync"),
        "cuEventElapsedTime" => since(12080, "cuEventElapsedTime_v2", "cuEventElapsedTime"),
        "cuDeviceGetUuid" => since(11040, "cuDeviceGetUuid_v2", "cuDeviceGetUuid"),
        "cuStreamGetCaptureInfo" => since(
            12030,
            "cuStreamGetCaptureInfo_v3",
            "cuStreamGetCaptureInfo_v2",
        ),
        "cuGraphInstantiate" => since(
            12000,
            "cuGraphInstantiateWithFlags",
            "cuGraphInstantiate_v2",
        ),
        "cuGraphKernelNodeGetParams"
        | "cuGraphKernelNodeSetParams"
        | "cuGraphAddKernelNode"
        | "cuGraphExecKernelNodeSetParams"
        | "cuGraphExecUpdate" => since(12000, &format!("{name}_v2"), name),
        "cuGraphAddDependencies"
        | "cuGraphRemoveDependencies"
        | "cuGraphGetEdges"
        | "cuGraphNodeGetDependencies"
        | "cuGraphNodeGetDependentNodes"
        | "cuGraphAddNode" => since(13000, &format!("{name}_v2"), name),
        "cuGetProcAddress" => since(12000, "cuGetProcAddress_v2", "cuGetProcAddress"),
        // Their second versions have names of their own.
        "cuCtxSynchronize" | "cuCtxGetDevice" => name.to_owned(),
        _ => {
            let second = format!("{name}_v2");
            let exists = function(&second).is_some();
            if exists { second } else { name.to_owned() }
        }
    }
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const PER_THREAD_DEFAULT_STREAM: u64 = 2;

/// The function that a caller means; null if there is none.
fn find(name: &str, version: i32, flags: u64) -> *const () {
    let own = versioned(name, version);
    let variant = |end| function(&format!("{own}{end}"));
    let variant = match flags & PER_THREAD_DEFAULT_STREAM {
        0 => None,
        _ => variant("_ptsz").or_else(|| variant("_ptds")),
    };
    let found = variant.or_else(|| function(&own));
    let found = found.or_else(|| function(name));
    found.unwrap_or(std::ptr::null())
}

api! {
    fn cuGetProcAddress(name: *const c_char, out: *mut *const (), version: c_int, flags: u64) {
        let found = find(text(name)?, version, flags);
        put(out, found)?;
        if found.is_null() { Err(Status::NOT_FOUND) } else { Ok(()) }
    }
    fn cuGetProcAddress_v2(name: *const c_char, out: *mut *const (), version: c_int, flags: u64, status: *mut c_uint) {
        let found = find(text(name)?, version, flags);
        // Found, or no such symbol.
        put_if(status, if found.is_null() { 1 } else { 0 });
        put(out, found)?;
        if found.is_null() { Err(Status::NOT_FOUND) } else { Ok(()) }
    }
}

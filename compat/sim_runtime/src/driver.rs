//! The driver's functions that the runtime calls, found when they are first called.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use crate::error::{Error, Outcome};

/// Finds a driver function by name.
pub type Lookup = fn(&str) -> Option<*const ()>;

static LOOKUP: OnceLock<Lookup> = OnceLock::new();

/// Uses `lookup` to find the driver's functions, instead of `libcuda.so.1`, for a program that
/// contains a driver.
///
/// # Errors
/// Functions have already been looked up.
pub fn find_with(lookup: Lookup) -> Result<(), Lookup> {
    LOOKUP.set(lookup)
}

/// A function's address, looked up at its first call.
#[derive(Default)]
pub struct Place(OnceLock<Option<usize>>);

impl Place {
    /// Not looked up yet.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The address of the function with this name.
    ///
    /// # Errors
    /// There is no driver, or it has no such function.
    pub fn of(&self, name: &str) -> Outcome<*const ()> {
        let find = || {
            let lookup = LOOKUP.get_or_init(|| in_library);
            lookup(name).map(|function| function.addr())
        };
        let found = self.0.get_or_init(find);
        Ok(found.ok_or(Error::INSUFFICIENT_DRIVER)? as *const ())
    }
}

/// A function of `libcuda.so.1`.
fn in_library(name: &str) -> Option<*const ()> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = *LIBRARY.get_or_init(open);
    if library == 0 {
        return None;
    }
    let name = CString::new(name).ok()?;
    // SAFETY: the library stays open, and the name ends in a nul.
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found.cast_const().cast())
}

/// Opens the driver: the one that the program has loaded, the one next to this library, or the one
/// that the loader finds. Zero if there is none.
fn open() -> usize {
    const NAME: &CStr = c"libcuda.so.1";
    let open = |path: &CStr, flags| {
        // SAFETY: the path ends in a nul; the libraries' own initialisation is sound.
        unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | flags) }.addr()
    };
    let loaded = open(NAME, libc::RTLD_NOLOAD);
    if loaded != 0 {
        return loaded;
    }
    let beside = own_path().and_then(|path| {
        let path = path.parent()?.join("libcuda.so.1");
        CString::new(path.into_os_string().into_encoded_bytes()).ok()
    });
    match beside.map(|path| open(&path, 0)) {
        Some(library) if library != 0 => library,
        _ => open(NAME, 0),
    }
}

/// The file that this code was loaded from.
fn own_path() -> Option<std::path::PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    // SAFETY: all of its fields may be zero.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let own = own_path as *const c_void;
    // SAFETY: any address may be passed.
    if unsafe { libc::dladdr(own, &mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: it is a text of the loader.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
    std::path::absolute(path).ok()
}

/// A client's function that a stream or a graph calls.
pub type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// A client's function that a stream calls with its handle and a status.
pub type Callback = Option<unsafe extern "C" fn(usize, u32, *mut c_void)>;

/// Declares functions of the driver: here, those that are not called with the same arguments as a
/// function of the runtime; the others are declared with that function.
#[macro_export]
macro_rules! functions {
    ($(fn $name:ident($($arg:ident: $ty:ty),* $(,)?);)*) => {
        $(
            #[doc = concat!("See `", stringify!($name), "` in the driver API's reference.")]
            ///
            /// # Safety
            /// As stated there.
            ///
            /// # Errors
            /// The driver's error, or that there is no driver.
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "theirs")]
            pub unsafe fn $name($($arg: $ty),*) -> $crate::error::Outcome {
                static PLACE: $crate::driver::Place = $crate::driver::Place::new();
                let address = PLACE.of(stringify!($name))?;
                // SAFETY: the driver has it under this name, with these arguments.
                let function = unsafe {
                    std::mem::transmute::<*const (), unsafe extern "C" fn($($ty),*) -> u32>(address)
                };
                // SAFETY: the caller vouches for the arguments.
                $crate::error::outcome(unsafe { function($($arg),*) })
            }
        )*
    };
}
pub(crate) use crate::functions;

functions! {
    fn cuInit(flags: c_uint);
    fn cuDriverGetVersion(version: *mut c_int);
    fn lockstepNote(note: *const c_char);
    fn cuGetProcAddress_v2(name: *const c_char, out: *mut usize, version: c_int, flags: u64, status: *mut c_uint);

    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, len: c_int, device: c_int);
    fn cuDeviceGetUuid_v2(out: *mut [u8; 16], device: c_int);
    fn cuDeviceGetLuid(luid: *mut c_char, mask: *mut c_uint, device: c_int);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: c_int);
    fn cuDeviceGetAttribute(value: *mut c_int, number: c_uint, device: c_int);
    fn cuDeviceGetByPCIBusId(device: *mut c_int, id: *const c_char);

    fn cuDevicePrimaryCtxRetain(out: *mut usize, device: c_int);
    fn cuDevicePrimaryCtxReset_v2(device: c_int);
    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: c_uint);
    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut c_uint, active: *mut c_int);
    fn cuCtxGetCurrent(out: *mut usize);
    fn cuCtxSetCurrent(context: usize);
    fn cuCtxGetDevice(out: *mut c_int);
    fn cuCtxGetLimit(out: *mut usize, limit: c_uint);
    fn cuCtxSetLimit(limit: c_uint, value: usize);
    fn cuCtxEnablePeerAccess(peer: usize, flags: c_uint);
    fn cuCtxDisablePeerAccess(peer: usize);

    fn cuLinkCreate_v2(n: c_uint, options: *const c_uint, values: *mut *mut c_void, out: *mut usize);
    fn cuLinkAddData_v2(link: usize, kind: c_uint, data: *const c_void, size: usize, name: *const c_char, n: c_uint, options: *const c_uint, values: *mut *mut c_void);
    fn cuLinkComplete(link: usize, out: *mut *const c_void, size: *mut usize);
    fn cuLinkDestroy(link: usize);
    fn cuLibraryLoadData(out: *mut usize, image: *const c_void, options: *const c_uint, values: *mut *mut c_void, n: c_uint, library_options: *const c_uint, library_values: *mut *mut c_void, n_library: c_uint);
    fn cuLibraryUnload(library: usize);
    fn cuLibraryGetKernel(out: *mut usize, library: usize, name: *const c_char);
    fn cuLibraryGetGlobal(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char);
    fn cuLibraryGetManaged(address: *mut u64, n_bytes: *mut usize, library: usize, name: *const c_char);
    fn cuKernelGetFunction(out: *mut usize, kernel: usize);
    fn cuKernelGetAttribute(out: *mut c_int, number: c_uint, kernel: usize, device: c_int);
    fn cuKernelSetAttribute(number: c_uint, value: c_int, kernel: usize, device: c_int);
    fn cuKernelSetCacheConfig(kernel: usize, config: c_uint, device: c_int);
    fn cuFuncSetSharedMemConfig(function: usize, config: c_uint);
    fn cuKernelGetName(out: *mut *const c_char, kernel: usize);
    fn cuKernelGetParamInfo(kernel: usize, i: usize, offset: *mut usize, size: *mut usize);

    fn cuLaunchKernel(function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: usize, params: *const *mut c_void, extra: *const *mut c_void);
    fn cuLaunchCooperativeKernel(function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint, block_z: c_uint, shared_bytes: c_uint, stream: usize, params: *const *mut c_void);
    fn cuLaunchCooperativeKernelMultiDevice(list: *const crate::layouts::DriverLaunchParams, n: c_uint, flags: c_uint);
    fn cuLaunchKernelEx(config: *const crate::layouts::DriverLaunchConfig, function: usize, params: *const *mut c_void, extra: *const *mut c_void);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out: *mut c_int, function: usize, threads: c_int, shared_bytes: usize, flags: c_uint);
    fn cuOccupancyAvailableDynamicSMemPerBlock(out: *mut usize, function: usize, n_blocks: c_int, threads: c_int);
    fn cuOccupancyMaxPotentialClusterSize(out: *mut c_int, function: usize, config: *const crate::layouts::DriverLaunchConfig);
    fn cuOccupancyMaxActiveClusters(out: *mut c_int, function: usize, config: *const crate::layouts::DriverLaunchConfig);

    fn cuMemAlloc_v2(out: *mut u64, n_bytes: usize);
    fn cuMemAllocPitch_v2(out: *mut u64, pitch: *mut usize, width: usize, height: usize, element: c_uint);
    fn cuMemAllocManaged(out: *mut u64, n_bytes: usize, flags: c_uint);
    fn cuMemHostAlloc(out: *mut u64, n_bytes: usize, flags: c_uint);
    fn cuMemAllocAsync(out: *mut u64, n_bytes: usize, stream: usize);
    fn cuMemAllocFromPoolAsync(out: *mut u64, n_bytes: usize, pool: usize, stream: usize);
    fn cuPointerGetAttributes(n: c_uint, numbers: *const c_uint, out: *const *mut c_void, address: u64);

    fn cuMemcpy(to: u64, from: u64, n_bytes: usize);
    fn cuMemcpyHtoD_v2(to: u64, from: u64, n_bytes: usize);
    fn cuMemcpyDtoH_v2(to: u64, from: u64, n_bytes: usize);
    fn cuMemcpyDtoD_v2(to: u64, from: u64, n_bytes: usize);
    fn cuMemcpyAsync(to: u64, from: u64, n_bytes: usize, stream: usize);
    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize);
    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize);
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, n_bytes: usize, stream: usize);
    fn cuMemcpyPeer(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize);
    fn cuMemcpyPeerAsync(to: u64, to_context: usize, from: u64, from_context: usize, n_bytes: usize, stream: usize);
    fn cuMemcpy3D_v2(copy: *const crate::layouts::DriverCopy);
    fn cuMemcpy3DAsync_v2(copy: *const crate::layouts::DriverCopy, stream: usize);
    fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize);
    fn cuMemsetD2D8Async(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: usize);

    fn cuStreamCreateWithPriority(out: *mut usize, flags: c_uint, priority: c_int);
    fn cuStreamSynchronize(stream: usize);
    fn cuStreamGetCtx(stream: usize, out: *mut usize);
    fn cuStreamGetCaptureInfo_v3(stream: usize, status: *mut c_uint, id: *mut u64, graph: *mut usize, nodes: *mut *const usize, edges: *mut *const c_void, n: *mut usize);
    fn cuThreadExchangeStreamCaptureMode(mode: *mut c_uint);

    fn cuEventCreate(out: *mut usize, flags: c_uint);

    fn cuGraphAddKernelNode_v2(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const crate::layouts::DriverKernelNode);
    fn cuGraphAddMemcpyNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const crate::layouts::DriverCopy, context: usize);
    fn cuGraphAddMemsetNode(out: *mut usize, graph: usize, after: *const usize, n: usize, params: *const c_void, context: usize);
    fn cuGraphExecKernelNodeSetParams_v2(graph: usize, node: usize, params: *const crate::layouts::DriverKernelNode);
    fn cuGraphExecMemcpyNodeSetParams(graph: usize, node: usize, params: *const crate::layouts::DriverCopy, context: usize);
    fn cuGraphExecMemsetNodeSetParams(graph: usize, node: usize, params: *const c_void, context: usize);
    fn cuGraphKernelNodeGetParams_v2(node: usize, out: *mut crate::layouts::DriverKernelNode);
    fn cuGraphKernelNodeSetParams_v2(node: usize, params: *const crate::layouts::DriverKernelNode);
    fn cuGraphMemcpyNodeGetParams(node: usize, out: *mut crate::layouts::DriverCopy);
    fn cuGraphMemcpyNodeSetParams(node: usize, params: *const crate::layouts::DriverCopy);
}

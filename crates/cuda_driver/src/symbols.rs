//! The driver's functions as symbols of this program.
//!
//! Each symbol is a naked function with one jump through its own slot, so the arguments stay where
//! the caller put them and no signature is needed. A slot starts out as `stub`, which returns
//! `CUDA_ERROR_STUB_LIBRARY`: a call made before [`crate::load`] succeeded is an error, never a
//! crash.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// The driver's code for "this is a stub, no driver is loaded".
pub const CUDA_ERROR_STUB_LIBRARY: c_int = 34;

/// The target of a symbol's jump.
pub(crate) struct Slot(AtomicPtr<c_void>);

impl Slot {
    const fn new() -> Self {
        Self(AtomicPtr::new(stub as *mut c_void))
    }

    /// Redirects every later call of the symbol to `function`.
    pub(crate) fn set(&self, function: *mut c_void) {
        self.0.store(function, Ordering::Release);
    }
}

/// What a symbol does while no driver is loaded.
extern "C" fn stub() -> c_int {
    CUDA_ERROR_STUB_LIBRARY
}

/// One driver function: its name, its slot, and whether a driver without it is of any use to us.
pub(crate) struct Symbol {
    pub(crate) name: &'static str,
    pub(crate) slot: &'static Slot,
    pub(crate) required: bool,
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump_through {
    ($slot:path) => {
        core::arch::naked_asm!("jmp qword ptr [rip + {slot}]", slot = sym $slot)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump_through {
    ($slot:path) => {
        core::arch::naked_asm!(
            "adrp x16, {slot}",
            "ldr x16, [x16, :lo12:{slot}]",
            "br x16",
            slot = sym $slot
        )
    };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!(
    "cuda_driver supports only x86-64 and AArch64; the CUDA driver exists for no other processor"
);

macro_rules! driver_symbols {
    (required: $($required:ident)*; optional: $($optional:ident)*;) => {
        $(driver_symbols!(@define $required);)*
        $(driver_symbols!(@define $optional);)*

        /// Every symbol this crate defines.
        pub(crate) static SYMBOLS: &[Symbol] = &[
            $(Symbol { name: stringify!($required), slot: &slots::$required, required: true },)*
            $(Symbol { name: stringify!($optional), slot: &slots::$optional, required: false },)*
        ];

        #[allow(non_upper_case_globals)]
        mod slots {
            use super::Slot;
            $(pub(super) static $required: Slot = Slot::new();)*
            $(pub(super) static $optional: Slot = Slot::new();)*
        }
    };
    (@define $name:ident) => {
        /// Jumps to the driver's function of this name, or to the stub.
        ///
        /// # Safety
        ///
        /// Must be called with the signature that the driver documents for it.
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            jump_through!(slots::$name)
        }
    };
}

// Required: what `lockstep`'s engine and `query` call. Optional: the rest of what `cust` refers to
// (graphs, textures, linking, …), which the linker needs defined and which older or newer drivers
// may lack.
driver_symbols! {
    required:
        cuCtxGetCurrent cuCtxSetCurrent cuCtxSynchronize
        cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount cuDeviceGetName
        cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2
        cuDevicePrimaryCtxRetain cuDeviceTotalMem_v2
        cuDriverGetVersion
        cuEventCreate cuEventDestroy_v2 cuEventElapsedTime cuEventQuery cuEventRecord
        cuFuncGetAttribute cuFuncSetAttribute
        cuGetErrorName cuGetErrorString
        cuInit
        cuLaunchKernel
        cuMemAlloc_v2 cuMemFree_v2 cuMemFreeHost cuMemGetInfo_v2 cuMemHostAlloc
        cuMemHostGetDevicePointer_v2
        cuMemcpyDtoDAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoD_v2
        cuMemsetD8Async
        cuModuleGetFunction cuModuleGetGlobal_v2 cuModuleLoadDataEx cuModuleUnload
        cuStreamCreateWithPriority cuStreamDestroy_v2 cuStreamSynchronize;
    optional:
        cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayDestroy
        cuCtxCreate_v2 cuCtxDestroy_v2 cuCtxDisablePeerAccess cuCtxEnablePeerAccess
        cuCtxGetApiVersion cuCtxGetCacheConfig
        cuCtxGetDevice cuCtxGetFlags cuCtxGetLimit cuCtxGetSharedMemConfig
        cuCtxGetStreamPriorityRange cuCtxPopCurrent_v2 cuCtxPushCurrent_v2
        cuCtxSetCacheConfig cuCtxSetLimit cuCtxSetSharedMemConfig
        cuDestroyExternalMemory cuDeviceCanAccessPeer cuDeviceGetPCIBusId cuDevicePrimaryCtxSetFlags_v2
        cuEventSynchronize cuExternalMemoryGetMappedBuffer
        cuFuncSetCacheConfig cuFuncSetSharedMemConfig
        cuGraphAddKernelNode cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy
        cuGraphExecDestroy cuGraphGetEdges cuGraphGetNodes cuGraphInstantiateWithFlags
        cuGraphKernelNodeGetParams cuGraphLaunch cuGraphNodeGetType
        cuImportExternalMemory
        cuLaunchHostFunc cuLaunchKernelEx
        cuLinkAddData_v2 cuLinkComplete cuLinkCreate_v2 cuLinkDestroy
        cuMemAdvise cuMemAllocAsync cuMemAllocHost_v2 cuMemAllocManaged
        cuMemFreeAsync
        cuMemPrefetchAsync cuMemcpyDtoD_v2 cuMemcpy2D_v2 cuMemcpyAtoH_v2 cuMemcpyDtoHAsync_v2
        cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2
        cuMemsetD8_v2 cuMemsetD16Async cuMemsetD16_v2 cuMemsetD32Async cuMemsetD32_v2
        cuModuleLoad cuModuleLoadData
        cuOccupancyAvailableDynamicSMemPerBlock
        cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxPotentialBlockSize
        cuStreamBeginCapture_v2 cuStreamEndCapture
        cuStreamGetFlags cuStreamGetPriority cuStreamWaitEvent
        cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc
        cuTensorMapEncodeTiled cuTensorMapReplaceAddress
        cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc
        cuTexObjectGetResourceViewDesc;
}

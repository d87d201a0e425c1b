//! The status that a driver function returns.

use std::ffi::CStr;

use ptx_sim::LaunchError;
use ptx_sim::diagnostics::{FaultKind, WrongBlock};

/// A `CUresult` that is not a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Status(pub u32);

/// A function's result.
pub type Outcome<T = ()> = Result<T, Status>;

impl Status {
    /// This status, if a condition holds.
    pub fn when(self, holds: bool) -> Outcome {
        match holds {
            true => Err(self),
            false => Ok(()),
        }
    }
}

macro_rules! statuses {
    ($($number:literal $name:ident $text:literal;)*) => {
        impl Status {
            $(
                #[doc = concat!("`CUDA_ERROR_", stringify!($name), "`: ", $text, ".")]
                pub const $name: Self = Self($number);
            )*

            /// The name in `cuda.h`, and a description.
            pub fn texts(self) -> Option<(&'static CStr, &'static CStr)> {
                const fn c(text: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(text.as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text has a nul inside"),
                    }
                }
                match self.0 {
                    0 => Some((c"CUDA_SUCCESS", c"no error")),
                    $($number => Some((
                        const { c(concat!("CUDA_ERROR_", stringify!($name), "\0")) },
                        const { c(concat!($text, "\0")) },
                    )),)*
                    _ => None,
                }
            }
        }
    };
}

statuses! {
    1 INVALID_VALUE "invalid argument";
    2 OUT_OF_MEMORY "out of memory";
    3 NOT_INITIALIZED "initialization error";
    4 DEINITIALIZED "driver shutting down";
    5 PROFILER_DISABLED "profiler disabled while using external profiling tool";
    34 STUB_LIBRARY "CUDA driver is a stub library";
    46 DEVICE_UNAVAILABLE "CUDA-capable device(s) is/are busy or unavailable";
    100 NO_DEVICE "no CUDA-capable device is detected";
    101 INVALID_DEVICE "invalid device ordinal";
    200 INVALID_IMAGE "device kernel image is invalid";
    201 INVALID_CONTEXT "invalid device context";
    205 MAP_FAILED "mapping of buffer object failed";
    209 NO_BINARY_FOR_GPU "no kernel image is available for execution on the device";
    216 CONTEXT_ALREADY_IN_USE "exclusive-thread device already in use by a different thread";
    217 PEER_ACCESS_UNSUPPORTED "peer access is not supported between these two devices";
    218 INVALID_PTX "a PTX JIT compilation failed";
    221 JIT_COMPILER_NOT_FOUND "PTX JIT compiler library not found";
    222 UNSUPPORTED_PTX_VERSION "the provided PTX was compiled with an unsupported toolchain.";
    300 INVALID_SOURCE "device kernel image is invalid";
    301 FILE_NOT_FOUND "file not found";
    302 SHARED_OBJECT_SYMBOL_NOT_FOUND "shared object symbol not found";
    304 OPERATING_SYSTEM "OS call failed or operation not supported on this OS";
    400 INVALID_HANDLE "invalid resource handle";
    401 ILLEGAL_STATE "the operation cannot be performed in the present state";
    500 NOT_FOUND "named symbol not found";
    600 NOT_READY "device not ready";
    700 ILLEGAL_ADDRESS "an illegal memory access was encountered";
    701 LAUNCH_OUT_OF_RESOURCES "too many resources requested for launch";
    702 LAUNCH_TIMEOUT "the launch timed out and was terminated";
    704 PEER_ACCESS_ALREADY_ENABLED "peer access is already enabled";
    705 PEER_ACCESS_NOT_ENABLED "peer access has not been enabled";
    708 PRIMARY_CONTEXT_ACTIVE "cannot set while device is active in this process";
    709 CONTEXT_IS_DESTROYED "context is destroyed";
    710 ASSERT "device-side assert triggered";
    712 HOST_MEMORY_ALREADY_REGISTERED "part or all of the requested memory range is already mapped";
    713 HOST_MEMORY_NOT_REGISTERED "pointer does not correspond to a registered memory region";
    715 ILLEGAL_INSTRUCTION "an illegal instruction was encountered";
    716 MISALIGNED_ADDRESS "misaligned address";
    717 INVALID_ADDRESS_SPACE "operation not supported on global/shared address space";
    718 INVALID_PC "invalid program counter";
    719 LAUNCH_FAILED "unspecified launch failure";
    720 COOPERATIVE_LAUNCH_TOO_LARGE "too many blocks in cooperative launch";
    800 NOT_PERMITTED "operation not permitted";
    801 NOT_SUPPORTED "operation not supported";
    802 SYSTEM_NOT_READY "system not yet initialized";
    900 STREAM_CAPTURE_UNSUPPORTED "operation not permitted when stream is capturing";
    901 STREAM_CAPTURE_INVALIDATED "operation failed due to a previous error during capture";
    902 STREAM_CAPTURE_MERGE "operation would result in a merge of separate capture sequences";
    903 STREAM_CAPTURE_UNMATCHED "capture was not ended in the same stream as it began";
    904 STREAM_CAPTURE_UNJOINED "capturing stream has unjoined work";
    905 STREAM_CAPTURE_ISOLATION "dependency created on uncaptured work in another stream";
    906 STREAM_CAPTURE_IMPLICIT "operation would make the legacy stream depend on a capturing blocking stream";
    907 CAPTURED_EVENT "operation not permitted on an event last recorded in a capturing stream";
    908 STREAM_CAPTURE_WRONG_THREAD "attempt to terminate a thread-local capture sequence from another thread";
    910 GRAPH_EXEC_UPDATE_FAILURE "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    912 INVALID_CLUSTER_SIZE "a kernel launch error has occurred due to cluster misconfiguration";
    999 UNKNOWN "unknown error";
}

impl From<&LaunchError> for Status {
    /// What a GPU reports for a kernel that did this.
    fn from(error: &LaunchError) -> Self {
        match error {
            LaunchError::InvalidLaunch { .. } => Self::INVALID_VALUE,
            LaunchError::OutOfFuel(_) => Self::LAUNCH_TIMEOUT,
            LaunchError::Unsupported { .. } => Self::ILLEGAL_INSTRUCTION,
            LaunchError::HostOutOfMemory { .. } => Self::LAUNCH_OUT_OF_RESOURCES,
            LaunchError::Internal { .. } => Self::UNKNOWN,
            LaunchError::Fault(fault) => match &fault.kind {
                FaultKind::Misaligned { .. } => Self::MISALIGNED_ADDRESS,
                FaultKind::WrongSpace { .. }
                | FaultKind::WrongBlock {
                    why: WrongBlock::NotOwn { .. },
                    ..
                } => Self::INVALID_ADDRESS_SPACE,
                FaultKind::BadCallTarget { .. } | FaultKind::BadBranchIndex { .. } => {
                    Self::INVALID_PC
                }
                FaultKind::Trap {
                    message: Some(text),
                } if text.contains("assertion `") => Self::ASSERT,
                FaultKind::OutOfBounds { .. }
                | FaultKind::NullPointer { .. }
                | FaultKind::NotAPeer { .. }
                | FaultKind::UseAfterFree { .. }
                | FaultKind::ReadOnly { .. }
                | FaultKind::StackOverflow { .. } => Self::ILLEGAL_ADDRESS,
                // Barriers that are never left hang a GPU until a watchdog ends the kernel.
                FaultKind::BarrierDeadlock { .. } => Self::LAUNCH_TIMEOUT,
                _ => Self::LAUNCH_FAILED,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_texts() {
        let (name, text) = Status::ILLEGAL_ADDRESS.texts().expect("known");
        assert_eq!(name, c"CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(text, c"an illegal memory access was encountered");
        assert_eq!(Status(0).texts().expect("known").0, c"CUDA_SUCCESS");
        assert_eq!(Status(12345).texts(), None);
    }
}

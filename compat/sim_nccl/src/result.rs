//! The status that a function returns, and the text of the last error.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// `ncclResult_t`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code(pub u32);

impl Code {
    /// `ncclSuccess`
    pub const SUCCESS: Self = Self(0);
    /// `ncclUnhandledCudaError`
    pub const CUDA: Self = Self(1);
    /// `ncclSystemError`
    pub const SYSTEM: Self = Self(2);
    /// `ncclInternalError`
    pub const INTERNAL: Self = Self(3);
    /// `ncclInvalidArgument`
    pub const INVALID_ARGUMENT: Self = Self(4);
    /// `ncclInvalidUsage`
    pub const INVALID_USAGE: Self = Self(5);
    /// `ncclRemoteError`
    pub const REMOTE: Self = Self(6);
    /// `ncclInProgress`
    pub const IN_PROGRESS: Self = Self(7);

    /// What `ncclGetErrorString` says.
    pub fn text(self) -> &'static CStr {
        match self {
            Self::SUCCESS => c"no error",
            Self::CUDA => c"unhandled cuda error",
            Self::SYSTEM => c"unhandled system error",
            Self::INTERNAL => c"internal error",
            Self::INVALID_ARGUMENT => c"invalid argument",
            Self::INVALID_USAGE => c"invalid usage",
            Self::REMOTE => c"remote process exited or there was a network error",
            Self::IN_PROGRESS => c"NCCL operation in progress",
            _ => c"unknown result code",
        }
    }

    /// A failure with this code.
    pub fn because(self, text: impl Display) -> Failure {
        Failure {
            code: self,
            text: text.to_string(),
        }
    }
}

/// Why something failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What the function returns.
    pub code: Code,
    /// The reason.
    pub text: String,
}

/// A function's result.
pub type Outcome<T = ()> = Result<T, Failure>;

impl From<sim_runtime::Error> for Failure {
    fn from(error: sim_runtime::Error) -> Self {
        let name = sim_runtime::error::texts(error.0);
        let name = name.map_or("unknown".into(), |(name, _)| name.to_string_lossy());
        Code::CUDA.because(format_args!("the driver returned {} ({name})", error.0))
    }
}

/// An error for a wrong argument, unless it is right.
pub fn ensure(is_right: bool, text: impl Display) -> Outcome {
    match is_right {
        true => Ok(()),
        false => Err(Code::INVALID_ARGUMENT.because(text)),
    }
}

/// The last error of the process.
static LAST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// The last error of the thread's own calls.
    static OWN: RefCell<String> = RefCell::default();
}

/// Keeps an error's text for `ncclGetLastError`.
pub fn record(text: &str) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    text.clone_into(&mut last);
    let _ = OWN.try_with(|own| text.clone_into(&mut own.borrow_mut()));
}

/// The text of an error, or else of the last one of the thread, or of the process, for the client:
/// valid until the thread asks again.
pub fn lend(text: Option<String>) -> *const c_char {
    thread_local! {
        static LENT: RefCell<CString> = RefCell::default();
    }
    let last = || {
        let own = OWN.with_borrow(String::clone);
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_empty() { last.clone() } else { own }
    };
    let text = text.unwrap_or_else(last).replace('\0', " ");
    LENT.with_borrow_mut(|lent| {
        *lent = CString::new(text).unwrap_or_default();
        lent.as_ptr()
    })
}

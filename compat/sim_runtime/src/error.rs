//! The status that a runtime function returns, and the last error that a thread remembers.

use std::cell::Cell;
use std::ffi::CStr;

use crate::error_texts::TEXTS;

/// A `cudaError_t` that is not a success. The driver's errors have the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Error(pub u32);

/// A function's result.
pub type Outcome<T = ()> = Result<T, Error>;

impl Error {
    /// `cudaErrorInvalidValue`
    pub const INVALID_VALUE: Self = Self(1);
    /// `cudaErrorInvalidPitchValue`
    pub const INVALID_PITCH: Self = Self(12);
    /// `cudaErrorInvalidSymbol`
    pub const INVALID_SYMBOL: Self = Self(13);
    /// `cudaErrorInvalidMemcpyDirection`
    pub const INVALID_DIRECTION: Self = Self(21);
    /// `cudaErrorInsufficientDriver`
    pub const INSUFFICIENT_DRIVER: Self = Self(35);
    /// `cudaErrorMissingConfiguration`
    pub const MISSING_CONFIGURATION: Self = Self(52);
    /// `cudaErrorInvalidDeviceFunction`
    pub const INVALID_DEVICE_FUNCTION: Self = Self(98);
    /// `cudaErrorInvalidDevice`
    pub const INVALID_DEVICE: Self = Self(101);
    /// `cudaErrorInvalidKernelImage`
    pub const INVALID_KERNEL_IMAGE: Self = Self(200);
    /// `cudaErrorInvalidResourceHandle`
    pub const INVALID_HANDLE: Self = Self(400);
    /// `cudaErrorSymbolNotFound`
    pub const SYMBOL_NOT_FOUND: Self = Self(500);
    /// `cudaErrorNotSupported`
    pub const NOT_SUPPORTED: Self = Self(801);
    /// `cudaErrorUnknown`
    pub const UNKNOWN: Self = Self(999);

    /// Whether the context is unusable: nothing but a reset of the device clears it.
    pub fn is_sticky(self) -> bool {
        matches!(self.0, 214 | 220 | 226 | 700 | 702 | 710 | 714..=719 | 721)
    }
}

/// The result of a driver function.
pub fn outcome(code: u32) -> Outcome {
    match code {
        0 => Ok(()),
        code => Err(Error(code)),
    }
}

/// A result in which one error is told as another.
pub fn told_as<T>(outcome: Outcome<T>, error: Error, instead: Error) -> Outcome<T> {
    outcome.map_err(|own| if own == error { instead } else { own })
}

/// Name and text of an error, or of success.
pub fn texts(code: u32) -> Option<(&'static CStr, &'static CStr)> {
    let found = TEXTS.binary_search_by_key(&code, |&(number, ..)| number);
    found.ok().map(|i| (TEXTS[i].1, TEXTS[i].2))
}

thread_local! {
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Keeps an error as the thread's last one.
pub fn record(error: Error) {
    LAST.set(error.0);
}

/// The thread's last error.
pub fn last() -> u32 {
    LAST.get()
}

/// The thread's last error, which is forgotten unless it is sticky.
pub fn take_last() -> u32 {
    let last = LAST.get();
    if !Error(last).is_sticky() {
        LAST.set(0);
    }
    last
}

/// Forgets even a sticky error.
pub fn forget() {
    LAST.set(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_texts_in_order() {
        assert!(TEXTS.is_sorted_by(|a, b| a.0 < b.0));
        let (name, text) = texts(700).expect("known");
        assert_eq!(name, c"cudaErrorIllegalAddress");
        assert_eq!(text, c"an illegal memory access was encountered");
        assert_eq!(texts(0).expect("known").1, c"no error");
        assert_eq!(texts(4321), None);
    }
}

//! The objects of a launch on a GPU: context, stream, event, module, kernel, memory. Each is owned
//! by a value that frees it on drop.
//!
//! There are two versions of each, with the same functions: `cust`'s if the feature of that name is
//! on, as it is for the lessons, otherwise our own. Without a CUDA toolkit, `cust`'s build script
//! fails unless an environment variable names a folder, and a library cannot set that for the
//! packages that depend on it.
//!
//! Left out: what `cust` lacks. That is in [`driver`](super), which takes its handles from here.

mod attribute;
#[cfg(feature = "cust")]
mod by_cust;
#[cfg(not(feature = "cust"))]
mod own;

pub(crate) use attribute::Attribute;
#[cfg(feature = "cust")]
pub(crate) use by_cust::{Context, Event, Function, Module, Stream, memory};
#[cfg(not(feature = "cust"))]
pub(crate) use own::{Context, Event, Function, Module, Stream, memory};

/// Whose objects launches use: `cust`'s or `lockstep`'s own.
pub const BINDING: &str = if cfg!(feature = "cust") {
    "cust"
} else {
    "lockstep"
};

impl Event {
    /// An event that records the time when it completes.
    pub(crate) fn timed() -> Result<Self, cuda_driver::DriverError> {
        Self::new(true)
    }

    /// An event that only says whether it has completed.
    pub(crate) fn untimed() -> Result<Self, cuda_driver::DriverError> {
        Self::new(false)
    }
}

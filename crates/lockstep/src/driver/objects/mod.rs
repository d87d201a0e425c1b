//! The objects of a launch on a GPU: context, stream, event, module, kernel, memory. Each is owned
//! by a value that gives it back when dropped.
//!
//! There are two of each, with the same functions: those of `cust` where the feature of that name
//! is on, as it is for the lessons, and else our own. `cust`'s build script gives up where no CUDA
//! toolkit is installed unless an environment variable names a folder, and a library cannot set
//! that for the packages that depend on it.
//!
//! Left out: what `cust` has not. It stands in [`driver`](super), and takes its handles from here.

mod attribute;
#[cfg(feature = "cust")]
mod by_cust;
#[cfg(not(feature = "cust"))]
mod own;

pub(crate) use attribute::Attribute;
#[cfg(feature = "cust")]
pub(crate) use by_cust::{Context, Event, Function, Module, Stream, memory, synchronize};
#[cfg(not(feature = "cust"))]
pub(crate) use own::{Context, Event, Function, Module, Stream, memory, synchronize};

/// Whose objects launches are made of: `cust`'s or `lockstep`'s own.
pub const BINDING: &str = if cfg!(feature = "cust") {
    "cust"
} else {
    "lockstep"
};

impl Event {
    /// One that notes the time when it is passed.
    pub(crate) fn timed() -> Result<Self, cuda_driver::DriverError> {
        Self::new(true)
    }

    /// One that only tells whether it was passed.
    pub(crate) fn untimed() -> Result<Self, cuda_driver::DriverError> {
        Self::new(false)
    }
}

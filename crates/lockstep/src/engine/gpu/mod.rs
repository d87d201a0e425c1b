//! The GPU engine: a CUDA device through its driver.
//!
//! Every call waits for its end, so an error belongs to the launch that caused it and can name the
//! kernel. A fault, or a kernel that never ends, takes the GPU away from the process, as CUDA
//! documents and trials confirmed: neither resetting the primary context nor retaining it anew gets
//! it back. Everything after that is "not run", neither failed nor passed.
//!
//! In reading order: `session`, a context; `device`, which defines [`Gpu`]; `timing`, `alone`,
//! `timed`, `streams`, `peers`.

mod alone;
mod device;
mod libraries;
mod memory;
mod panics;
mod peers;
mod sensors;
mod session;
mod streams;
mod timed;
mod timing;

pub use crate::driver::objects::BINDING;
pub use device::Gpu;
pub(crate) use session::{TIME_LIMIT_OVERRIDE, time_limit};

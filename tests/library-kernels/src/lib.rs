//! Kernels that try out the device library, `cuda_std`, and ordinary Rust on the device.
//! They teach nothing; `tests/all` runs them and checks the results.
//!
//! Each feature is a PTX module of its own.
// Each test launches its kernel with buffers that fit; `# Safety` sections would
// all say so.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

#[cfg(feature = "library")]
pub mod collectives;
#[cfg(feature = "library")]
pub mod generic;
#[cfg(feature = "library")]
pub mod library;
#[cfg(feature = "library")]
pub mod grids;
#[cfg(feature = "math")]
pub mod math;
#[cfg(feature = "messages")]
pub mod messages;
#[cfg(feature = "ordinary")]
pub mod ordinary;
#[cfg(feature = "library")]
pub mod parameters;
#[cfg(feature = "library")]
pub mod printing;
#[cfg(feature = "library")]
pub mod shared;
#[cfg(feature = "library")]
pub mod views;

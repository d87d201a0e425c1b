//! The CUDA runtime's functions on top of the driver API.
//!
//! Programs compiled by nvcc with `-cudart shared` run without a GPU: this crate contains the
//! functions of `libcudart.so`, and `sim_runtime_library` makes them a `libcudart.so.12` and a
//! `libcudart.so.13`. They call the `libcuda.so.1` that the process has loaded, or the one next to
//! the runtime, so that a program which uses both APIs uses one driver.
//!
//! In reading order: [`error`]; [`layouts`], structures; [`driver`], where the driver's functions
//! are; [`current`], a thread's device and context; [`registry`], the kernels and variables that a
//! program contains, with `linking`; [`properties`]; [`api`], the functions themselves.
//!
//! The two versions share all functions except those whose arguments or structures differ: these
//! are in [`api::v12`] and [`api::v13`].
//!
//! Left out: textures, surfaces and arrays, sharing with other processes and other interfaces,
//! external memory and semaphores; those functions report that they are not supported.

pub mod api;
pub mod current;
pub mod driver;
pub mod error;
mod error_texts;
pub mod layouts;
mod linking;
pub mod properties;
pub mod registry;

pub use error::Error;

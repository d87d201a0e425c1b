//! The CUDA runtime's functions on the driver API.
//!
//! Programs that nvcc has compiled with `-cudart shared` run without a GPU: this crate has the
//! functions of `libcudart.so`, `sim_runtime_library` makes of them a `libcudart.so.12` and a
//! `libcudart.so.13`. Every function calls those of `libcuda.so.1` that the process has, or of
//! the one beside the runtime, so that a program which uses both uses one driver.
//!
//! In reading order: [`error`]; [`layouts`], structures; [`driver`], where the driver's functions
//! are; [`current`], the device and context of a thread; [`registry`], the kernels and variables
//! that a program brings, with `linking`; [`properties`]; [`api`], the functions themselves.
//!
//! The two versions share all functions but those whose arguments or structures differ: these
//! are in [`api::v12`] and [`api::v13`].
//!
//! Left out: textures, surfaces and arrays, sharing with other processes and other interfaces,
//! external memory and semaphores; those functions answer that they are not supported.

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

//! Loads the CUDA driver at run time, if there is one.
//!
//! `lockstep` and `cust` call the driver's functions (`cuInit`, `cuLaunchKernel`, …) as ordinary
//! external symbols; `cust` also asks the linker for `-lcuda`. Linked that way, a program does not
//! even start on a machine without a driver. This crate defines those symbols itself ([`symbols`]):
//! each is one jump through a table, which [`load`] fills from `libcuda.so.1`, and
//! [`load_functions`] from the simulator's driver. So the same binary builds without CUDA, starts
//! without a driver, and uses the driver if there is one. An empty `link/lib64/libcuda.a` satisfies
//! `-lcuda` (`.cargo/config.toml` points `cust`'s build script at it).
//!
//! Reading order: [`symbols`] (the table and the jumps), [`load`] (filling it),
//! [`query`] (what `doctor` asks a driver, without `cust`).
//!
//! Left out: anything that launches. That is `lockstep`'s work.

pub mod symbols;

mod load;
pub mod query;

pub use load::{
    DRIVER_LIBRARY, Driver, LIBRARY_OVERRIDE, LoadError, load, load_from, load_functions,
};
pub use query::{DeviceInfo, DriverError, DriverVersion, check};

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

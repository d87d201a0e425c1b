//! The device library, part by part, on the simulator: a file of tests for each file of
//! kernels.

mod bench;
mod collectives;
mod generic;
mod grids;
mod library;
mod math;
mod messages;
mod ordinary;
mod parameters;
mod printing;
mod shared;
mod views;

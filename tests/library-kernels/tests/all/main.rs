//! The device library, part by part, on the simulator: a file of tests for each file of
//! kernels.

mod bench;
mod library;
mod messages;
mod parameters;
mod printing;

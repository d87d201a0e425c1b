//! A debugger for kernels on the simulator.
//!
//! [`variables`]: where the source's variables are at an instruction of the PTX.

pub mod variables;

//! Comparisons of numbers with a GPU's, and tests that run too long to be run a second time with
//! the simulator's own checks, as the tests of `checked.rs` are.

mod arithmetic;
mod bulk;
mod clusters;
mod counters;
mod device;
mod dialects;
mod fidelity;
mod first_kernels;
mod hardware;
mod limits;
mod linking;
mod measured;
mod nvcc;
mod occupancy;
mod order;
mod random;
mod prefilter;
mod structure;
mod supported;
mod trace;
mod triton;
mod wgmma;

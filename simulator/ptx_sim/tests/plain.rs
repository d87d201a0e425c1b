//! Comparisons with a GPU's numbers, and tests that take too long to be repeated with the
//! simulator's internal checks, unlike those of `checked.rs`.

mod arithmetic;
mod bulk;
mod clusters;
mod counters;
mod debug;
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
mod reference;
mod prefilter;
mod structure;
mod supported;
mod trace;
mod triton;
mod wgmma;

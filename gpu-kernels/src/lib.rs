//! Every kernel of the catalogue, in Rust, for the GPU and the simulator.
#![no_std]

//! Views whose length the host cannot check.
use cuda_std::kernel;
use cuda_std::view::{Disjoint, Global, Linear};

#[kernel]
pub fn no_length(x: Global<f32>, z: Disjoint<f32, Linear>) {}

#[kernel]
pub fn no_tile(z: Disjoint<[[f32; n]; n]>, n: u32) {}

#[kernel]
pub fn two_maps(z: Disjoint<[f32; n], Linear, Linear>, n: u32) {}

#[kernel]
pub fn no_such_parameter(x: Global<[f32; n]>) {}

#[kernel]
pub fn computed(x: Global<[f32; n * n]>, n: u32) {}

#[kernel]
pub fn of_another_type(x: Global<[f32; n]>, n: u64) {}

use cuda_std::view::{Block as Threads, Global as View};

#[kernel]
pub fn renamed(x: View<[[f32; n]; 8]>, n: u32) {}

#[kernel]
pub fn renamed_block(block: Threads, n: u32) {}

fn main() {}

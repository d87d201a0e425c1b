//! An output's element that is not known to be the thread's own.
use cuda_std::view::{Disjoint, Linear, Place};
use cuda_std::{kernel, thread};

#[kernel]
pub fn by_number(mut z: Disjoint<[f32; n], Linear>, n: u32) {
    if let Some(z) = z.at(thread::index_1d()) {
        z.set(1.0);
    }
}

#[kernel]
pub fn forged(mut z: Disjoint<[f32; n], Linear>, n: u32) {
    if let Some(z) = z.at(Place { index: 3 }) {
        z.set(1.0);
    }
}

fn main() {}

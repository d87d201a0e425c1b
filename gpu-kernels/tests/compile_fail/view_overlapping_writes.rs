//! Two threads that would write one element.
use cuda_std::kernel;
use cuda_std::view::{Disjoint, Exchanged, Linear};

/// Even threads by one map, odd ones by another: two maps for one output.
#[kernel]
pub fn two_maps(
    mut z: Disjoint<[f32; n], Linear>,
    other: Disjoint<[f32; n], Exchanged<Linear>>,
    n: u32,
) {
    let place = other.place();
    if let Some(z) = z.at(place) {
        z.set(1.0);
    }
}

/// A second handle to the same memory.
#[kernel]
pub fn two_handles(mut z: Disjoint<[f32; n], Linear>, n: u32) {
    let mut again = z.clone();
    let place = z.place();
    if let (Some(one), Some(two)) = (z.at(place), again.at(place)) {
        one.set(1.0);
        two.set(2.0);
    }
}

fn main() {}

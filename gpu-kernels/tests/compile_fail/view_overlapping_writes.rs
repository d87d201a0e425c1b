//! Two threads that would write one element.
use cuda_std::kernel;
use cuda_std::view::{Disjoint, GridStride};

/// An element by its number, which other threads know too.
#[kernel]
pub fn by_number(mut z: Disjoint<[f32; n]>, n: u32) {
    z[0] = 1.0;
}

/// A second handle to the same memory.
#[kernel]
pub fn two_handles(mut z: Disjoint<[f32; n]>, n: u32) {
    let mut again = z.clone();
    if let (Some(one), Some(two)) = (z.own(), again.own()) {
        one.set(1.0);
        two.set(2.0);
    }
}

/// Its own element twice at once.
#[kernel]
pub fn two_elements(mut z: Disjoint<[f32; n]>, n: u32) {
    if let (Some(one), Some(two)) = (z.own(), z.own()) {
        one.set(1.0);
        two.set(2.0);
    }
}

/// All of its own elements twice at once.
#[kernel]
pub fn two_rounds(mut z: Disjoint<[f32; n], GridStride>, n: u32) {
    for (_, one) in z.own_elements() {
        for (_, two) in z.own_elements() {
            two.set(1.0);
        }
        one.set(2.0);
    }
}

fn main() {}

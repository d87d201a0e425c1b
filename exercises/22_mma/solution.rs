//! B is transposed; C has one element per register.

use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, mma};
use cuda_std::prelude::*;
use cuda_std::vector::F16x2;
use cuda_std::warp::lane_id;

/// Row and column of A's element in one half (0 is the low one) of a lane's register.
const fn a_place(lane: u32, register: u32, half: u32) -> (u32, u32) {
    (
        lane / 4 + register % 2 * 8,
        lane % 4 * 2 + half + register / 2 * 8,
    )
}

/// Row and column of B's element in one half of a lane's register.
const fn b_place(lane: u32, register: u32, half: u32) -> (u32, u32) {
    (lane % 4 * 2 + half + register * 8, lane / 4)
}

/// Row and column of C's element in a lane's register.
const fn c_place(lane: u32, register: u32) -> (u32, u32) {
    (lane / 4 + register / 2 * 8, lane % 4 * 2 + register % 2)
}

/// # Safety
///
/// `a` holds 16 rows of 16 elements, `b` and `c` hold 16 rows of 8. One warp.
#[kernel]
pub unsafe fn product(a: *const f16, b: *const f16, c: *mut f32) {
    let lane = lane_id();
    let of_a = |register, half| {
        let (row, column) = a_place(lane, register, half);
        *a.add((16 * row + column) as usize)
    };
    let of_b = |register, half| {
        let (row, column) = b_place(lane, register, half);
        *b.add((8 * row + column) as usize)
    };
    let a = [0, 1, 2, 3].map(|r| F16x2::new(of_a(r, 0), of_a(r, 1)).to_bits());
    let b = [0, 1].map(|r| F16x2::new(of_b(r, 0), of_b(r, 1)).to_bits());
    let a = FragmentA::<f16, M16N8K16>::new(a);
    let b = FragmentB::<f16, M16N8K16>::new(b);
    let product: FragmentC<f32> = mma(a, b, FragmentC::zero());
    for register in 0..4 {
        let (row, column) = c_place(lane, register);
        *c.add((8 * row + column) as usize) = product.registers[register as usize];
    }
}

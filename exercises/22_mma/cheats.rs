//! Kernels that must not pass, and how they fail.

use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, mma};
use cuda_std::prelude::*;
use cuda_std::vector::F16x2;
use cuda_std::warp::lane_id;

/// B is loaded like A.
///
/// fails: result: occur nowhere
#[kernel]
pub unsafe fn not_turned(a: *const f16, b: *const f16, c: *mut f32) {
    let lane = lane_id();
    let of_a = |register: u32, half: u32| {
        let (row, column) = (
            lane / 4 + register % 2 * 8,
            lane % 4 * 2 + half + register / 2 * 8,
        );
        *a.add((16 * row + column) as usize)
    };
    let of_b = |register: u32, half: u32| {
        let (row, column) = (lane / 4 + register * 8, lane % 4 * 2 + half);
        *b.add((8 * row + column) as usize)
    };
    let a = [0, 1, 2, 3].map(|r| F16x2::new(of_a(r, 0), of_a(r, 1)).to_bits());
    let b = [0, 1].map(|r| F16x2::new(of_b(r, 0), of_b(r, 1)).to_bits());
    let product: FragmentC<f32> = mma(
        FragmentA::<f16, M16N8K16>::new(a),
        FragmentB::<f16, M16N8K16>::new(b),
        FragmentC::zero(),
    );
    for register in 0..4 {
        let (row, column) = (lane / 4 + register / 2 * 8, lane % 4 * 2 + register % 2);
        *c.add((8 * row + column) as usize) = product.registers[register as usize];
    }
}

/// Without the tensor cores.
///
/// fails: contract: by the tensor cores
#[kernel]
pub unsafe fn plain_loops(a: *const f16, b: *const f16, c: *mut f32) {
    for part in 0..4 {
        let element = (32 * part + lane_id()) as usize;
        let (row, column) = (element / 8, element % 8);
        let mut sum = 0.0;
        for k in 0..16 {
            sum += (*a.add(16 * row + k)).to_f32() * (*b.add(8 * k + column)).to_f32();
        }
        *c.add(element) = sum;
    }
}

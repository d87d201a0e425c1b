//! # Who holds what in a product
//!
//! A tensor core computes C = A·B with A of 16×16, B of 16×8 and C of 16×8 elements, with one
//! instruction of a whole warp. Each lane holds a few elements of each matrix. For A:
//!
//! ```text
//!   register 0          columns 0 1   2 3   4 5   6 7
//!              row 0     lane    0     1     2     3      two neighbours in each register,
//!              row 1             4     5     6     7      the left one in its low half
//!              …
//!              row 7            28    29    30    31
//!   register 1: the same in rows 8 to 15; register 2 in columns 8 to 15; register 3 in both
//! ```
//!
//! B is held as A is, with rows and columns exchanged, in two registers: register 0 has rows 0 to
//! 7, register 1 rows 8 to 15. C is f32: each element has a register of its own. The pairs in A's
//! registers 0 and 1 correspond to C's registers 0 and 1, and 2 and 3.
//!
//! **Predict:** which lane, and which of its registers, holds C[9][5]?
//!
//! **Change** `b_place` and `c_place`.

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
    (0, 0) // ←
}

/// Row and column of C's element in a lane's register.
const fn c_place(lane: u32, register: u32) -> (u32, u32) {
    (lane / 4, register) // ←
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

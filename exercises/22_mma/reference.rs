//! One thread, three loops.

use cuda_std::half::f16;
use cuda_std::prelude::*;

/// # Safety
///
/// `a` holds 16 rows of 16 elements, `b` and `c` hold 16 rows of 8.
#[kernel]
pub unsafe fn product(a: *const f16, b: *const f16, c: *mut f32) {
    for row in 0..16 {
        for column in 0..8 {
            let mut sum = 0.0;
            for k in 0..16 {
                sum += (*a.add(16 * row + k)).to_f32() * (*b.add(8 * k + column)).to_f32();
            }
            *c.add(8 * row + column) = sum;
        }
    }
}

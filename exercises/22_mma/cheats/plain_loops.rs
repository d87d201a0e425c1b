//! Without the tensor cores.
//!
//! fails: contract: by the tensor cores

use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::warp::lane_id;

/// # Safety
///
/// `a` holds 16 rows of 16 elements, `b` and `c` hold 16 rows of 8. One warp.
#[kernel]
pub unsafe fn product(a: *const f16, b: *const f16, c: *mut f32) {
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

//! Moves even the last piece as a whole.
//!
//! fails: out-of-bounds: fewer than four elements

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

/// # Safety
///
/// `x`, `y` and `z` hold `n` elements and begin at multiples of 16 bytes.
#[kernel]
pub unsafe fn add(x: *const f32, y: *const f32, z: *mut f32, n: u32) {
    let first = 4 * thread::index_1d();
    if first < n {
        let at = first as usize;
        let a = Float4::load(x.add(at).cast());
        let b = Float4::load(y.add(at).cast());
        let sum = Float4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        sum.store(z.add(at).cast());
    }
}

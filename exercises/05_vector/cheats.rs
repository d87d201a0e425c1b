//! Kernels that must not pass, and how they fail.

use cuda_std::prelude::*;
use cuda_std::vector::Float4;

/// Moves even the last piece as a whole.
///
/// fails: out-of-bounds: fewer than four elements
#[kernel]
pub unsafe fn past_the_end(x: *const f32, y: *const f32, z: *mut f32, n: u32) {
    let first = 4 * thread::index_1d();
    if first < n {
        let at = first as usize;
        let a = Float4::load(x.add(at).cast());
        let b = Float4::load(y.add(at).cast());
        let sum = Float4::new(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
        sum.store(z.add(at).cast());
    }
}

/// Loads pieces, and stores elements.
///
/// fails: count: the stores do not yet
#[kernel]
pub unsafe fn single_stores(x: *const f32, y: *const f32, z: *mut f32, n: u32) {
    let first = 4 * thread::index_1d();
    if first + 4 <= n {
        let at = first as usize;
        let a = Float4::load(x.add(at).cast());
        let b = Float4::load(y.add(at).cast());
        *z.add(at) = a.x + b.x;
        *z.add(at + 1) = a.y + b.y;
        *z.add(at + 2) = a.z + b.z;
        *z.add(at + 3) = a.w + b.w;
        return;
    }
    for i in first..n {
        let at = i as usize;
        *z.add(at) = *x.add(at) + *y.add(at);
    }
}

//! Each lane handles its element in one of two rounds, by its sector: few sectors per request, but
//! twice as many requests.
//!
//! fails: count: and one more

use cuda_std::prelude::*;

/// # Safety
///
/// `x` and `y` hold `n` elements.
#[kernel]
pub unsafe fn fill_tail(x: *const f32, y: *mut f32, first: u32, n: u32) {
    let i = first + thread::index_1d();
    for round in 0..2 {
        if i < n && i / 8 % 2 == round {
            let value = core::ptr::read_volatile(x.add(i as usize));
            core::ptr::write_volatile(y.add(i as usize), 2.0 * value);
        }
    }
}

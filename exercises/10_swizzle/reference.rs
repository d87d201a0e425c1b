//! One thread, two loops.

use cuda_std::prelude::*;

/// # Safety
///
/// `input` and `output` hold `n` rows of `n` elements.
#[kernel]
pub unsafe fn transpose(input: *const f32, output: *mut f32, n: u32) {
    for row in 0..n {
        for column in 0..n {
            *output.add((column * n + row) as usize) = *input.add((row * n + column) as usize);
        }
    }
}

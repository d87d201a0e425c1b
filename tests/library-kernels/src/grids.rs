//! A launch as a whole, and the clocks.

use cuda_std::prelude::*;
use cuda_std::{clock, grid};

/// In each round every element is added that of the next block, which a barrier keeps from changing
/// meanwhile.
#[inline(always)]
unsafe fn add_around(values: *mut u32, n_rounds: u32) {
    let n = thread::grid_dim_y() * thread::grid_dim_x() * thread::n_threads_in_block();
    let own = values.add(thread::index() as usize);
    let next = (thread::index() + thread::n_threads_in_block()) % n;
    for _ in 0..n_rounds {
        let added = *values.add(next as usize);
        grid::sync();
        *own = (*own).wrapping_add(added);
        grid::sync();
    }
}

/// `add_around`, whose blocks are all there at once.
#[kernel(cooperative)]
pub unsafe fn adds_around(values: *mut u32, n_rounds: u32) {
    add_around(values, n_rounds);
}

/// The same without the mark.
#[kernel]
pub unsafe fn adds_around_unmarked(values: *mut u32, n_rounds: u32) {
    add_around(values, n_rounds);
}

/// The clocks before and after some work: 6 words per thread.
#[kernel]
pub unsafe fn clocks(out: *mut u64, n: u32) {
    let place = out.add(6 * thread::index_1d() as usize);
    *place = clock::clock().into();
    *place.add(1) = clock::clock64();
    *place.add(2) = clock::globaltimer();
    for i in 0..n {
        place.add(3).write_volatile(i.into());
    }
    *place.add(3) = clock::clock().into();
    *place.add(4) = clock::clock64();
    *place.add(5) = clock::globaltimer();
}

//! A histogram of bytes, *privatised*: a block counts in shared memory, and then adds its counts to
//! the result. So at most 256 threads of a block meet at one address, and the result's few cache
//! lines see one addition per block and bin.

use cuda_std::atomic;
use cuda_std::prelude::*;
use cuda_std::thread::{grid_dim_x, index_1d, sync_threads, thread_idx_x};
use cuda_std::view::{Atomic, Block, Filling, Global};

/// Values that a byte has.
pub const BINS: u32 = 256;
/// Threads of a block, one per bin.
pub const THREADS: u32 = BINS;

const fn in_a_row(_row: u32, bin: u32) -> usize {
    bin as usize
}

cuda_std::tile_layout! {
    /// A block's counts.
    pub Bins = in_a_row(1, BINS);
}

/// Adds the number of bytes `b` to `counts[b]`. Each word has four bytes.
#[kernel(launch_bounds(THREADS))]
pub fn count_bytes(
    words: Global<[u32; n]>,
    counts: Atomic<[u32; BINS]>,
    n: u32,
    mut bins: Filling<u32, Bins>,
    block: Block,
) {
    bins.put(0);
    let bins = block.sync_for_adding(bins);
    let mut i = index_1d();
    while let Some(word) = words.get(i) {
        for byte in 0..4 {
            bins.add(0, word >> (8 * byte) & 0xFF, 1);
        }
        i += grid_dim_x() * THREADS;
    }
    let bins = block.sync(bins);
    let bin = thread_idx_x();
    counts.add(bin, bins.get(0, bin));
}

/// [`count_bytes`] with pointers.
///
/// # Safety
///
/// There are `n` words, and `BINS` counts. A block has `THREADS` threads.
#[kernel(launch_bounds(THREADS))]
pub unsafe fn count_bytes_by_pointers(words: *const u32, counts: *mut u32, n: u32) {
    let bins = shared_array![u32; BINS as usize];
    let bin = thread_idx_x() as usize;
    *bins.add(bin) = 0;
    sync_threads();
    let mut i = index_1d();
    while i < n {
        let word = *words.add(i as usize);
        for byte in 0..4 {
            let bin = bins.add((word >> (8 * byte) & 0xFF) as usize);
            atomic::add(bin, 1, atomic::Shared, atomic::Block, atomic::Relaxed);
        }
        i += grid_dim_x() * THREADS;
    }
    sync_threads();
    let count = *bins.add(bin);
    atomic::add(
        counts.add(bin),
        count,
        atomic::Global,
        atomic::Device,
        atomic::Relaxed,
    );
}

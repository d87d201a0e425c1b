//! # One tile ahead
//!
//! Each block adds up tiles of 256 elements. It has room for two tiles: while one is added up, the
//! next one is copied by `cp_async`, alongside the threads. Each thread copies 16 bytes of a
//! tile, and adds up 16 bytes that *another* thread has copied.
//!
//! ```text
//!   round          0             1             2
//!   copies to      tile 1        tile 0        tile 1       started ahead, for the next round
//!   adds up        tile 0        tile 1        tile 0
//! ```
//!
//! Copies are gathered into groups, which complete in the order in which they were closed.
//!
//! **Predict:** in round 0, how many groups has a thread closed when it comes to the wait? Which of
//! them has to be done, and which may go on?
//!
//! **Change** the wait.

use cuda_std::cp_async;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

/// Threads per block, and pieces of 16 bytes per tile.
const BLOCK: u32 = 64;

/// # Safety
///
/// `x` holds `n_tiles` tiles of 256 elements for each block, `sums` one element for each thread.
/// Blocks have [`BLOCK`] threads.
#[kernel]
pub unsafe fn row_sums(x: *const f32, sums: *mut f32, n_tiles: u32) {
    let tiles = shared_array![Float4; 2 * BLOCK as usize];
    let t = thread::thread_idx_x();
    let pieces = x
        .cast::<Float4>()
        .add((thread::block_idx_x() * n_tiles * BLOCK) as usize);
    let copy = |tile: u32| {
        if tile < n_tiles {
            let to = tiles.add((tile % 2 * BLOCK + t) as usize);
            cp_async::cg(to, pieces.add((tile * BLOCK + t) as usize));
        }
        cp_async::commit_group();
    };
    copy(0);
    let mut sum = 0.0;
    for tile in 0..n_tiles {
        copy(tile + 1);
        cp_async::wait_group::<2>(); // ←
        thread::sync_threads();
        let opposite = tiles.add((tile % 2 * BLOCK + BLOCK - 1 - t) as usize);
        let piece = Float4::load(opposite);
        sum += piece.x + piece.y + piece.z + piece.w;
        // Before the next round copies to the tile that was just added up.
        thread::sync_threads();
    }
    *sums.add(thread::index_1d() as usize) = sum;
}

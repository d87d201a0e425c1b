//! Kernels that must not pass, and how they fail.

use cuda_std::cp_async;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

/// Waits for its own copies, and reads another thread's.
///
/// fails: race: after a barrier that follows the wait
#[kernel]
pub unsafe fn no_barrier_before(x: *const f32, sums: *mut f32, n_tiles: u32) {
    let tiles = shared_array![Float4; 128];
    let t = thread::thread_idx_x();
    let pieces = x
        .cast::<Float4>()
        .add((thread::block_idx_x() * n_tiles * 64) as usize);
    let copy = |tile: u32| {
        if tile < n_tiles {
            let to = tiles.add((tile % 2 * 64 + t) as usize);
            cp_async::cg(to, pieces.add((tile * 64 + t) as usize));
        }
        cp_async::commit_group();
    };
    copy(0);
    let mut sum = 0.0;
    for tile in 0..n_tiles {
        copy(tile + 1);
        cp_async::wait_group::<1>();
        let piece = Float4::load(tiles.add((tile % 2 * 64 + 63 - t) as usize));
        sum += piece.x + piece.y + piece.z + piece.w;
        thread::sync_threads();
    }
    *sums.add(thread::index_1d() as usize) = sum;
}

/// No barrier before the tile is copied to again.
///
/// fails: in-flight: or copied to again
#[kernel]
pub unsafe fn no_barrier_behind(x: *const f32, sums: *mut f32, n_tiles: u32) {
    let tiles = shared_array![Float4; 128];
    let t = thread::thread_idx_x();
    let pieces = x
        .cast::<Float4>()
        .add((thread::block_idx_x() * n_tiles * 64) as usize);
    let copy = |tile: u32| {
        if tile < n_tiles {
            let to = tiles.add((tile % 2 * 64 + t) as usize);
            cp_async::cg(to, pieces.add((tile * 64 + t) as usize));
        }
        cp_async::commit_group();
    };
    copy(0);
    let mut sum = 0.0;
    for tile in 0..n_tiles {
        copy(tile + 1);
        cp_async::wait_group::<1>();
        thread::sync_threads();
        let piece = Float4::load(tiles.add((tile % 2 * 64 + 63 - t) as usize));
        sum += piece.x + piece.y + piece.z + piece.w;
    }
    *sums.add(thread::index_1d() as usize) = sum;
}

/// Waits for everything, even the tile that should run ahead.
///
/// fails: contract: nothing runs ahead
#[kernel]
pub unsafe fn wait_for_all(x: *const f32, sums: *mut f32, n_tiles: u32) {
    let tiles = shared_array![Float4; 128];
    let t = thread::thread_idx_x();
    let pieces = x
        .cast::<Float4>()
        .add((thread::block_idx_x() * n_tiles * 64) as usize);
    let copy = |tile: u32| {
        if tile < n_tiles {
            let to = tiles.add((tile % 2 * 64 + t) as usize);
            cp_async::cg(to, pieces.add((tile * 64 + t) as usize));
        }
        cp_async::commit_group();
    };
    copy(0);
    let mut sum = 0.0;
    for tile in 0..n_tiles {
        copy(tile + 1);
        cp_async::wait_group::<0>();
        thread::sync_threads();
        let piece = Float4::load(tiles.add((tile % 2 * 64 + 63 - t) as usize));
        sum += piece.x + piece.y + piece.z + piece.w;
        thread::sync_threads();
    }
    *sums.add(thread::index_1d() as usize) = sum;
}

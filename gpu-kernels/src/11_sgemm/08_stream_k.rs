//! Stream-K: every SM works to the end.
//!
//! [`sgemm_warp_specialized`](super::warp_specialized::sgemm_warp_specialized) gives each block one tile.
//! At 4096³ that is 512 tiles on 132 SMs: three waves and 0.88 of a
//! fourth, in which some SMs are idle. And at the start of every tile nothing
//! is multiplied until the first copies arrive.
//!
//! Here there is one persistent block per SM. Its copiers go on with the
//! next tile while its multipliers store the last one. The partial wave
//! is cut into equal shares ([`super::partition`]).

use cuda_std::atomic::{self, Acquire, Device, Global, Relaxed, Release};
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

use super::copies::{TILE_ROWS, has_chunks, n_tiles};
use super::fragments::{Place, Sums, store_sums};
use super::partition::{Part, StreamK};
use super::unrolled;
use super::warp_specialized::{
    self, Copier, Multiplier, N_MULTIPLIERS, Product, TILE_COLUMNS, TILE_K, is_copier, n_tiles_of_c,
};

/// Elements of a tile of C.
const TILE_ELEMENTS: u32 = TILE_ROWS * TILE_COLUMNS;
/// The barrier at which the multipliers meet.
const MULTIPLIERS_MEET: u32 = 1;

/// Where blocks leave sums for other blocks: room for one tile's sums per block, and a flag.
#[derive(Clone, Copy)]
struct Left {
    sums: *mut f32,
    flags: *mut u32,
}

impl Left {
    /// The thread's first chunk of what `block` leaves. The next ones follow, each
    /// a chunk of every thread further, so that lanes are side by side.
    #[inline(always)]
    unsafe fn chunks(self, block: u32) -> *mut Float4 {
        self.sums
            .add(block as usize * TILE_ELEMENTS as usize)
            .cast::<Float4>()
            .add(thread::thread_idx_x() as usize)
    }

    /// Leaves sums for a block with a higher number.
    #[inline(always)]
    unsafe fn put(self, block: u32, sums: &Sums) {
        let chunks = self.chunks(block);
        unrolled!(R in [0 1 2 3 4 5 6 7] {
            unrolled!(I in [0 1 2 3] {
                let s = [sums[R][4 * I], sums[R][4 * I + 1], sums[R][4 * I + 2], sums[R][4 * I + 3]];
                Float4::new(s[0], s[1], s[2], s[3])
                    .store(chunks.add((R * 4 + I) * N_MULTIPLIERS as usize));
            });
        });
        thread::sync_some_threads::<MULTIPLIERS_MEET, N_MULTIPLIERS>();
        if thread::thread_idx_x() == 0 {
            atomic::store(self.flags.add(block as usize), 1, Global, Device, Release);
        }
    }

    /// Adds what `block` has left, once it has, and clears its flag for the next launch.
    #[inline(always)]
    unsafe fn add(self, block: u32, sums: &mut Sums) {
        if thread::thread_idx_x() == 0 {
            let flag = self.flags.add(block as usize);
            while atomic::load(flag, Global, Device, Acquire) == 0 {}
            atomic::store(flag, 0, Global, Device, Relaxed);
        }
        thread::sync_some_threads::<MULTIPLIERS_MEET, N_MULTIPLIERS>();
        let chunks = self.chunks(block);
        unrolled!(R in [0 1 2 3 4 5 6 7] {
            unrolled!(I in [0 1 2 3] {
                let chunk = Float4::load(chunks.add((R * 4 + I) * N_MULTIPLIERS as usize));
                sums[R][4 * I] += chunk.x;
                sums[R][4 * I + 1] += chunk.y;
                sums[R][4 * I + 2] += chunk.z;
                sums[R][4 * I + 3] += chunk.w;
            });
        });
    }
}

/// [`sgemm_warp_specialized`](super::warp_specialized::sgemm_warp_specialized) with equal shares of
/// the work.
///
/// # Safety
///
/// As [`sgemm_vectorized`](super::vectors::sgemm_vectorized), with this file's
/// [`BLOCK`] and [`SHARED_BYTES`] and a grid that [`grid`] returns. `sums` has room
/// for [`n_sums`] elements and is aligned to 16 bytes; `flags` has an element per block,
/// all 0, and 0 again when the kernel has ended. Blocks with lower numbers
/// start first.
#[kernel(launch_bounds(warp_specialized::BLOCK_THREADS, 1))]
pub unsafe fn sgemm_stream_k(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
    sums: *mut f32,
    flags: *mut u32,
) {
    let product = Product { a, b, m, n, k };
    let shared = warp_specialized::set_up();
    let block = thread::block_idx_x();
    let stream_k = StreamK::new(n_tiles_of_c(m, n), n_tiles(k, TILE_K), thread::grid_dim_x());
    let mut parts = stream_k.parts(block);
    if is_copier() {
        let mut copier = Copier::start(product, shared);
        if has_chunks(n) {
            while let Some(part) = parts.next() {
                copier.copy::<true>(part);
            }
        } else {
            while let Some(part) = parts.next() {
                copier.copy::<false>(part);
            }
        }
        copier.end();
    } else {
        let left = Left { sums, flags };
        let mut multiplier = Multiplier::start(shared);
        while let Some(part) = parts.next() {
            let mut sums = multiplier.sums(part);
            if stream_k.is_left(part) {
                left.put(block, &sums);
                continue;
            }
            add_rest(&stream_k, part, block, left, &mut sums);
            let (first_row, first_column) = product.corner(part.tile);
            let Place { row, column } = multiplier.place;
            store_sums(c, first_row + row, first_column + column, m, n, &sums);
        }
    }
}

/// Adds what other blocks have left of a part's tile.
#[inline(always)]
unsafe fn add_rest(stream_k: &StreamK, part: Part, block: u32, left: Left, sums: &mut Sums) {
    if part.first == 0 {
        return;
    }
    let mut other = block;
    while other > 0 && stream_k.reaches(other - 1, part) {
        other -= 1;
        if !stream_k.is_empty(other) {
            left.add(other, sums);
        }
    }
}

/// Block of [`sgemm_stream_k`], in threads.
pub const BLOCK: [u32; 3] = warp_specialized::BLOCK;

/// Dynamic shared memory of [`sgemm_stream_k`], in bytes.
pub const SHARED_BYTES: u32 = warp_specialized::SHARED_BYTES;

/// Grid of [`sgemm_stream_k`] for this many SMs: one block each, as long as
/// each has a step.
pub const fn grid(m: u32, n: u32, k: u32, n_multiprocessors: u32) -> [u32; 3] {
    let n_steps = n_tiles_of_c(m, n) as u64 * n_tiles(k, TILE_K) as u64;
    let n_blocks = if n_steps < n_multiprocessors as u64 {
        n_steps as u32
    } else {
        n_multiprocessors
    };
    [n_blocks, 1, 1]
}

/// Elements of `sums` that a grid needs.
pub const fn n_sums(grid: [u32; 3]) -> usize {
    grid[0] as usize * TILE_ELEMENTS as usize
}

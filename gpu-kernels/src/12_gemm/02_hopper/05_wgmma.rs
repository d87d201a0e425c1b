//! Step 5: a warpgroup multiplies out of shared memory.
//!
//! `mma.sync` takes fragments from registers: each value of a tile is loaded from shared memory by
//! every warp that needs it. `wgmma` reads shared memory itself. 128 threads name two tiles and
//! hold the sums; no fragment is loaded, and one instruction does 64×128×16.
//!
//! Tiles must lie as the instruction expects them: rows of 128 bytes whose eight chunks are
//! permuted by the row's number, the same swizzle that freed `ldmatrix` of conflicts. And the
//! tensor cores access shared memory through another *proxy* than threads do: they see what a
//! thread has written only after its `fence.proxy.async` and then a barrier.
//!
//! Copies and products do not overlap yet: that is the next step's subject.

use cuda_std::bulk;
use cuda_std::cp_async::{cg_first, wait_all};
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::vector::UInt4;
use cuda_std::wgmma::{AlongK, M, Operand, ROW_BYTES, Sums, WARPGROUP, wait_for_all_but};

use super::depth;
use super::epilogue::{AsItIs, Direct, Store};
use super::pipeline::{Ring, shared_bytes};
use crate::gemm::mma::matrices::Sizes;
use cuda_std::unrolled;

/// Columns of C that a block computes; it computes 64 rows.
pub const TILE_N: u32 = 128;
/// Block, in threads.
pub const BLOCK: [u32; 3] = [WARPGROUP, 1, 1];
const TILE_K: u32 = depth::<f16>();
const STAGE_BYTES: u32 = (M + TILE_N) * ROW_BYTES;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(1, STAGE_BYTES, 0);

/// 16-byte vectors in a row, and elements in a vector.
const CHUNKS: u32 = ROW_BYTES / 16;
const CHUNK: u32 = 8;
/// Rows of one copy of the block.
const COPY_ROWS: u32 = WARPGROUP / CHUNKS;

/// Grid.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE_N), m.div_ceil(M), 1]
}

/// Rows of a factor along k: where the block's begin, and how many are left from there.
#[derive(Clone, Copy)]
struct Rows {
    first: *const f16,
    n_left: u32,
    k: u32,
    pitch: u32,
}

impl Rows {
    /// The rows from `row` on.
    #[inline(always)]
    unsafe fn of(factor: *const f16, row: u32, n_rows: u32, k: u32, pitch: u32) -> Self {
        Self {
            first: factor.add(row as usize * pitch as usize),
            n_left: n_rows - row,
            k,
            pitch,
        }
    }

    /// Copies a tile's rows, 64 deep from `at` on, with zeros outside the matrix.
    #[inline(always)]
    unsafe fn copy<const ROWS: u32>(self, to: u32, at: u32) {
        let thread = thread::thread_idx_x();
        let (first, chunk) = (thread / CHUNKS, thread % CHUNKS);
        let n_left = self.k.saturating_sub(at + chunk * CHUNK);
        let n_bytes = 2 * if n_left < CHUNK { n_left } else { CHUNK };
        let from = self.first.wrapping_add(at as usize);
        // The thread's rows are whole periods of the swizzle apart.
        let to = to + first * ROW_BYTES + ((chunk ^ (first % CHUNKS)) << 4);
        unrolled::<{ (TILE_N / COPY_ROWS) as usize }>(|i| {
            let below = i as u32 * COPY_ROWS;
            if below < ROWS {
                let row = first + below;
                let from = from.wrapping_add((row * self.pitch + chunk * CHUNK) as usize);
                let n_bytes = if row < self.n_left { n_bytes } else { 0 };
                cg_first(to + below * ROW_BYTES, from.cast::<UInt4>(), n_bytes);
            }
        });
    }
}

/// C = A·B with A stored by rows and B by columns, both along k.
///
/// # Safety
///
/// As [`gemm_naive`](struct@crate::gemm::mma::naive::gemm_naive), all pointers multiples of 16
/// bytes. Launch with this file's [`grid`], [`BLOCK`] and [`SHARED_BYTES`].
#[kernel(launch_bounds(WARPGROUP))]
pub unsafe fn gemm_wgmma(a: *const f16, b: *const f16, c: *mut f16, sizes: Sizes) {
    let Sizes { m, n, k, .. } = sizes;
    let tile_a = Ring::<1>::new(STAGE_BYTES, 0).base;
    let tile_b = tile_a + M * ROW_BYTES;
    let row = thread::block_idx_y() * M;
    let column = thread::block_idx_x() * TILE_N;
    let a = Rows::of(a, row, m, k, sizes.a_pitch);
    let b = Rows::of(b, column, n, k, sizes.b_pitch);
    let mut sums = Sums::<f16, 64>::new();
    let mut at = 0;
    while at < k {
        a.copy::<M>(tile_a, at);
        b.copy::<TILE_N>(tile_b, at);
        wait_all();
        bulk::fence();
        thread::sync_threads();
        let a = Operand::<_, AlongK>::at(tile_a);
        let b = Operand::<_, AlongK>::at(tile_b);
        sums.add_product(a, b, at != 0);
        wait_for_all_but::<0>();
        thread::sync_threads();
        at += TILE_K;
    }
    let store = Direct {
        c,
        pitch: sizes.c_pitch,
        sizes: super::Sizes { m, n, k },
        finish: AsItIs,
    };
    store.store::<false, 64>(0, 0, sums.finish(), row, column);
}

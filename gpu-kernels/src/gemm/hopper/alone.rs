//! Step 5: a warpgroup multiplies out of shared memory.
//!
//! `mma.sync` takes fragments from registers: each value of a tile is loaded from shared memory by
//! every warp that needs it. `wgmma` reads shared memory itself. 128 threads name two tiles and
//! hold the sums; no fragment is loaded, and one instruction does 64×128×16.
//!
//! Tiles must lie as the instruction expects them: rows of 128 bytes whose eight chunks are
//! permuted by the row's number, the swizzle that made `ldmatrix` free of conflicts, too. And the
//! tensor cores look at shared memory from elsewhere than threads do (another *proxy*): what a thread
//! has written they see after its `fence.proxy.async`, and then a barrier.
//!
//! Nothing is copied while something is multiplied, and the other way round: the next step's
//! subject.

use cuda_std::bulk;
use cuda_std::cp_async::{cg_or_zeros, wait_all};
use cuda_std::half::f16;
use cuda_std::prelude::*;
use cuda_std::vector::UInt4;
use cuda_std::wgmma::{AlongK, M, Operand, ROW_BYTES, Sums, WARPGROUP, wait_for_all_but};

use super::output::{AsItIs, Direct, Store};
use super::ring::{Ring, shared_bytes};
use super::{Sizes, depth};

/// Columns of C that a block computes; it computes 64 rows.
pub const TILE_N: u32 = 128;
/// Block, in threads.
pub const BLOCK: [u32; 3] = [WARPGROUP, 1, 1];
const TILE_K: u32 = depth::<f16>();
const STAGE_BYTES: u32 = (M + TILE_N) * ROW_BYTES;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(1, STAGE_BYTES, 0);

/// Chunks of 16 bytes in a row, and elements in a chunk.
const CHUNKS: u32 = ROW_BYTES / 16;
const CHUNK: u32 = 8;

/// Grid.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE_N), m.div_ceil(M), 1]
}

/// Copies a tile's rows from `row` on, 64 deep from `k` on, zeros where there is nothing.
#[inline(always)]
unsafe fn copy<const ROWS: u32>(
    to: u32,
    matrix: *const f16,
    n_rows: u32,
    row: u32,
    k: u32,
    n_k: u32,
    pitch: u32,
) {
    let mut i = thread::thread_idx_x();
    while i < ROWS * CHUNKS {
        let (own_row, chunk) = (i / CHUNKS, i % CHUNKS);
        let column = k + chunk * CHUNK;
        let exists = row + own_row < n_rows && column < n_k;
        let from = if exists {
            (row + own_row) as usize * pitch as usize + column as usize
        } else {
            0
        };
        let place = own_row * ROW_BYTES + ((chunk ^ (own_row % CHUNKS)) << 4);
        cg_or_zeros(to + place, matrix.add(from).cast::<UInt4>(), exists);
        i += WARPGROUP;
    }
}

/// C = A·B with A stored by rows and B by columns, both along k.
///
/// # Safety
///
/// `a` holds m rows, `b` n rows of `k`, rows `k` elements apart; `c` has room for m rows, `pitch`
/// elements apart. `k` and `pitch` are multiples of 8, all pointers of 16 bytes. Launch with this
/// file's [`grid`], [`BLOCK`] and [`SHARED_BYTES`].
#[kernel(launch_bounds(WARPGROUP))]
pub unsafe fn gemm_wgmma(
    a: *const f16,
    b: *const f16,
    c: *mut f16,
    m: u32,
    n: u32,
    k: u32,
    pitch: u32,
) {
    let sizes = Sizes { m, n, k };
    let tile_a = Ring::<1>::new(STAGE_BYTES, 0).base;
    let tile_b = tile_a + M * ROW_BYTES;
    let row = thread::block_idx_y() * M;
    let column = thread::block_idx_x() * TILE_N;
    let mut sums = Sums::<f16, 64>::new();
    let mut at = 0;
    while at < k {
        copy::<M>(tile_a, a, m, row, at, k, k);
        copy::<TILE_N>(tile_b, b, n, column, at, k, k);
        wait_all();
        bulk::fence();
        thread::sync_threads();
        let (a, b) = (
            Operand::<_, AlongK>::at(tile_a),
            Operand::<_, AlongK>::at(tile_b),
        );
        sums.add_product(a, b, at != 0);
        wait_for_all_but::<0>();
        thread::sync_threads();
        at += TILE_K;
    }
    let store = Direct {
        c,
        pitch,
        sizes,
        finish: AsItIs,
    };
    store.store::<false, 64>(0, 0, sums.finish(), row, column);
}

//! Step 6: tiles by the Tensor Memory Accelerator (TMA), ahead of the products.
//!
//! One thread starts the copy of a whole tile: no addresses per thread, no registers, no loop,
//! and TMA does the swizzling. A barrier in memory counts the bytes that have arrived.
//! So the copies for the next steps can run while this one is multiplied, with as many stages as
//! fit.
//!
//! The thread that starts copies also multiplies. It refills a stage when the product that
//! read it is done, but learns that only one step later; meanwhile the tensor cores wait. The
//! next step separates the roles.

use cuda_std::TensorMap;
use cuda_std::bulk;
use cuda_std::half::f16;
use cuda_std::mbarrier;
use cuda_std::prelude::*;
use cuda_std::wgmma::{AlongK, M, Operand, ROW_BYTES, Sums, WARPGROUP, wait_for_all_but};

use super::epilogue::{AsItIs, Direct, Store};
use super::pipeline::{Ring, Turn, shared_bytes};
use super::{Sizes, depth};

/// Columns of C that a block computes; it computes 64 rows.
pub const TILE_N: u32 = 256;
/// Block, in threads.
pub const BLOCK: [u32; 3] = [WARPGROUP, 1, 1];
const TILE_K: u32 = depth::<f16>();
const STAGES: u32 = 4;
const STAGE_BYTES: u32 = (M + TILE_N) * ROW_BYTES;
/// Dynamic shared memory, in bytes.
pub const SHARED_BYTES: u32 = shared_bytes(STAGES, STAGE_BYTES, 0);
/// Boxes of the maps of A and B.
pub const BOXES: [[u32; 2]; 2] = [[TILE_K, M], [TILE_K, TILE_N]];

/// Grid.
pub const fn grid(m: u32, n: u32) -> [u32; 3] {
    [n.div_ceil(TILE_N), m.div_ceil(M), 1]
}

/// C = A·B with A stored by rows and B by columns, both along k.
///
/// # Safety
///
/// `a` and `b` are maps of m and n rows along k, with [`BOXES`] and a swizzle of 128 bytes; `c` has
/// room for m rows, `pitch` elements apart, an even number. Launch with this file's [`grid`],
/// [`BLOCK`] and [`SHARED_BYTES`].
#[kernel(launch_bounds(WARPGROUP, 1))]
pub unsafe fn gemm_tma(
    a: &TensorMap,
    b: &TensorMap,
    c: *mut f16,
    m: u32,
    n: u32,
    k: u32,
    pitch: u32,
) {
    let sizes = Sizes { m, n, k };
    let ring = Ring::<STAGES>::new(STAGE_BYTES, 0);
    let is_first_warp = warp::broadcast(thread::thread_idx_x() / 32, 0) == 0;
    if is_first_warp && warp::is_elected() {
        ring.make(1);
    }
    thread::sync_threads();
    let row = thread::block_idx_y() * M;
    let column = thread::block_idx_x() * TILE_N;
    let n_steps = k.div_ceil(TILE_K);
    let fill = |stage: u32, step: u32| {
        if is_first_warp && warp::is_elected() && step < n_steps {
            let to = ring.base + stage * STAGE_BYTES;
            let x = (step * TILE_K) as i32;
            mbarrier::arrive_expecting(ring.full(stage), STAGE_BYTES);
            bulk::load_box(to, a, [x, row as i32], ring.full(stage));
            bulk::load_box(to + M * ROW_BYTES, b, [x, column as i32], ring.full(stage));
        }
    };
    let mut stage = 0;
    while stage < STAGES {
        fill(stage, stage);
        stage += 1;
    }

    let mut sums = Sums::<f16, 128>::new();
    let mut turn = Turn::READ;
    let mut previous = 0;
    let mut step = 0;
    while step < n_steps {
        mbarrier::wait(ring.full(turn.stage), turn.parity);
        let tile_a = Operand::<_, AlongK>::at(ring.base).further(turn.stage * STAGE_BYTES);
        sums.add_product(
            tile_a,
            Operand::<_, AlongK>::at(ring.base + M * ROW_BYTES).further(turn.stage * STAGE_BYTES),
            step != 0,
        );
        wait_for_all_but::<1>();
        if step > 0 {
            fill(previous, step - 1 + STAGES);
        }
        previous = turn.stage;
        turn.advance::<STAGES>();
        step += 1;
    }
    let store = Direct {
        c,
        pitch,
        sizes,
        finish: AsItIs,
    };
    store.store::<false, 128>(0, 0, sums.finish(), row, column);
}

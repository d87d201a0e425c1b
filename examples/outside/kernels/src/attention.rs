//! Attention of one head, by tensor cores: `out = softmax(scale · Q·Kᵀ)·V`, with a softmax of each
//! row. `Q·Kᵀ` has a row per query and a column per key, and is never stored (*flash attention*).
//!
//! A warp has 16 queries. It goes through the keys, `KEYS` at a time, and keeps for each query the
//! largest score so far, the sum of the powers, and the sum of the values, weighted by them. When the
//! largest score grows, both sums shrink by the power of the difference.
//!
//! Tiles consist of pairs of `f16`, as fragments do ([`cuda_std::mma`]): a pair of K's is two
//! neighbours in a row, one of V's two in a column.

use core::array;
use core::f32::consts::LOG2_E;
use cuda_std::float::GpuFloatApprox;
pub use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, map, mma};
use cuda_std::prelude::*;
use cuda_std::thread::block_idx_x;
pub use cuda_std::vector::F16x2;
use cuda_std::view::{Block, Filled, Filling, Global, Rows, Scattered};
use cuda_std::warp::{FULL_MASK, lane_id, warp_id, warp_shuffle_xor};

/// Elements of a query, a key and a value.
pub const DIM: u32 = 64;
/// Pairs of them.
pub const PAIRS: u32 = DIM / 2;
/// Threads of a block.
pub const THREADS: u32 = 128;
/// Queries of a block, 16 per warp.
pub const QUERIES: u32 = THREADS / 32 * 16;
/// Keys in a tile.
pub const KEYS: u32 = 32;

/// Rows are 4 words longer than they need to be: 8 keys × 4 pairs of a fragment lie in 32 banks.
const fn in_keys(key: u32, pair: u32) -> usize {
    (key * (PAIRS + 4) + pair) as usize
}

/// As above: 4 pairs × 8 columns of a fragment lie in 32 banks.
const fn in_values(pair: u32, column: u32) -> usize {
    (pair * (DIM + 8) + column) as usize
}

cuda_std::tile_layout! {
    /// A key per row.
    pub Keys = in_keys(KEYS, PAIRS), block = [THREADS, 1];
    /// Two values per row.
    pub Values = in_values(KEYS / 2, DIM), block = [THREADS, 1];
}

type A = FragmentA<f16, M16N8K16>;
type B = FragmentB<f16, M16N8K16>;
type C = FragmentC<f32>;

/// 16 queries from `query` on, 16 columns from `column` on.
fn load_q(q: Global<F16x2, Rows>, query: u32, column: u32) -> A {
    let pair = |register| {
        let at = map::a(lane_id(), register, 0);
        let pair = q.get((query + at.row, (column + at.column) / 2));
        pair.unwrap_or_default().to_bits()
    };
    A::new([pair(0), pair(1), pair(2), pair(3)])
}

/// 8 keys from `key` on as columns, 16 of their elements from `row` on.
fn load_k<const TILE: u32>(keys: &Filled<F16x2, Keys, TILE>, row: u32, key: u32) -> B {
    let pair = |register| {
        let at = map::b(lane_id(), register, 0);
        keys.get(key + at.column, (row + at.row) / 2).to_bits()
    };
    B::new([pair(0), pair(1)])
}

/// 16 values from `row` on, 8 columns from `column` on.
fn load_v<const TILE: u32>(values: &Filled<F16x2, Values, TILE>, row: u32, column: u32) -> B {
    let pair = |register| {
        let at = map::b(lane_id(), register, 0);
        values.get((row + at.row) / 2, column + at.column).to_bits()
    };
    B::new([pair(0), pair(1)])
}

/// `op` over the values of four neighbouring lanes, which have a row together.
///
/// # Safety
///
/// All lanes of the warp call it together.
unsafe fn in_row(value: f32, op: fn(f32, f32) -> f32) -> f32 {
    // SAFETY: by this function's own contract.
    unsafe {
        let value = op(value, warp_shuffle_xor(FULL_MASK, value, 1, 32).0);
        op(value, warp_shuffle_xor(FULL_MASK, value, 2, 32).0)
    }
}

/// What a warp has computed for its 16 queries so far. A lane has elements of two rows: `[0]` of each
/// array is for registers 0 and 1 of fragments, `[1]` for registers 2 and 3.
struct Attended {
    max: [f32; 2],
    sum: [f32; 2],
    weighted: [C; (DIM / 8) as usize],
}

impl Attended {
    const NOTHING: Self = Self {
        max: [f32::NEG_INFINITY; 2],
        sum: [0.0; 2],
        weighted: [C::zero(); (DIM / 8) as usize],
    };

    /// Turns scores into weights, and adds these to the sums.
    ///
    /// # Safety
    ///
    /// As [`in_row`].
    unsafe fn weigh(&mut self, scores: &mut [C; (KEYS / 8) as usize]) {
        for row in 0..2 {
            let mut max = self.max[row];
            for scores in &*scores {
                max = max.max(scores.registers[2 * row]);
                max = max.max(scores.registers[2 * row + 1]);
            }
            // SAFETY: by this function's own contract.
            max = unsafe { in_row(max, f32::max) };
            let shrink = (self.max[row] - max).exp2_approx();
            self.max[row] = max;
            self.sum[row] *= shrink;
            for weighted in &mut self.weighted {
                weighted.registers[2 * row] *= shrink;
                weighted.registers[2 * row + 1] *= shrink;
            }
            for scores in &mut *scores {
                for score in &mut scores.registers[2 * row..][..2] {
                    *score = (*score - max).exp2_approx();
                    self.sum[row] += *score;
                }
            }
        }
    }
}

/// The attention of `n_queries` queries to `n_keys` keys, at least one.
#[kernel(launch_bounds(THREADS))]
pub fn attention(
    q: Global<[[F16x2; PAIRS]; n_queries]>,
    k: Global<[[F16x2; PAIRS]; n_keys]>,
    v: Global<[[f16; DIM]; n_keys]>,
    out: Scattered<[[F16x2; PAIRS]; n_queries]>,
    n_queries: u32,
    n_keys: u32,
    scale: f32,
    mut keys: Filling<F16x2, Keys>,
    mut values: Filling<F16x2, Values>,
    block: Block,
) {
    let query = QUERIES * block_idx_x() + 16 * warp_id();
    let q: [A; (DIM / 16) as usize] = array::from_fn(|i| load_q(q, query, 16 * i as u32));
    let mut attended = Attended::NOTHING;

    for first_key in (0..n_keys).step_by(KEYS as usize) {
        keys.fill(|key, pair| k.get((first_key + key, pair)).unwrap_or_default());
        values.fill(|pair, column| {
            let value = |key| v.get((first_key + key, column)).unwrap_or_default();
            F16x2::new(value(2 * pair), value(2 * pair + 1))
        });
        let (k_tile, v_tile) = block.sync((keys, values));

        let mut scores = [C::zero(); (KEYS / 8) as usize];
        for (j, scores) in scores.iter_mut().enumerate() {
            for (i, &q) in q.iter().enumerate() {
                let k = load_k(&k_tile, 16 * i as u32, 8 * j as u32);
                // SAFETY: all lanes get here, as to the barriers.
                *scores = unsafe { mma(q, k, *scores) };
            }
            for (i, score) in scores.registers.iter_mut().enumerate() {
                let key = first_key + 8 * j as u32 + map::c32(lane_id(), i as u32).column;
                *score *= scale * LOG2_E;
                if key >= n_keys {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
        // SAFETY: as above.
        unsafe { attended.weigh(&mut scores) };
        for i in 0..KEYS / 16 {
            let [left, right] = [0, 1].map(|half| scores[(2 * i + half) as usize].to_f16());
            let weights = A::from_products(left, right);
            for (j, weighted) in attended.weighted.iter_mut().enumerate() {
                let v = load_v(&v_tile, 16 * i, 8 * j as u32);
                // SAFETY: as above.
                *weighted = unsafe { mma(weights, v, *weighted) };
            }
        }
        (keys, values) = block.sync((k_tile, v_tile));
    }

    for row in 0..2 {
        // SAFETY: as above.
        let sum = unsafe { in_row(attended.sum[row], |a, b| a + b) };
        for (j, weighted) in attended.weighted.iter().enumerate() {
            let at = map::c32(lane_id(), 2 * row as u32);
            let [x, y] = [0, 1].map(|i| weighted.registers[2 * row + i] / sum);
            let place = (query + at.row, (8 * j as u32 + at.column) / 2);
            // SAFETY: each element of a fragment is in one lane.
            unsafe { out.set(place, F16x2::narrow(x, y)) };
        }
    }
}

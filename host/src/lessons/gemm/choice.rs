//! The choice of a kernel for a product: the one whose tiles have the least cost.
//!
//! A kernel cuts C into tiles and k into steps. The SMs work in waves of one tile (or one part
//! of a tile's steps) each. So a product takes
//!
//! ```text
//!   starts · start + waves · (steps · step + end of a wave) + what sharing a tile costs
//! ```
//!
//! (blocks that stay for all waves start once, the others in each wave) or, if that is longer, a
//! start and the time in which A, B and C pass through memory. A step takes the time of its
//! multiplications, or that of the cache lines that hold its rows of A and B: two for each
//! row where rows do not begin at multiples of 128 bytes, and for pairs of blocks only half of the
//! lines that both copy.
//!
//! The numbers per kernel (`Cost`) were fitted to times of all of them on 29 products on an H200,
//! without a pause; tiles of the same size take the same time per step. There are five for each
//! kernel, and none depends on a product. The choices are checked on products that no kernel was
//! tuned for ([`super::contest`]).

use gpu_kernels::gemm::hopper::split_k::Tile;
use gpu_kernels::gemm::hopper::stream_k::StreamK;
use gpu_kernels::gemm::hopper::widths::Width;
use gpu_kernels::gemm::hopper::{TILE_M, ping_pong, small, split_k_grid};
use gpu_kernels::gemm::mma::matrices::PITCH_UNIT;

/// Elements of k in a step.
const DEPTH: u32 = gpu_kernels::gemm::hopper::depth::<half::f16>();
/// Cache lines that an SM gets per microsecond.
const LINES_A_US: f64 = 810.0;
/// Bytes of an element, and of a cache line.
const ELEMENT_BYTES: u32 = 2;
const LINE_BYTES: u32 = 128;

/// The times of a kernel's work, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// Before the first step and after the last.
    start: f64,
    /// A step's multiplications.
    step: f64,
    /// The end of a wave: a result that is stored while nothing is multiplied.
    wave: f64,
    /// Leaving and adding the sums of tiles that blocks share.
    sharing: f64,
    /// Bytes from or to memory per microsecond.
    bytes_a_us: f64,
}

/// The work of a kernel on a product.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Account {
    /// Rounds of tiles, a fraction where tiles are cut into equal shares.
    waves: f64,
    /// Number of starts: one where blocks stay for all waves.
    starts: f64,
    /// Steps of each.
    steps: u32,
    /// Whether blocks share tiles.
    is_shared: bool,
    /// Rows of A and B that a block copies per step.
    rows: u32,
}

/// A kernel's way of cutting products.
#[derive(Clone, Copy, Debug)]
enum Cut {
    /// Ping-pong, by single blocks or pairs.
    PingPong(u32),
    /// The same by pairs, the last wave's tiles by stream-K.
    StreamK,
    /// Tiles of a width, by blocks alone or pairs.
    Wide(Width, u32),
    /// A cluster shares a tile's steps.
    SplitK(Tile),
    /// Small tiles in pairs.
    Small,
    /// Blocks anywhere share a tile's steps.
    SplitKGrid,
}

/// A kernel that multiplies f16 along k.
struct Candidate {
    kernel: &'static str,
    cut: Cut,
    cost: Cost,
}

const fn candidate(
    kernel: &'static str,
    cut: Cut,
    [start, step, wave, sharing, bytes_a_us]: [f64; 5],
) -> Candidate {
    Candidate {
        kernel,
        cut,
        cost: Cost {
            start,
            step,
            wave,
            sharing,
            bytes_a_us,
        },
    }
}

#[rustfmt::skip]
static CANDIDATES: [Candidate; 13] = [
    candidate("gemm_width_256", Cut::Wide(Width::N256, 1), [2.0, 0.785, 0.05, 0.0, 2.38e6]),
    candidate("gemm_width_192", Cut::Wide(Width::N192, 1), [2.0, 0.595, 0.822, 0.0, 2.48e6]),
    candidate("gemm_width_192_pairs", Cut::Wide(Width::N192, 2), [2.73, 0.614, 0.637, 0.0, 2.56e6]),
    candidate("gemm_ping_pong", Cut::PingPong(1), [3.06, 0.416, 0.05, 0.0, 3.18e6]),
    candidate("gemm_ping_pong_pairs", Cut::PingPong(2), [3.56, 0.425, 0.05, 0.0, 3.69e6]),
    candidate("gemm_stream_k_pairs", Cut::StreamK, [4.02, 0.434, 0.05, 4.88, 3.7e6]),
    candidate("gemm_split_k_64x128", Cut::SplitK(Tile::FEW_ROWS), [4.7, 0.26, 0.276, 4.15, 3.55e6]),
    candidate("gemm_split_k_128x64", Cut::SplitK(Tile::FEW_COLUMNS), [2.0, 0.32, 1.57, 3.62, 3.93e6]),
    candidate("gemm_split_k_128x128", Cut::SplitK(Tile::SMALL), [7.46, 0.422, 0.05, 0.0, 3.39e6]),
    candidate("gemm_split_k_128x192", Cut::SplitK(Tile::MIDDLE), [7.89, 0.595, 0.87, 1.04, 3.29e6]),
    candidate("gemm_split_k_128x256", Cut::SplitK(Tile::LARGE), [10.7, 0.785, 0.0566, 0.253, 3.59e6]),
    candidate("gemm_small", Cut::Small, [2.0, 0.258, 1.32, 0.0, 2.86e6]),
    candidate("gemm_split_k_grid", Cut::SplitKGrid, [6.81, 0.792, 0.05, 8.55, 2.97e6]),
];

impl Cut {
    /// Its work on a product, on this many SMs.
    fn account(self, [m, n, k]: [u32; 3], n_multiprocessors: u32) -> Account {
        let steps = k.div_ceil(DEPTH);
        let whole = |n_tiles: u32, n_at_once: u32, rows: u32| Account {
            waves: f64::from(n_tiles.div_ceil(n_at_once.max(1))),
            starts: 1.0,
            steps,
            is_shared: false,
            rows,
        };
        let parts = |n_tiles: u64, n_parts: u32, rows: u32| {
            let n_blocks = n_tiles * u64::from(n_parts);
            let waves = n_blocks.div_ceil(u64::from(n_multiprocessors)) as f64;
            Account {
                waves,
                // Blocks of one tile: each wave has a start.
                starts: waves,
                steps: steps.div_ceil(n_parts),
                is_shared: n_parts > 1,
                rows,
            }
        };
        let tiles = |[_, rows, columns]: [u32; 3]| u64::from(rows) * u64::from(columns);
        match self {
            Self::PingPong(n_blocks) => {
                let n_tiles = ping_pong::n_tiles(m, n, n_blocks);
                let rows = TILE_M + ping_pong::TILE_N / n_blocks;
                whole(n_tiles, n_multiprocessors / n_blocks, rows)
            }
            Self::StreamK => {
                let whole = Self::PingPong(2).account([m, n, k], n_multiprocessors);
                let (n_tiles, n_pairs) =
                    (ping_pong::n_tiles(m, n, 2), (n_multiprocessors / 2).max(1));
                if !StreamK::fits(n_tiles, steps, n_pairs) {
                    let waves = f64::INFINITY;
                    return Account { waves, ..whole };
                }
                // The rest is always cut, even where that does not pay.
                if n_tiles <= n_pairs || n_tiles.is_multiple_of(n_pairs) {
                    return whole;
                }
                Account {
                    waves: f64::from(n_tiles) / f64::from(n_pairs),
                    is_shared: true,
                    ..whole
                }
            }
            Self::Wide(width, n_blocks) => {
                let n_tiles = width.n_tiles(m, n, n_blocks);
                let rows = TILE_M + width.columns() / n_blocks;
                whole(n_tiles, n_multiprocessors / n_blocks, rows)
            }
            Self::SplitK(tile) => {
                let n_parts = tile.n_parts(m, n, k, n_multiprocessors);
                parts(tiles(tile.grid(m, n, 1)), n_parts, tile.m + tile.n)
            }
            Self::Small => {
                let [columns, rows, _] = small::grid(m, n);
                let [[_, a_rows], [_, b_rows]] = small::boxes();
                parts(u64::from(columns) * u64::from(rows), 1, a_rows + b_rows)
            }
            Self::SplitKGrid => {
                let tile = split_k_grid::TILE;
                let n_parts = split_k_grid::n_parts(m, n, k, n_multiprocessors);
                parts(tiles(tile.grid(m, n, 1)), n_parts, tile.m + tile.n)
            }
        }
    }
}

impl Candidate {
    /// Estimated microseconds of a product.
    fn microseconds(&self, [m, n, k]: [u32; 3], n_multiprocessors: u32) -> f64 {
        let Account {
            waves,
            starts,
            steps,
            is_shared,
            rows,
        } = self.cut.account([m, n, k], n_multiprocessors);
        let pitch_bytes =
            u64::from(k).next_multiple_of(PITCH_UNIT.into()) * u64::from(ELEMENT_BYTES);
        let lines_a_row = if pitch_bytes.is_multiple_of(LINE_BYTES.into()) {
            1
        } else {
            2
        };
        let Cost {
            start,
            step,
            wave,
            sharing,
            bytes_a_us,
        } = self.cost;
        let step = step.max(f64::from(rows * lines_a_row) / LINES_A_US);
        let sharing = if is_shared { sharing } else { 0.0 };
        let computed = starts * start + waves * (f64::from(steps) * step + wave) + sharing;
        let [m, n, k] = [m, n, k].map(f64::from);
        let moved = f64::from(ELEMENT_BYTES) * (m * k + k * n + m * n) / bytes_a_us;
        computed.max(start + moved)
    }
}

/// The kernel that takes the least time for a product of f16, all rows along k, on a device with
/// this many SMs, as estimated from its tiles.
pub fn fastest_for(m: u32, n: u32, k: u32, n_multiprocessors: u32) -> &'static str {
    let time = |candidate: &Candidate| candidate.microseconds([m, n, k], n_multiprocessors);
    let mut best = &CANDIDATES[0];
    for candidate in &CANDIDATES[1..] {
        if time(candidate) < time(best) {
            best = candidate;
        }
    }
    best.kernel
}

#[cfg(test)]
mod tests {
    use super::{CANDIDATES, Cut, fastest_for};
    use crate::lessons::gemm::LESSON;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    const H200: u32 = 132;

    #[test]
    fn rounds_are_those_of_the_tiles() {
        let waves = |kernel: &str, dims| {
            let found = CANDIDATES.iter().find(|one| one.kernel == kernel);
            found.expect("a candidate").cut.account(dims, H200).waves
        };
        assert_eq!(waves("gemm_width_256", [4096; 3]), 4.0);
        assert_eq!(waves("gemm_width_192", [3072; 3]), 3.0);
        assert_eq!(waves("gemm_width_192_pairs", [3072; 3]), 3.0);
        assert_eq!(waves("gemm_ping_pong", [4096; 3]), 8.0);
        // 512 tiles for 66 pairs.
        assert_eq!(waves("gemm_stream_k_pairs", [4096; 3]), 512.0 / 66.0);
        // Too few to be cut.
        assert_eq!(waves("gemm_stream_k_pairs", [1024; 3]), 1.0);
        let split_k = CANDIDATES
            .iter()
            .find(|one| matches!(one.cut, Cut::SplitK(_)));
        let account = split_k.expect("one").cut.account([16, 4096, 4096], H200);
        assert_eq!((account.steps, account.is_shared), (22, true));
    }

    #[test]
    fn large_products_get_large_tiles_and_small_ones_small_ones() {
        assert_eq!(fastest_for(4096, 4096, 4096, H200), "gemm_width_256");
        assert_eq!(fastest_for(3072, 3072, 3072, H200), "gemm_width_192");
        assert_eq!(fastest_for(16, 4096, 4096, H200), "gemm_split_k_64x128");
        assert_eq!(fastest_for(4096, 16, 4096, H200), "gemm_split_k_128x64");
        assert_eq!(fastest_for(512, 512, 65536, H200), "gemm_split_k_grid");
        assert_eq!(fastest_for(1000, 1000, 1000, H200), "gemm_small");
    }

    #[test]
    fn kernels_for_few_tiles_get_many_only_where_memory_is_the_limit() {
        assert_eq!(fastest_for(8, 151_936, 3584, H200), "gemm_split_k_64x128");
        for dims in [[8192, 6144, 4096], [4096, 22016, 4096], [2048, 4096, 11008]] {
            let [m, n, k] = dims;
            let kernel = fastest_for(m, n, k, H200);
            let is_for_few = ["split", "small", "spread"].map(|part| kernel.contains(part));
            assert_eq!(is_for_few, [false; 3], "{kernel} at {m}×{n}×{k}");
        }
    }

    /// For any product and device, the choice is a kernel of the lesson; a test on the
    /// simulator checks that it runs there.
    #[test]
    fn every_choice_is_a_kernel_of_the_lesson() {
        let mut rng = StdRng::seed_from_u64(7);
        for _ in 0..2000 {
            let mut side = || 1 + (rng.random::<u32>() >> rng.random_range(12..32));
            let [m, n, k] = [side(), side(), side()];
            let n_multiprocessors = rng.random_range(1..200);
            let kernel = fastest_for(m, n, k, n_multiprocessors);
            let found = LESSON.kernels.iter().any(|entry| entry.id == kernel);
            assert!(found, "{kernel} for {m}×{n}×{k}");
        }
    }
}

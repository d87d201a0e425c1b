//! Stream-K: the division of a product among blocks, all with the same amount of work.
//!
//! 1,024 tiles on 132 SMs are 7.76 for each: given out whole, some SMs compute eight, and
//! the others wait. With few tiles that costs a lot: 2.2 become 3. So only some of them are given
//! out whole; those of the last, partial wave, *and* one full wave more, are laid end to
//! end as one line of steps along k, which is cut into as many equal shares as there are blocks
//! (*stream-K*; Osama et al., *Stream-K: Work-centric Parallel Decomposition for Dense
//! Matrix-Matrix Multiplication on the GPU*, 2023; this is its *two-tile* form):
//!
//! ```text
//!   tile        0               1               2               3
//!   steps       ├───────────────┼───────────────┼───────────────┼─────────────
//!   block       ├───────── 0 ─────────┼───────── 1 ─────────┼───────── 2 ─────
//! ```
//!
//! With the full wave a share is at least a tile long, so a tile is cut once at most, and the
//! previous block leaves the sums that its second half needs. (With shares shorter than
//! a tile, as in [`sgemm`](crate::sgemm::partition), sixteen blocks may leave sums of one tile,
//! and one block adds them all.) A block does the start of its last tile first and leaves the sums;
//! by the time the next block needs them, they have long been there. The order of the
//! additions is fixed, and so is the result.
//!
//! All in 32 bits: a 64-bit division is a call, and after a call the assembler no longer knows
//! that a value is the same in all lanes.

use crate::quotient::quotient;
use crate::shares::Division;
pub use crate::shares::{Part, Parts};

/// A product's tiles and steps, divided among blocks.
#[derive(Clone, Copy, Debug)]
pub struct StreamK(Division);

impl StreamK {
    /// `n_tiles` tiles of `n_steps` steps for `n_blocks` blocks, which is not 0: cut up, if
    /// `is_cut` and if they do not divide evenly.
    #[inline(always)]
    pub const fn new(n_tiles: u32, n_steps: u32, n_blocks: u32, is_cut: bool) -> Self {
        let waves = quotient(n_tiles, n_blocks);
        let rest = n_tiles - waves * n_blocks;
        Self(Division {
            n_steps,
            n_tiles,
            n_blocks,
            n_shared: if is_cut && rest > 0 && waves > 0 {
                rest + n_blocks
            } else {
                0
            },
        })
    }

    /// Whether cutting pays off: whether a block saves more steps than leaving and adding sums
    /// costs it. (On an H200 the measured cost is 10 to 40 steps; 24 separates the sizes that
    /// gained from those that lost.)
    pub const fn is_worth_it(n_tiles: u32, n_steps: u32, n_blocks: u32) -> bool {
        const COST: u64 = 24;
        let rest = n_tiles - quotient(n_tiles, n_blocks) * n_blocks;
        rest > 0
            && n_tiles > n_blocks
            && (n_blocks - rest) as u64 * n_steps as u64 > COST * n_blocks as u64
    }

    /// Whether places on the line, times blocks, stay below 2³².
    pub const fn fits(n_tiles: u32, n_steps: u32, n_blocks: u32) -> bool {
        let Self(division) = Self::new(n_tiles, n_steps, n_blocks, true);
        (division.n_shared as u64 * n_steps as u64).saturating_mul(n_blocks as u64) < 1 << 32
    }

    /// Where the share of a block begins in the line of steps.
    #[inline(always)]
    const fn start(&self, block: u32) -> u32 {
        quotient(self.0.n_shared * self.0.n_steps * block, self.0.n_blocks)
    }

    /// The block's parts, in the order in which it does them.
    #[inline(always)]
    pub const fn parts(&self, block: u32) -> Parts {
        self.0
            .parts(block, self.start(block), self.start(block + 1))
    }

    /// Whether the part lacks the tile's end: its sums are for the next block.
    #[inline(always)]
    pub const fn is_left(&self, part: Part) -> bool {
        part.end < self.0.n_steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::checks::{all, every_step_is_done_once, work_is_even};

    fn parts(stream_k: &StreamK, block: u32) -> Vec<Part> {
        all(stream_k.parts(block))
    }

    /// Tiles, steps, blocks: fewer tiles than blocks, as many, more, and a single one of each.
    const CASES: [(u32, u32, u32); 9] = [
        (1, 1, 1),
        (1, 2, 7),
        (5, 7, 4),
        (8, 3, 4),
        (9, 1, 4),
        (133, 100, 132),
        (288, 48, 132),
        (1024, 64, 132),
        (31, 1, 8),
    ];

    #[test]
    fn every_step_is_done_once_and_work_is_even_where_there_is_enough() {
        for (n_tiles, n_steps, n_blocks) in CASES {
            let stream_k = StreamK::new(n_tiles, n_steps, n_blocks, true);
            let blocks: Vec<_> = (0..n_blocks).map(|block| stream_k.parts(block)).collect();
            every_step_is_done_once(&blocks);
            if n_tiles >= n_blocks {
                work_is_even(&blocks);
            }
        }
    }

    #[test]
    fn what_is_left_is_for_the_next_block() {
        for (n_tiles, n_steps, n_blocks) in CASES {
            let stream_k = StreamK::new(n_tiles, n_steps, n_blocks, true);
            let left = |block: u32| {
                let parts = parts(&stream_k, block);
                let mut left = parts.into_iter().filter(|part| stream_k.is_left(*part));
                let first = left.next();
                assert_eq!(left.next(), None, "there is room for one: {stream_k:?}");
                first
            };
            for block in 0..n_blocks {
                let begun: Vec<_> = parts(&stream_k, block)
                    .into_iter()
                    .filter(|part| part.first > 0)
                    .collect();
                match (begun[..].first(), block.checked_sub(1).and_then(left)) {
                    (None, None) => {}
                    (Some(part), Some(left)) => {
                        assert_eq!(
                            (left.tile, left.first, left.end),
                            (part.tile, 0, part.first)
                        );
                        assert_eq!(part.end, n_steps);
                    }
                    other => panic!("{other:?} at block {block} of {stream_k:?}"),
                }
                assert!(begun.len() < 2);
            }
            assert_eq!(left(n_blocks - 1), None);
        }
    }

    #[test]
    fn tiles_are_cut_where_much_would_be_idle() {
        let of_cube = |side: u32| (side / 128).pow(2);
        for (side, is_worth_it) in [(2048, false), (3072, true), (4096, false), (8192, true)] {
            let found = StreamK::is_worth_it(of_cube(side), side / 64, 132);
            assert_eq!(found, is_worth_it, "{side}");
        }
        assert!(!StreamK::is_worth_it(64, 512, 132), "there is no full wave");
    }
}

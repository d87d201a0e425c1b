//! Stream-K: the division of a product among blocks, all with the same amount of work.
//!
//! A tile of C costs as many *steps* as k has tile depths. 512 tiles on 132
//! SMs are 3.88 for each; if they are given out whole, some SMs get 4 and the rest wait.
//! So whole tiles are given out only as long as there is one for every block. The
//! rest, fewer tiles than blocks, are laid end to end as one line of steps, and cut
//! into as many equal shares as there are blocks, wherever the cuts may fall
//! (*stream-K*; Osama et al., *Stream-K: Work-centric Parallel Decomposition for
//! Dense Matrix-Matrix Multiplication on the GPU*, 2023):
//!
//! ```text
//!   tile        0               1               2
//!   steps       ├───────────────┼───────────────┼───────────────┤
//!   block       ├──── 0 ────┼──── 1 ────┼──── 2 ────┼──── 3 ────┤
//! ```
//!
//! A share is no longer than a tile, so a block meets two tiles at most: the end of
//! one, then the start of the next. It does the *start* first and leaves the sums in
//! memory; then the *end*, to which it adds what the blocks before it have left, and
//! stores the tile. They have had the time of a share to do so. No block ever waits for
//! one with a higher number, so any number of blocks may run at once, as long as
//! lower ones start first. The order of the additions is fixed, and so is the result.

use crate::shares::Division;
pub use crate::shares::{Part, Parts};

/// A product's tiles and steps, divided among blocks.
#[derive(Clone, Copy, Debug)]
pub struct StreamK(Division);

impl StreamK {
    /// `n_tiles` tiles of `n_steps` steps for `n_blocks` blocks, none of them 0.
    #[inline(always)]
    pub const fn new(n_tiles: u32, n_steps: u32, n_blocks: u32) -> Self {
        Self(Division {
            n_steps,
            n_tiles,
            n_blocks,
            n_shared: n_tiles - quotient(n_tiles as u64, n_blocks as u64) as u32 * n_blocks,
        })
    }

    /// Where the share of a block begins in the line of steps; the previous block's
    /// ends there.
    #[inline(always)]
    pub const fn start(&self, block: u32) -> u32 {
        let line = self.0.n_shared as u64 * self.0.n_steps as u64;
        quotient(line * block as u64, self.0.n_blocks as u64) as u32
    }

    /// The block's parts, in the order in which it does them.
    #[inline(always)]
    pub const fn parts(&self, block: u32) -> Parts {
        self.0
            .parts(block, self.start(block), self.start(block + 1))
    }

    /// Whether the part lacks the tile's end: its sums are for another block.
    #[inline(always)]
    pub const fn is_left(&self, part: Part) -> bool {
        part.end < self.0.n_steps
    }

    /// Whether the share of `block`, a lower one than the part's, ends within the
    /// part's tile. If so it has left sums for it, unless it has no steps.
    #[inline(always)]
    pub const fn reaches(&self, block: u32, part: Part) -> bool {
        self.start(block + 1) > part.tile * self.0.n_steps
    }

    /// Whether the share of `block` has no steps, as happens if there are fewer steps than
    /// blocks.
    #[inline(always)]
    pub const fn is_empty(&self, block: u32) -> bool {
        self.start(block) == self.start(block + 1)
    }
}

/// x / y for a y that is not 0, which the compiler cannot prove: a kernel
/// that could panic here would contain code for it.
#[inline(always)]
pub(super) const fn quotient(x: u64, y: u64) -> u64 {
    match x.checked_div(y) {
        Some(quotient) => quotient,
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::checks::{all, every_step_is_done_once, work_is_even};

    fn parts(stream_k: &StreamK, block: u32) -> impl Iterator<Item = Part> {
        all(stream_k.parts(block)).into_iter()
    }

    /// Tiles, steps, blocks: more blocks than tiles, fewer, as many, and a single one
    /// of each.
    const CASES: [(u32, u32, u32); 11] = [
        (1, 1, 1),
        (1, 1, 7),
        (1, 2, 7),
        (8, 2, 7),
        (1, 5, 3),
        (5, 7, 4),
        (8, 3, 4),
        (3, 100, 132),
        (128, 128, 132),
        (512, 256, 132),
        (31, 1, 8),
    ];

    #[test]
    fn every_step_is_done_once_and_work_is_even() {
        for (n_tiles, n_steps, n_blocks) in CASES {
            let stream_k = StreamK::new(n_tiles, n_steps, n_blocks);
            let blocks: Vec<_> = (0..n_blocks).map(|block| stream_k.parts(block)).collect();
            every_step_is_done_once(&blocks);
            work_is_even(&blocks);
        }
    }

    #[test]
    fn what_is_left_is_taken_once_and_only_from_lower_blocks() {
        for (n_tiles, n_steps, n_blocks) in CASES {
            let stream_k = StreamK::new(n_tiles, n_steps, n_blocks);
            let mut n_taken = [0; 132];
            for block in 0..n_blocks {
                let mut n_left = 0;
                for part in parts(&stream_k, block) {
                    assert!(part.first < part.end);
                    if stream_k.is_left(part) {
                        n_left += 1;
                        continue;
                    }
                    let mut first = part.first;
                    for other in (0..block).rev() {
                        if !stream_k.reaches(other, part) {
                            break;
                        }
                        if stream_k.is_empty(other) {
                            continue;
                        }
                        let left = parts(&stream_k, other)
                            .find(|p| stream_k.is_left(*p))
                            .expect("it has left something");
                        assert_eq!((left.tile, left.end), (part.tile, first));
                        first = left.first;
                        n_taken[other as usize] += 1;
                    }
                    assert_eq!(
                        first, 0,
                        "the whole tile is there: {part:?} of {stream_k:?}"
                    );
                }
                assert!(
                    n_left <= 1,
                    "there is room for one: block {block} of {stream_k:?}"
                );
            }
            for block in 0..n_blocks {
                let has_left = parts(&stream_k, block).any(|part| stream_k.is_left(part));
                assert_eq!(n_taken[block as usize], u32::from(has_left), "{stream_k:?}");
            }
        }
    }
}

//! The parts of a product that a block does where tiles are cut up along k (stream-K).

use crate::quotient::quotient;

/// Consecutive steps of one tile, done by one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Which tile.
    pub tile: u32,
    /// The first step.
    pub first: u32,
    /// One past the last step.
    pub end: u32,
}

/// A product's tiles and steps, divided among blocks: some tiles are cut up, the others are whole.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    /// Steps of a tile, at least 1.
    pub(crate) n_steps: u32,
    pub(crate) n_tiles: u32,
    pub(crate) n_blocks: u32,
    /// Tiles that are cut up: 0 to `n_shared` − 1. Their steps are a line.
    pub(crate) n_shared: u32,
}

impl Division {
    /// The parts of a block whose share of the line is from `start` to `end`, in the order in which
    /// it does them.
    #[inline(always)]
    pub(crate) const fn parts(&self, block: u32, start: u32, end: u32) -> Parts {
        Parts {
            division: *self,
            start,
            end,
            next_tile: self.n_shared + block,
        }
    }
}

/// The parts that a block has yet to do.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    division: Division,
    /// What is left of its share of the line.
    start: u32,
    end: u32,
    /// Its next whole tile.
    next_tile: u32,
}

impl Parts {
    /// The next part, if there is one. (Not an `Iterator`: LLVM breaks up its `for` loops
    /// less well.)
    #[inline(always)]
    pub const fn next(&mut self) -> Option<Part> {
        let n_steps = self.division.n_steps;
        if self.start < self.end {
            let tile = quotient(self.end - 1, n_steps);
            let first_of_tile = tile * n_steps;
            let first = if self.start > first_of_tile {
                self.start
            } else {
                first_of_tile
            };
            let part = Part {
                tile,
                first: first - first_of_tile,
                end: self.end - first_of_tile,
            };
            self.end = first;
            return Some(part);
        }
        if self.next_tile < self.division.n_tiles {
            let part = Part {
                tile: self.next_tile,
                first: 0,
                end: n_steps,
            };
            self.next_tile += self.division.n_blocks;
            return Some(part);
        }
        None
    }
}

/// What holds for the parts of all blocks, whatever the division.
#[cfg(test)]
pub(crate) mod checks {
    use super::{Division, Part, Parts};

    pub fn all(mut parts: Parts) -> Vec<Part> {
        core::iter::from_fn(|| parts.next()).collect()
    }

    pub fn every_step_is_done_once(blocks: &[Parts]) {
        let Division {
            n_steps, n_tiles, ..
        } = blocks[0].division;
        let mut n_times = vec![0; (n_tiles * n_steps) as usize];
        for part in blocks.iter().flat_map(|&parts| all(parts)) {
            assert!(part.first < part.end && part.end <= n_steps);
            for step in part.first..part.end {
                n_times[(part.tile * n_steps + step) as usize] += 1;
            }
        }
        assert!(n_times.iter().all(|&n| n == 1), "{:?}", blocks[0]);
    }

    pub fn work_is_even(blocks: &[Parts]) {
        let steps = |&parts| -> u32 { all(parts).iter().map(|part| part.end - part.first).sum() };
        let (least, most) = (
            blocks.iter().map(steps).min(),
            blocks.iter().map(steps).max(),
        );
        let is_even = most
            .zip(least)
            .is_some_and(|(most, least)| most <= least + 1);
        assert!(is_even, "{:?}: {least:?} and {most:?}", blocks[0]);
    }
}

//! Maps from a thread to its own element of an output.
//!
//! | map | index of the thread `t` of block `b` |
//! |---|---|
//! | [`Linear`] | `b · blockDim + t` |
//! | [`Linear<BLOCK>`](Linear) | `b · BLOCK + t` |
//! | [`Tiles<SIDE>`](Tiles) | `(SIDE · b.y + t.y, SIDE · b.x + t.x)` |
//!
//! Left out: maps that give a thread several elements, or neighbouring lanes distant ones.

use crate::thread::{self, Vec3};

/// The grid and the block of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Blocks in the grid, by axis.
    pub grid: [u32; 3],
    /// Threads in a block, by axis.
    pub block: [u32; 3],
}

/// Where a thread is, and how large its launch is.
#[derive(Clone, Copy, Debug)]
pub struct Ids {
    /// The block's index in the grid.
    pub block_idx: Vec3,
    /// The thread's index in the block.
    pub thread_idx: Vec3,
    /// Threads in a block.
    pub block_dim: Vec3,
}

impl Ids {
    /// Those of the calling thread. Unused ones are not read.
    #[inline(always)]
    pub(super) fn of_this_thread() -> Self {
        Self {
            block_idx: thread::block_idx(),
            thread_idx: thread::thread_idx(),
            block_dim: thread::block_dim(),
        }
    }
}

/// Why a map does not hold for a geometry: the requirement that the launch does not meet.
pub type Reason = &'static str;

/// A way to give each thread of a launch an element of its own.
///
/// # Safety
///
/// For every launch that `admits` accepts, no two threads have the same index.
pub unsafe trait Map: Copy + 'static {
    /// The index that names an element.
    type Index: Copy;

    /// The index of a thread's element.
    fn index(ids: &Ids) -> Self::Index;

    /// Whether the map holds for a launch.
    ///
    /// # Errors
    ///
    /// The requirement that the launch does not meet.
    fn admits(launch: Geometry) -> Result<(), Reason>;
}

/// One dimension, thread after thread. `BLOCK` is the number of threads in a block if the
/// kernel fixes it; 0 leaves it to the launch.
#[derive(Clone, Copy, Debug)]
pub struct Linear<const BLOCK: u32 = 0>;

// SAFETY: in one dimension, `b · BLOCK + t` with `t < BLOCK` is one-to-one, and it does not
// wrap.
unsafe impl<const BLOCK: u32> Map for Linear<BLOCK> {
    type Index = u32;

    #[inline(always)]
    fn index(ids: &Ids) -> u32 {
        let block = if BLOCK == 0 { ids.block_dim.x } else { BLOCK };
        ids.block_idx.x * block + ids.thread_idx.x
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        let [[n_blocks, 1, 1], [n_threads, 1, 1]] = [launch.grid, launch.block] else {
            return Err(
                "two threads would write one element: grid and block must be 1 along y and z",
            );
        };
        if BLOCK != 0 && n_threads != BLOCK {
            return Err(
                "elements would have two threads, or none: a block must be as long as the kernel says",
            );
        }
        fits_in_32_bits(u64::from(n_blocks) * u64::from(n_threads))
    }
}

/// Two dimensions: a block of `SIDE`×`SIDE` threads has a tile of the output, x along its
/// columns and y along its rows. An index is `(row, column)`.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<const SIDE: u32>;

// SAFETY: along each axis it is the linear map, which is one-to-one and does not wrap.
unsafe impl<const SIDE: u32> Map for Tiles<SIDE> {
    type Index = (u32, u32);

    #[inline(always)]
    fn index(ids: &Ids) -> (u32, u32) {
        let row = ids.block_idx.y * SIDE + ids.thread_idx.y;
        let column = ids.block_idx.x * SIDE + ids.thread_idx.x;
        (row, column)
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        if launch.block != [SIDE, SIDE, 1] {
            return Err(
                "elements would have two threads, or none: a block must be as large as the tile",
            );
        }
        if launch.grid[2] != 1 {
            return Err("two threads would write one element: the grid must be 1 along z");
        }
        fits_in_32_bits(u64::from(launch.grid[0]) * u64::from(SIDE))?;
        fits_in_32_bits(u64::from(launch.grid[1]) * u64::from(SIDE))
    }
}

fn fits_in_32_bits(n_indices: u64) -> Result<(), Reason> {
    if n_indices > 1 << 32 {
        return Err("the grid has more threads than 32-bit indices can count");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    extern crate std;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    fn indices(along: [u32; 3]) -> impl Iterator<Item = Vec3> {
        let [nx, ny, nz] = along;
        let line = move |y, z| (0..nx).map(move |x| Vec3 { x, y, z });
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| line(y, z)))
    }

    fn vector([x, y, z]: [u32; 3]) -> Vec3 {
        Vec3 { x, y, z }
    }

    /// All threads' indices.
    fn all<M: Map>(launch: Geometry) -> Vec<M::Index> {
        let of = |block_idx, thread_idx| {
            M::index(&Ids {
                block_idx,
                thread_idx,
                block_dim: vector(launch.block),
            })
        };
        indices(launch.grid)
            .flat_map(|block| indices(launch.block).map(move |thread| of(block, thread)))
            .collect()
    }

    /// Small launches of every kind, most of which most maps refuse.
    fn launches() -> impl Iterator<Item = Geometry> {
        const GRIDS: [[u32; 3]; 6] = [
            [1, 1, 1],
            [3, 1, 1],
            [4, 1, 1],
            [2, 3, 1],
            [3, 2, 1],
            [2, 1, 2],
        ];
        const BLOCKS: [[u32; 3]; 8] = [
            [1, 1, 1],
            [4, 1, 1],
            [5, 1, 1],
            [8, 1, 1],
            [2, 4, 1],
            [4, 4, 1],
            [8, 8, 1],
            [4, 4, 2],
        ];
        let with = |grid| {
            BLOCKS
                .into_iter()
                .map(move |block| Geometry { grid, block })
        };
        GRIDS.into_iter().flat_map(with)
    }

    /// The number of launches that the map admits; in each, no two threads share an index.
    fn admitted<M: Map>() -> usize
    where
        M::Index: Ord,
    {
        let admits = |launch: &Geometry| M::admits(*launch).is_ok();
        launches()
            .filter(admits)
            .map(|launch| {
                let all = all::<M>(launch);
                let distinct: BTreeSet<_> = all.iter().copied().collect();
                assert_eq!(distinct.len(), all.len(), "{launch:?}");
            })
            .count()
    }

    #[test]
    fn no_two_threads_have_one_element() {
        assert_eq!(admitted::<Linear>(), 12);
        assert_eq!(admitted::<Linear<8>>(), 3);
        assert_eq!(admitted::<Tiles<4>>(), 5);
        assert_eq!(admitted::<Tiles<8>>(), 5);
    }

    #[test]
    fn a_launch_that_is_refused_would_have_threads_meet() {
        let meets = |all: Vec<u32>| all.iter().collect::<BTreeSet<_>>().len() < all.len();
        let launch = |grid, block| Geometry { grid, block };
        let larger_block = launch([2, 1, 1], [8, 1, 1]);
        assert!(Linear::<4>::admits(larger_block).is_err());
        assert!(meets(all::<Linear<4>>(larger_block)));
        let two_dimensions = launch([2, 1, 1], [4, 4, 1]);
        assert!(Linear::<0>::admits(two_dimensions).is_err());
        assert!(meets(all::<Linear>(two_dimensions)));
    }

    #[test]
    fn the_indices_are_those_of_the_table() {
        let at = |[x, y]: [u32; 2]| Vec3 { x, y, z: 0 };
        let ids = Ids {
            block_idx: at([3, 2]),
            thread_idx: at([5, 6]),
            block_dim: at([8, 8]),
        };
        assert_eq!(Linear::<0>::index(&ids), 29);
        assert_eq!(Linear::<32>::index(&ids), 101);
        assert_eq!(Tiles::<8>::index(&ids), (22, 29));
    }

    #[test]
    fn what_wraps_is_refused() {
        let line = |n_blocks, n_threads| Geometry {
            grid: [n_blocks, 1, 1],
            block: [n_threads, 1, 1],
        };
        assert!(Linear::<0>::admits(line(1 << 24, 256)).is_ok());
        assert!(Linear::<0>::admits(line((1 << 24) + 1, 256)).is_err());
        let tiles = |n_blocks| Geometry {
            grid: [n_blocks, 1, 1],
            block: [32, 32, 1],
        };
        assert!(Tiles::<32>::admits(tiles(1 << 27)).is_ok());
        assert!(Tiles::<32>::admits(tiles((1 << 27) + 1)).is_err());
    }
}

//! Which element of an output is a thread's own.
//!
//! | map | index of the thread `t` of block `b` |
//! |---|---|
//! | [`Linear<BLOCK, FIRST>`](Linear) | `b · BLOCK + t + FIRST` |
//! | [`Exchanged<M>`](Exchanged) | that of `t ^ 1` by `M` |
//! | [`Strided`] | `b + t · blocks` |
//! | [`Tiles<SIDE>`](Tiles) | `(SIDE · b.y + t.y, SIDE · b.x + t.x)` |
//! | [`Turned<M>`](Turned) | that of `(t.y, t.x)` by `M` |
//! | [`Swapped<M>`](Swapped) | row and column by `M`, exchanged |
//!
//! Left out: maps that give a thread several elements; those of [`super::Chunks`] are in a
//! row.

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
    /// Blocks in the grid.
    pub grid_dim: Vec3,
}

impl Ids {
    /// Those of the calling thread. What is not used of them is not read.
    #[inline(always)]
    pub(super) fn of_this_thread() -> Self {
        Self {
            block_idx: thread::block_idx(),
            thread_idx: thread::thread_idx(),
            block_dim: thread::block_dim(),
            grid_dim: thread::grid_dim(),
        }
    }
}

/// Why a map does not hold for a geometry: what the launch would have to be.
pub type Reason = &'static str;

/// A way to give each thread of a launch an element of its own.
///
/// # Safety
///
/// For every launch that `admits` accepts, no two threads have the same index. Where a
/// thread owns several elements from its index on, these do not overlap either.
pub unsafe trait Map: Copy + 'static {
    /// What names an element.
    type Index: Copy;
    /// The output's first element lies at a multiple of this many elements' size.
    const ALIGN_ELEMENTS: u64 = 1;

    /// The index of a thread's element.
    fn index(ids: &Ids) -> Self::Index;

    /// Whether the map holds for a launch.
    ///
    /// # Errors
    ///
    /// What the launch would have to be.
    fn admits(launch: Geometry) -> Result<(), Reason>;
}

/// [`Linear`]'s `BLOCK` for blocks of as many threads as the launch says.
pub const ANY: u32 = 0;

/// One dimension, thread after thread, from the element `FIRST` on; `BLOCK` is the number
/// of threads in a block.
#[derive(Clone, Copy, Debug)]
pub struct Linear<const BLOCK: u32 = ANY, const FIRST: u32 = 0>;

// SAFETY: in one dimension, `b · BLOCK + t` with `t < BLOCK` is one-to-one; it does not
// wrap, and neither does the sum with `FIRST`.
unsafe impl<const BLOCK: u32, const FIRST: u32> Map for Linear<BLOCK, FIRST> {
    type Index = u32;

    #[inline(always)]
    fn index(ids: &Ids) -> u32 {
        let block = if BLOCK == ANY { ids.block_dim.x } else { BLOCK };
        ids.block_idx.x * block + ids.thread_idx.x + FIRST
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        let n_threads = one_dimension(launch)?;
        if BLOCK != ANY && launch.block[0] != BLOCK {
            return Err("the map has another number of threads in a block");
        }
        fits_in_32_bits(n_threads + u64::from(FIRST))
    }
}

/// `M`, but each two neighbouring threads have exchanged their elements.
#[derive(Clone, Copy, Debug)]
pub struct Exchanged<M>(core::marker::PhantomData<M>);

// SAFETY: in blocks of an even length, `t ^ 1` is one-to-one from the block to itself.
unsafe impl<M: Map> Map for Exchanged<M> {
    type Index = M::Index;
    const ALIGN_ELEMENTS: u64 = M::ALIGN_ELEMENTS;

    #[inline(always)]
    fn index(ids: &Ids) -> M::Index {
        let mut other = *ids;
        other.thread_idx.x ^= 1;
        M::index(&other)
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        if !launch.block[0].is_multiple_of(2) {
            return Err("threads exchange their elements: a block needs an even number along x");
        }
        M::admits(launch)
    }
}

/// One dimension; neighbouring threads are as many elements apart as the grid has blocks.
#[derive(Clone, Copy, Debug)]
pub struct Strided;

// SAFETY: in one dimension, `b + t · blocks` with `b < blocks` is one-to-one, and it does
// not wrap.
unsafe impl Map for Strided {
    type Index = u32;

    #[inline(always)]
    fn index(ids: &Ids) -> u32 {
        ids.block_idx.x + ids.thread_idx.x * ids.grid_dim.x
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        fits_in_32_bits(one_dimension(launch)?)
    }
}

/// Two dimensions: a block of `SIDE`×`SIDE` threads has a tile of the matrix, x along the
/// columns and y along the rows. An index is `(row, column)`.
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
            return Err("the map has tiles of another size than the block");
        }
        if launch.grid[2] != 1 {
            return Err("the map has two dimensions: a grid needs one block along z");
        }
        fits_in_32_bits(u64::from(launch.grid[0]) * u64::from(SIDE))?;
        fits_in_32_bits(u64::from(launch.grid[1]) * u64::from(SIDE))
    }
}

/// `M`, but the threads `(x, y)` and `(y, x)` of each block have exchanged their elements.
#[derive(Clone, Copy, Debug)]
pub struct Turned<M>(core::marker::PhantomData<M>);

// SAFETY: in a square block the exchange is one-to-one from the block to itself.
unsafe impl<M: Map> Map for Turned<M> {
    type Index = M::Index;
    const ALIGN_ELEMENTS: u64 = M::ALIGN_ELEMENTS;

    #[inline(always)]
    fn index(ids: &Ids) -> M::Index {
        let Vec3 { x, y, z } = ids.thread_idx;
        M::index(&Ids {
            thread_idx: Vec3 { x: y, y: x, z },
            ..*ids
        })
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        if launch.block[0] != launch.block[1] {
            return Err(
                "threads (x, y) and (y, x) exchange their elements: a block must be square",
            );
        }
        M::admits(launch)
    }
}

/// The same element of the transposed matrix: `M`'s column is the row, its row the column.
#[derive(Clone, Copy, Debug)]
pub struct Swapped<M>(core::marker::PhantomData<M>);

// SAFETY: exchanging two numbers is one-to-one.
unsafe impl<M: Map<Index = (u32, u32)>> Map for Swapped<M> {
    type Index = (u32, u32);

    #[inline(always)]
    fn index(ids: &Ids) -> (u32, u32) {
        let (row, column) = M::index(ids);
        (column, row)
    }

    fn admits(launch: Geometry) -> Result<(), Reason> {
        M::admits(launch)
    }
}

/// The threads of a launch of one dimension.
pub(super) fn one_dimension(launch: Geometry) -> Result<u64, Reason> {
    let [[n_blocks, 1, 1], [n_threads, 1, 1]] = [launch.grid, launch.block] else {
        return Err("the map has one dimension: grid and block must be 1 along y and z");
    };
    Ok(u64::from(n_blocks) * u64::from(n_threads))
}

fn fits_in_32_bits(n_indices: u64) -> Result<(), Reason> {
    if n_indices > 1 << 32 {
        return Err("the grid has more threads than 32-bit indices count");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Chunks;
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
                grid_dim: vector(launch.grid),
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

    /// How many of the launches the map admits; in each, no two threads meet.
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
        assert_eq!(admitted::<Linear<ANY, 7>>(), 12);
        assert_eq!(admitted::<Exchanged<Linear>>(), 6);
        assert_eq!(admitted::<Exchanged<Linear<4, 1>>>(), 3);
        assert_eq!(admitted::<Strided>(), 12);
        assert_eq!(admitted::<Tiles<4>>(), 5);
        assert_eq!(admitted::<Turned<Tiles<4>>>(), 5);
        assert_eq!(admitted::<Swapped<Tiles<8>>>(), 5);
        assert_eq!(admitted::<Swapped<Turned<Tiles<8>>>>(), 5);
    }

    #[test]
    fn a_launch_that_is_refused_would_have_threads_meet() {
        let meets = |all: Vec<u32>| all.iter().collect::<BTreeSet<_>>().len() < all.len();
        let launch = |grid, block| Geometry { grid, block };
        let larger_block = launch([2, 1, 1], [8, 1, 1]);
        assert!(Linear::<4>::admits(larger_block).is_err());
        assert!(meets(all::<Linear<4>>(larger_block)));
        let odd_block = launch([2, 1, 1], [5, 1, 1]);
        assert!(Exchanged::<Linear>::admits(odd_block).is_err());
        assert!(meets(all::<Exchanged<Linear>>(odd_block)));
        let two_dimensions = launch([2, 1, 1], [4, 4, 1]);
        assert!(Linear::<ANY>::admits(two_dimensions).is_err());
        assert!(meets(all::<Linear>(two_dimensions)));
        assert!(Strided::admits(two_dimensions).is_err());
        assert!(meets(all::<Strided>(two_dimensions)));
    }

    #[test]
    fn the_indices_are_those_of_the_table() {
        let at = |[x, y]: [u32; 2]| Vec3 { x, y, z: 0 };
        let ids = Ids {
            block_idx: at([3, 2]),
            thread_idx: at([5, 6]),
            block_dim: at([8, 8]),
            grid_dim: at([10, 10]),
        };
        assert_eq!(Linear::<ANY>::index(&ids), 29);
        assert_eq!(Linear::<32, 1>::index(&ids), 102);
        assert_eq!(Exchanged::<Linear>::index(&ids), 28);
        assert_eq!(Strided::index(&ids), 53);
        assert_eq!(Tiles::<8>::index(&ids), (22, 29));
        assert_eq!(Swapped::<Tiles<8>>::index(&ids), (29, 22));
        assert_eq!(Turned::<Tiles<8>>::index(&ids), (21, 30));
        assert_eq!(Swapped::<Turned<Tiles<8>>>::index(&ids), (30, 21));
        assert_eq!(Chunks::<32>::index(&ids), 4 * 101);
    }

    #[test]
    fn chunks_do_not_overlap() {
        for launch in launches().filter(|launch| Chunks::<ANY>::admits(*launch).is_ok()) {
            let mut first: Vec<_> = all::<Chunks>(launch);
            first.sort_unstable();
            assert!(
                first.windows(2).all(|pair| pair[1] - pair[0] >= 4),
                "{launch:?}"
            );
        }
        assert_eq!(admitted::<Chunks<8>>(), 3);
    }

    #[test]
    fn what_wraps_is_refused() {
        let line = |n_blocks, n_threads| Geometry {
            grid: [n_blocks, 1, 1],
            block: [n_threads, 1, 1],
        };
        assert!(Linear::<ANY>::admits(line(1 << 24, 256)).is_ok());
        assert!(Linear::<ANY>::admits(line((1 << 24) + 1, 256)).is_err());
        assert!(Linear::<ANY, 1>::admits(line(1 << 24, 256)).is_err());
        assert!(Strided::admits(line((1 << 24) + 1, 256)).is_err());
        // The end of the last chunk is an index, too.
        assert!(Chunks::<ANY>::admits(line((1 << 22) - 1, 256)).is_ok());
        assert!(Chunks::<ANY>::admits(line(1 << 22, 256)).is_err());
        let tiles = |n_blocks| Geometry {
            grid: [n_blocks, 1, 1],
            block: [32, 32, 1],
        };
        assert!(Tiles::<32>::admits(tiles(1 << 27)).is_ok());
        assert!(Tiles::<32>::admits(tiles((1 << 27) + 1)).is_err());
    }
}

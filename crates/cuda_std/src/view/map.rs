//! Maps from a thread to its own elements of an output.
//!
//! | map | indices of the thread `t` of block `b` |
//! |---|---|
//! | [`Linear`] | `b · blockDim + t` |
//! | [`Linear<BLOCK>`](Linear) | `b · BLOCK + t` |
//! | [`Tiles<ROWS, COLUMNS>`](Tiles) | `(ROWS · b.y + t.y, COLUMNS · b.x + t.x)` |
//! | [`GridStride`] | `b · blockDim + t`, and on by `gridDim · blockDim` |
//! | [`RowPerBlock<BLOCK>`](RowPerBlock) | `(b, t)`, and on by `BLOCK` columns |
//!
//! Left out: maps that give neighbouring lanes distant elements.

use crate::thread::{self, Vec3};
use core::fmt;

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
    /// Those of the calling thread. Unused ones are not read.
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

/// Why a map or a tile does not hold for a geometry: the requirement that the launch does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    what: &'static str,
    /// The threads that a block must have, by axis, if that is it.
    block: Option<[u32; 3]>,
}

impl Reason {
    const fn other(what: &'static str) -> Self {
        Self { what, block: None }
    }

    /// A block must have these threads, or else this.
    pub(super) const fn block(block: [u32; 3], what: &'static str) -> Self {
        let block = Some(block);
        Self { what, block }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, block } = self;
        match block {
            None => f.write_str(what),
            Some([x, y, z]) => write!(f, "{what}: the kernel is for blocks of {x}×{y}×{z} threads"),
        }
    }
}

/// What happens in blocks of another size than a kernel's.
const TWO_THREADS: &str = "elements would have two threads, or none";

/// A way to give each thread of a launch elements of its own.
///
/// # Safety
///
/// For every launch and output that `admits` accepts, no two threads have the same index.
pub unsafe trait Map: Copy + 'static {
    /// The index that names an element.
    type Index: Copy;

    /// The index of a thread's element, the first one if it has several.
    fn index(ids: &Ids) -> Self::Index;

    /// Whether the map holds for a launch, and an output of `n_elements`.
    ///
    /// # Errors
    ///
    /// The requirement that the launch does not meet.
    fn admits(launch: Geometry, n_elements: u64) -> Result<(), Reason>;
}

/// A map that gives a thread several elements, at equal distances from its first one to the end of
/// its line: of the whole output, or of a row.
///
/// # Safety
///
/// For every launch and output that `admits` accepts, no two threads have the same element, and the
/// first place after the line's end is less than 2³².
pub unsafe trait Stride: Map {
    /// The distance from one element to the next.
    fn stride(ids: &Ids) -> u32;
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

    fn admits(launch: Geometry, _n_elements: u64) -> Result<(), Reason> {
        fits_in_32_bits(threads_in_line(launch, BLOCK)?)
    }
}

/// Two dimensions: a block of `COLUMNS`×`ROWS` threads has a tile of the output, x along its
/// columns and y along its rows. An index is `(row, column)`. `Tiles<SIDE>` are square.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<const ROWS: u32, const COLUMNS: u32 = ROWS>;

// SAFETY: along each axis it is the linear map, which is one-to-one and does not wrap.
unsafe impl<const ROWS: u32, const COLUMNS: u32> Map for Tiles<ROWS, COLUMNS> {
    type Index = (u32, u32);

    #[inline(always)]
    fn index(ids: &Ids) -> (u32, u32) {
        let row = ids.block_idx.y * ROWS + ids.thread_idx.y;
        let column = ids.block_idx.x * COLUMNS + ids.thread_idx.x;
        (row, column)
    }

    fn admits(launch: Geometry, _n_elements: u64) -> Result<(), Reason> {
        if launch.block != [COLUMNS, ROWS, 1] {
            return Err(Reason::block([COLUMNS, ROWS, 1], TWO_THREADS));
        }
        if launch.grid[2] != 1 {
            return Err(Reason::other(
                "two threads would write one element: the grid must be 1 along z",
            ));
        }
        fits_in_32_bits(u64::from(launch.grid[0]) * u64::from(COLUMNS))?;
        fits_in_32_bits(u64::from(launch.grid[1]) * u64::from(ROWS))
    }
}

/// One dimension, several elements per thread: from its index in the grid on, each as many elements
/// after the one before as the grid has threads.
#[derive(Clone, Copy, Debug)]
pub struct GridStride;

// SAFETY: it is the linear map.
unsafe impl Map for GridStride {
    type Index = u32;

    #[inline(always)]
    fn index(ids: &Ids) -> u32 {
        Linear::<0>::index(ids)
    }

    fn admits(launch: Geometry, n_elements: u64) -> Result<(), Reason> {
        fits_in_32_bits(threads_in_line(launch, 0)? + n_elements)
    }
}

// SAFETY: threads start at different elements before the stride, which is the same for all. The
// elements and a stride more are at most 2³².
unsafe impl Stride for GridStride {
    #[inline(always)]
    fn stride(ids: &Ids) -> u32 {
        ids.grid_dim.x * ids.block_dim.x
    }
}

/// A row of a matrix per block of `BLOCK` threads: thread after thread, and around again until the
/// row's end. An index is `(row, column)`.
#[derive(Clone, Copy, Debug)]
pub struct RowPerBlock<const BLOCK: u32>;

// SAFETY: a block has a row of its own, and in it each thread a column of its own.
unsafe impl<const BLOCK: u32> Map for RowPerBlock<BLOCK> {
    type Index = (u32, u32);

    #[inline(always)]
    fn index(ids: &Ids) -> (u32, u32) {
        (ids.block_idx.x, ids.thread_idx.x)
    }

    fn admits(launch: Geometry, n_elements: u64) -> Result<(), Reason> {
        threads_in_line(launch, BLOCK)?;
        fits_in_32_bits(u64::from(BLOCK) + n_elements)
    }
}

// SAFETY: in a row, threads start at different columns before `BLOCK`. The columns and a stride more
// are at most 2³².
unsafe impl<const BLOCK: u32> Stride for RowPerBlock<BLOCK> {
    #[inline(always)]
    fn stride(_ids: &Ids) -> u32 {
        BLOCK
    }
}

/// The number of a launch's threads, if it has one dimension, and blocks of `block` threads unless
/// that is 0.
fn threads_in_line(launch: Geometry, block: u32) -> Result<u64, Reason> {
    let [[n_blocks, 1, 1], [n_threads, 1, 1]] = [launch.grid, launch.block] else {
        return Err(Reason::other(
            "two threads would write one element: grid and block must be 1 along y and z",
        ));
    };
    if block != 0 && n_threads != block {
        return Err(Reason::block([block, 1, 1], TWO_THREADS));
    }
    Ok(u64::from(n_blocks) * u64::from(n_threads))
}

fn fits_in_32_bits(n_indices: u64) -> Result<(), Reason> {
    if n_indices > 1 << 32 {
        return Err(Reason::other(
            "the grid has more threads than 32-bit indices can count",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::shape::{Length, Rows, Shape};

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

    /// All threads' places.
    fn threads(launch: Geometry) -> impl Iterator<Item = Ids> {
        let of = move |block_idx, thread_idx| Ids {
            block_idx,
            thread_idx,
            block_dim: vector(launch.block),
            grid_dim: vector(launch.grid),
        };
        indices(launch.grid)
            .flat_map(move |block| indices(launch.block).map(move |thread| of(block, thread)))
    }

    /// All threads' indices.
    fn all<M: Map>(launch: Geometry) -> Vec<M::Index> {
        threads(launch).map(|ids| M::index(&ids)).collect()
    }

    /// The offsets of all threads' elements.
    fn all_offsets<M: Stride>(launch: Geometry, shape: impl Shape<Index = M::Index>) -> Vec<usize> {
        let of = |ids: Ids| {
            let (line, first) = shape.line(M::index(&ids));
            let places = core::iter::successors(Some(first), move |&place| {
                Some(place.checked_add(M::stride(&ids)).expect("it fits"))
            });
            places.map_while(move |place| Some(line.first + line.length.offset(place)?))
        };
        threads(launch).flat_map(of).collect()
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

    /// The number of launches that the map admits; in each, no two threads share one of `all`.
    fn admitted<M: Map, I: Copy + Ord>(all: impl Fn(Geometry) -> Vec<I>) -> usize {
        let admits = |launch: &Geometry| M::admits(*launch, 63).is_ok();
        launches()
            .filter(admits)
            .map(|launch| {
                let all = all(launch);
                let distinct: BTreeSet<_> = all.iter().copied().collect();
                assert_eq!(distinct.len(), all.len(), "{launch:?}");
            })
            .count()
    }

    #[test]
    fn no_two_threads_have_one_element() {
        assert_eq!(admitted::<Linear, _>(all::<Linear>), 12);
        assert_eq!(admitted::<Linear<8>, _>(all::<Linear<8>>), 3);
        assert_eq!(admitted::<Tiles<4>, _>(all::<Tiles<4>>), 5);
        assert_eq!(admitted::<Tiles<8>, _>(all::<Tiles<8>>), 5);
        assert_eq!(admitted::<Tiles<4, 2>, _>(all::<Tiles<4, 2>>), 5);
        let strided = |launch| all_offsets::<GridStride>(launch, Length::new(63));
        assert_eq!(admitted::<GridStride, _>(strided), 12);
        let in_rows = |launch| all_offsets::<RowPerBlock<8>>(launch, Rows::new(3, 21));
        assert_eq!(admitted::<RowPerBlock<8>, _>(in_rows), 3);
    }

    #[test]
    fn maps_of_several_elements_leave_none_out() {
        let launch = Geometry {
            grid: [3, 1, 1],
            block: [8, 1, 1],
        };
        for mut offsets in [
            all_offsets::<GridStride>(launch, Length::new(63)),
            all_offsets::<RowPerBlock<8>>(launch, Rows::new(3, 21)),
        ] {
            offsets.sort_unstable();
            assert!(offsets.into_iter().eq(0..63));
        }
    }

    #[test]
    fn a_launch_that_is_refused_would_have_threads_meet() {
        fn meets<I: Ord>(all: &[I]) -> bool {
            all.iter().collect::<BTreeSet<_>>().len() < all.len()
        }
        let launch = |grid, block| Geometry { grid, block };
        let larger_block = launch([2, 1, 1], [8, 1, 1]);
        assert!(Linear::<4>::admits(larger_block, 63).is_err());
        assert!(meets(&all::<Linear<4>>(larger_block)));
        let two_dimensions = launch([2, 1, 1], [4, 4, 1]);
        assert!(Linear::<0>::admits(two_dimensions, 63).is_err());
        assert!(meets(&all::<Linear>(two_dimensions)));
        assert!(GridStride::admits(two_dimensions, 63).is_err());
        assert!(meets(&all_offsets::<GridStride>(
            two_dimensions,
            Length::new(63)
        )));
        assert!(RowPerBlock::<4>::admits(larger_block, 63).is_err());
        assert!(meets(&all_offsets::<RowPerBlock<4>>(
            larger_block,
            Rows::new(3, 21)
        )));
    }

    #[test]
    fn the_indices_are_those_of_the_table() {
        let at = |[x, y]: [u32; 2]| Vec3 { x, y, z: 0 };
        let ids = Ids {
            block_idx: at([3, 2]),
            thread_idx: at([5, 6]),
            block_dim: at([8, 8]),
            grid_dim: at([4, 4]),
        };
        assert_eq!(Linear::<0>::index(&ids), 29);
        assert_eq!(Linear::<32>::index(&ids), 101);
        assert_eq!(Tiles::<8>::index(&ids), (22, 29));
        assert_eq!(Tiles::<4, 16>::index(&ids), (14, 53));
        assert_eq!(GridStride::index(&ids), 29);
        assert_eq!(GridStride::stride(&ids), 32);
        assert_eq!(RowPerBlock::<8>::index(&ids), (3, 5));
        assert_eq!(RowPerBlock::<8>::stride(&ids), 8);
    }

    #[test]
    fn what_wraps_is_refused() {
        let line = |n_blocks, n_threads| Geometry {
            grid: [n_blocks, 1, 1],
            block: [n_threads, 1, 1],
        };
        assert!(Linear::<0>::admits(line(1 << 24, 256), 1).is_ok());
        assert!(Linear::<0>::admits(line((1 << 24) + 1, 256), 1).is_err());
        let tiles = |n_blocks| Geometry {
            grid: [n_blocks, 1, 1],
            block: [32, 32, 1],
        };
        assert!(Tiles::<32>::admits(tiles(1 << 27), 1).is_ok());
        assert!(Tiles::<32>::admits(tiles((1 << 27) + 1), 1).is_err());
        // The index after the last one is still a number of its own.
        let n_left = (1 << 32) - 1024;
        assert!(GridStride::admits(line(4, 256), n_left).is_ok());
        assert!(GridStride::admits(line(4, 256), n_left + 1).is_err());
        assert!(RowPerBlock::<256>::admits(line(4, 256), (1 << 32) - 256).is_ok());
        assert!(RowPerBlock::<256>::admits(line(4, 256), (1 << 32) - 255).is_err());
    }
}

//! Safe kernels: loops over tiles, operations of a block of any size, several elements per thread.

use cuda_std::DeviceCopy;
use cuda_std::prelude::*;
use cuda_std::thread::{block_idx_x, block_idx_y, sync_threads, thread_idx_x, thread_idx_y};
use cuda_std::vector::Float4;
use cuda_std::view::{Atomic, Block, Disjoint, Filling, Global, GridStride, Tiles};

/// Side of the tiles of a product.
pub const SIDE: u32 = 16;

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * SIDE + column) as usize
}

/// Rows of a tile that has more elements than its block has threads.
pub const ROWS: u32 = 5;
/// Its columns.
pub const COLUMNS: u32 = 30;
/// Threads that fill it.
pub const THREADS: u32 = 96;

const fn column_by_column(row: u32, column: u32) -> usize {
    (column * ROWS + row) as usize
}

cuda_std::tile_layout! {
    Square = row_by_row(SIDE, SIDE);
    Odd = column_by_column(ROWS, COLUMNS), block = [THREADS, 1];
}

/// `c = a · b`, of `m` × `k` and `k` × `n` elements. Launch with blocks of `SIDE` × `SIDE`.
#[kernel(launch_bounds(SIDE * SIDE))]
pub fn product(
    a: Global<[[f32; k]; m]>,
    b: Global<[[f32; n]; k]>,
    mut c: Disjoint<[[f32; n]; m], Tiles<SIDE>>,
    m: u32,
    n: u32,
    k: u32,
    mut a_tile: Filling<f32, Square>,
    mut b_tile: Filling<f32, Square>,
    block: Block,
) {
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, column) = (SIDE * block_idx_y() + y, SIDE * block_idx_x() + x);
    let n_tiles = k.div_ceil(SIDE);
    let mut sum = 0.0;
    for tile in 0..n_tiles {
        let first = SIDE * tile;
        a_tile.put(a.get((row, first + x)).unwrap_or(0.0));
        b_tile.put(b.get((first + y, column)).unwrap_or(0.0));
        let (a_full, b_full) = block.sync((a_tile, b_tile));
        for i in 0..SIDE {
            sum += a_full.get(y, i) * b_full.get(i, x);
        }
        (a_tile, b_tile) = block.sync((a_full, b_full));
    }
    if let Some(c) = c.own() {
        c.set(sum);
    }
}

/// [`product`] with pointers.
#[kernel(launch_bounds(SIDE * SIDE))]
pub unsafe fn product_by_pointers(
    a: *const f32,
    b: *const f32,
    c: *mut f32,
    m: u32,
    n: u32,
    k: u32,
) {
    let a_tile = shared_array![f32; (SIDE * SIDE) as usize];
    let b_tile = shared_array![f32; (SIDE * SIDE) as usize];
    let (x, y) = (thread_idx_x(), thread_idx_y());
    let (row, column) = (SIDE * block_idx_y() + y, SIDE * block_idx_x() + x);
    let element = |from: *const f32, row: u32, column: u32, n_rows: u32, n_columns: u32| {
        if row < n_rows && column < n_columns {
            *from.add((row * n_columns + column) as usize)
        } else {
            0.0
        }
    };
    let mut sum = 0.0;
    for tile in 0..k.div_ceil(SIDE) {
        let first = SIDE * tile;
        *a_tile.add(row_by_row(y, x)) = element(a, row, first + x, m, k);
        *b_tile.add(row_by_row(y, x)) = element(b, first + y, column, k, n);
        sync_threads();
        for i in 0..SIDE {
            sum += *a_tile.add(row_by_row(y, i)) * *b_tile.add(row_by_row(i, x));
        }
        sync_threads();
    }
    if row < m && column < n {
        *c.add((row * n + column) as usize) = sum;
    }
}

/// `y = x`, a vector per thread.
#[kernel]
pub fn copied_vectors(x: Global<[Float4; n]>, mut y: Disjoint<[Float4; n]>, n: u32) {
    if let (Some(x), Some(y)) = (x.get(thread::index_1d()), y.own()) {
        y.set(x);
    }
}

/// Each element of `x` and those before it in its block's part, in blocks of any number of threads;
/// and the largest of each block, added to `largest`.
#[kernel]
pub fn running_sums(
    x: Global<[u64; n]>,
    mut sums: Disjoint<[u64; n]>,
    largest: Atomic<[u64; 1]>,
    n: u32,
    block: Block,
) {
    // A closure that returns leaves no kernel.
    let checked = |i: u32| Some(u64::from(x.get(i)? > 0) * x.get(i)?);
    let own = checked(thread::index_1d()).unwrap_or(0);
    let scan = block.scan(own, 0, |a, b| a + b);
    let max = block.reduce(own, u64::max);
    if let Some(sum) = sums.own() {
        sum.set(scan.exclusive + own);
    }
    if thread_idx_x() == 0 {
        largest.add(0, max);
    }
}

/// Sums of a tile's elements, made in `n` rounds with as many rounds inside as their number says. A
/// round fills the tile with its number, adds 1 to an element per thread, and sums up.
#[kernel]
pub fn rounds(
    mut sums: Disjoint<[u32; n_sums], GridStride>,
    n_sums: u32,
    n: u32,
    mut tile: Filling<u32, Odd>,
    block: Block,
) {
    let thread = thread_idx_x();
    let mut sum = 0;
    for round in (0..n).rev() {
        for _ in 0..=round {
            tile.fill(|row, column| round + u32::from(row == ROWS - 1 && column == COLUMNS - 1));
            let adding = block.sync_for_adding(tile);
            adding.add(thread % ROWS, thread % COLUMNS, 1);
            let full = block.sync(adding);
            // Every thread reads a part.
            let mut own = 0;
            let mut i = thread;
            while i < ROWS * COLUMNS {
                own += full.get(i / COLUMNS, i % COLUMNS);
                i += THREADS;
            }
            let of_tile = block.sum(own);
            sum += of_tile;
            tile = block.sync(full);
        }
    }
    for (i, element) in sums.own_elements() {
        element.set(sum + i);
    }
}

/// Sums and scans of values of several sizes, one after the other, in the same scratch memory.
#[kernel(launch_bounds(1024))]
pub fn sums_of_sizes(mut sums: Disjoint<[f64; n]>, n: u32, block: Block) {
    let narrow = block.sum(1u32);
    let wide = block.sum(2.0f64);
    let before = block.scan(1u64, 0, |a, b| a + b);
    let up_to = block.scan(1.0f32, 0.0, |a, b| a + b);
    let largest = block.reduce(thread_idx_x(), u32::max);
    if let Some(sum) = sums.own() {
        let counts = f64::from(narrow) + before.exclusive as f64 + f64::from(up_to.inclusive);
        sum.set(counts + wide + f64::from(largest));
    }
}

/// A structure that buffers hold.
#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
pub struct Particle {
    /// Where it is.
    pub at: [f64; 3],
    /// Its mass.
    pub mass: f32,
    /// Its charge.
    pub charge: i32,
}

/// Moves particles of the same mass.
#[kernel]
pub fn moves(
    particles: Global<[Particle; n]>,
    mut moved: Disjoint<[Particle; n]>,
    n: u32,
    by: f64,
) {
    if let (Some(mut particle), Some(moved)) = (particles.get(thread::index_1d()), moved.own()) {
        particle.at[2] += by;
        particle.charge -= 1;
        moved.set(particle);
    }
}

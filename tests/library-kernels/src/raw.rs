//! The catalogue's safe kernels as they are with pointers: what safety may not cost.
//! `tests/tests/all/ptx_contracts.rs` compares their opcodes.
//!
//! Each has the name of its counterpart in `gpu-kernels`, after `raw_`, and takes the same
//! parameters.

use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::vector::Float4;

const BLOCK_THREADS: u32 = 256;
const ADD_THREADS: u32 = 1024;
const CHUNK: u32 = 4;
const TILE: u32 = 32;
const TILE_THREADS: u32 = TILE * TILE;
const TILE_ELEMENTS: usize = TILE_THREADS as usize;
const PADDED_ELEMENTS: usize = (TILE * (TILE + 1)) as usize;

const fn own(block: u32, thread: u32, block_threads: u32) -> u32 {
    block * block_threads + thread
}

const fn element(row: u32, column: u32, n_columns: u32) -> usize {
    (row * n_columns + column) as usize
}

const fn plain(row: u32, column: u32) -> u32 {
    row * TILE + column
}

const fn padded(row: u32, column: u32) -> u32 {
    row * (TILE + 1) + column
}

const fn swizzled(row: u32, column: u32) -> u32 {
    row * TILE + (column ^ row)
}

/// `copy`.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn raw_copy(input: *const f32, output: *mut f32, n_elements: u32) {
    let n = thread::block_idx_x() * BLOCK_THREADS + thread::thread_idx_x();
    if n < n_elements {
        *output.add(n as usize) = *input.add(n as usize);
    }
}

/// `copy_vectorized`.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn raw_copy_vectorized(input: *const f32, output: *mut f32, n_elements: u32) {
    let first = (thread::block_idx_x() * BLOCK_THREADS + thread::thread_idx_x()) * CHUNK;
    if first + CHUNK <= n_elements {
        Float4::load(input.add(first as usize).cast()).store(output.add(first as usize).cast());
    } else {
        for n in first..n_elements {
            *output.add(n as usize) = *input.add(n as usize);
        }
    }
}

/// `add`.
#[kernel]
pub unsafe fn raw_add(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = own(
        thread::block_idx_x(),
        thread::thread_idx_x(),
        thread::block_dim_x(),
    ) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// `add_permuted`.
#[kernel]
pub unsafe fn raw_add_permuted(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = own(
        thread::block_idx_x(),
        thread::thread_idx_x() ^ 1,
        thread::block_dim_x(),
    ) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// `add_offset`.
#[kernel]
pub unsafe fn raw_add_offset(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let thread = own(
        thread::block_idx_x(),
        thread::thread_idx_x(),
        thread::block_dim_x(),
    );
    let n = (thread + 1) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// `add_stride`.
#[kernel]
pub unsafe fn raw_add_stride(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = (thread::block_idx_x() + thread::thread_idx_x() * thread::grid_dim_x()) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x.add(n) + *y.add(n);
    }
}

/// `add_broadcast`.
#[kernel]
pub unsafe fn raw_add_broadcast(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let n = own(
        thread::block_idx_x(),
        thread::thread_idx_x(),
        thread::block_dim_x(),
    ) as usize;
    if n < n_elements as usize {
        *z.add(n) = *x + *y.add(n);
    }
}

#[inline(always)]
const fn add_chunks(x: Float4, y: Float4) -> Float4 {
    Float4::new(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w)
}

/// `add_vectorized`.
#[kernel(launch_bounds(ADD_THREADS))]
pub unsafe fn raw_add_vectorized(x: *const f32, y: *const f32, z: *mut f32, n_elements: u32) {
    let thread = own(thread::block_idx_x(), thread::thread_idx_x(), ADD_THREADS);
    let first = thread * CHUNK;
    if first + CHUNK <= n_elements {
        let chunk = |v: *const f32| Float4::load(v.add(first as usize).cast());
        add_chunks(chunk(x), chunk(y)).store_streaming(z.add(first as usize).cast());
    } else {
        for n in first..n_elements {
            let n = n as usize;
            *z.add(n) = *x.add(n) + *y.add(n);
        }
    }
}

/// `transpose_coalesced_read`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_coalesced_read(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let column = thread::block_idx_x() * TILE + thread::thread_idx_x();
    let row = thread::block_idx_y() * TILE + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        *output.add(element(column, row, n_rows)) = *input.add(element(row, column, n_columns));
    }
}

/// `transpose_coalesced_write`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_coalesced_write(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = thread::block_idx_x() * TILE + thread::thread_idx_x();
    let column = thread::block_idx_y() * TILE + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        *output.add(element(column, row, n_rows)) = *input.add(element(row, column, n_columns));
    }
}

/// `transpose_coalesced_write_ldg`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_coalesced_write_ldg(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let row = thread::block_idx_x() * TILE + thread::thread_idx_x();
    let column = thread::block_idx_y() * TILE + thread::thread_idx_y();
    if row < n_rows && column < n_columns {
        *output.add(element(column, row, n_rows)) = ldg(input.add(element(row, column, n_columns)));
    }
}

/// Turns one tile.
#[inline(always)]
unsafe fn transpose_tile(
    tile: *mut f32,
    layout: impl Fn(u32, u32) -> u32,
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let first_row = thread::block_idx_y() * TILE;
    let first_column = thread::block_idx_x() * TILE;

    let (row, column) = (first_row + y, first_column + x);
    if row < n_rows && column < n_columns {
        *tile.add(layout(y, x) as usize) = *input.add(element(row, column, n_columns));
    }
    thread::sync_threads();
    let (row, column) = (first_row + x, first_column + y);
    if row < n_rows && column < n_columns {
        *output.add(element(column, row, n_rows)) = *tile.add(layout(x, y) as usize);
    }
}

/// `transpose_shared`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_shared(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let tile = shared_array![f32; TILE_ELEMENTS];
    transpose_tile(tile, plain, input, output, n_rows, n_columns);
}

/// `transpose_padded`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_padded(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let tile = shared_array![f32; PADDED_ELEMENTS];
    transpose_tile(tile, padded, input, output, n_rows, n_columns);
}

/// `transpose_swizzled`.
#[kernel(launch_bounds(TILE_THREADS))]
pub unsafe fn raw_transpose_swizzled(
    input: *const f32,
    output: *mut f32,
    n_rows: u32,
    n_columns: u32,
) {
    let tile = shared_array![f32; TILE_ELEMENTS];
    transpose_tile(tile, swizzled, input, output, n_rows, n_columns);
}

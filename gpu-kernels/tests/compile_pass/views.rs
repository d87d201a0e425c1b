//! A safe kernel of every kind of parameter, and what the host's launch knows of it.
#![deny(unused_braces)]
use cuda_std::launch::{Input, Kernel, KernelArgs, Output, SafeKernel, Unfit};
use cuda_std::prelude::*;
use cuda_std::view::{
    Atomic, Block, Disjoint, Filled, Filling, Geometry, Global, GridStride, Linear, RowPerBlock, Tiles,
};
use gpu_kernels::coalescing::add_safe;

const SIDE: u32 = 8;

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * SIDE + column) as usize
}
cuda_std::tile_layout! {
    Rows = row_by_row(SIDE, SIDE);
    Wide = row_by_row(2 * SIDE, SIDE), block = [SIDE, SIDE];
}

/// Scales and transposes.
#[kernel(launch_bounds(64))]
pub fn turn(
    input: Global<[[f32; n_columns]; n_rows]>,
    factors: Global<[f32; SIDE]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], Tiles<SIDE>>,
    n_rows: u32,
    n_columns: u32,
    scale: f32,
    mut tile: Filling<f32, Rows>,
    block: Block,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (SIDE * thread::block_idx_x(), SIDE * thread::block_idx_y());
    if let (Some(value), Some(factor)) = (input.get((row + y, column + x)), factors.get(x)) {
        tile.put(value * factor * scale);
    }
    let tile = block.sync(tile);
    if let Some(output) = output.own() {
        output.set(tile.get(x, y));
    }
    if scale == 0.0 {
        // After the barrier a thread may end.
        return;
    }
}

/// In blocks of 64.
#[kernel(launch_bounds(64))]
pub fn copy(x: Global<[f32; n]>, mut y: Disjoint<[f32; n], Linear<64>>, n: u32) {
    if let (Some(x), Some(y)) = (x.get(thread::index_1d()), y.own()) {
        y.set(x);
    }
}

/// Any of a kernel's tiles.
fn corner<const TILE: u32>(tile: &Filled<f32, Rows, TILE>) -> f32 {
    tile.get(0, 0)
}

/// Loops in which threads meet: nested, counted by parameters, constants, places of blocks and each
/// other's variables.
#[kernel(instances(meet_twice = meet::<2>))]
pub fn meet<const TIMES: u32>(
    mut sums: Disjoint<[f32; n], GridStride>,
    counts: Atomic<[u32; SIDE]>,
    n: u32,
    mut one: Filling<f32, Rows>,
    mut two: Filling<f32, Rows>,
    mut wide: Filling<u32, Wide>,
    block: Block,
) {
    let n_rounds: u32 = n.div_ceil(SIDE) + thread::block_idx_x() % 2;
    let mut sum = 0.0;
    for round in (0..n_rounds).rev().step_by(TIMES as usize) {
        one.put(1.0);
        for _ in round..=(n_rounds - 1) << 1 {
            two.put(2.0);
            let read = block.sync((one, two));
            sum += corner(&read.0) + corner(&read.1);
            (one, two) = block.sync(read);
        }
        let mut bit = 1;
        while bit < 4 {
            if bit == round {
                break;
            }
            bit <<= 1;
        }
    }
    wide.fill(|row, column| row + column);
    let wide = block.sync_for_adding(wide);
    wide.add(1, 1, n);
    let wide = block.sync(wide);
    if counts.add(1, wide.get(0, 0)) == Some(0) {
        for (i, element) in sums.own_elements() {
            element.set(sum + i as f32);
        }
    }
}

/// A row per block.
#[kernel]
pub fn rows(mut x: Disjoint<[[f32; n]; n], RowPerBlock<64>>, n: u32) {
    for (column, element) in x.own_elements() {
        element.set(column as f32);
    }
}

fn geometry(grid: [u32; 3], block: [u32; 3]) -> Geometry {
    Geometry { grid, block }
}

/// A body that is one expression.
#[kernel]
pub unsafe fn one_expression(x: *mut f32, n: u32) {
    if n > 0 {
        *x = 1.0;
    }
}

/// The launch library guarantees what the contracts require; here nothing is launched.
fn input<T: cuda_std::launch::DeviceCopy>(address: u64, n: u64) -> Input<'static, T> {
    unsafe { Input::new(address, n) }
}
fn output<T: cuda_std::launch::DeviceCopy>(address: u64, n: u64) -> Output<'static, T> {
    unsafe { Output::new(address, n) }
}

fn turned(launch: Geometry, n_input: u64, n_output: u64) -> Result<(), Unfit> {
    let views = (input(256, n_input), input(512, 8), output(1024, n_output), 16, 24, 1.0);
    turn::admit(launch, 1, views).map(|_| ())
}

fn said(result: Result<(), Unfit>) -> String {
    result.expect_err("it does not fit").to_string()
}

fn main() {
    assert_eq!(turn::PARAM_NAMES, ["input", "factors", "output", "n_rows", "n_columns", "scale"]);
    let sizes: Vec<u32> = <turn as Kernel>::Args::param_sizes().collect();
    assert_eq!(sizes, [8, 8, 8, 4, 4, 4]);

    let fitting = geometry([3, 2, 1], [8, 8, 1]);
    assert_eq!(turned(fitting, 384, 384), Ok(()));
    assert_eq!(turned(fitting, 400, 385), Ok(()));
    assert_eq!(
        said(turned(fitting, 383, 384)),
        "`input` has 383 elements, but the kernel's other arguments say 384"
    );
    let elsewhere = (input(256, 384).in_memory(2), input(512, 8), output(1024, 384), 16, 24, 1.0);
    let elsewhere = turn::admit(fitting, 1, elsewhere).map(|_| ());
    assert_eq!(elsewhere, Err(Unfit::Elsewhere { parameter: "input" }));
    assert!(said(turned(fitting, 384, 0)).starts_with("`output` has 0 elements"));
    assert_eq!(
        said(turned(geometry([3, 2, 1], [64, 1, 1]), 384, 384)),
        "`output` does not fit 3×2×1 blocks of 64×1×1 threads: elements would have two threads, or none: the kernel \
         is for blocks of 8×8×1 threads"
    );
    let larger = (input(0, 1 << 33), input(0, 8), output(0, 1 << 33), 1 << 16, 1 << 17, 1.0);
    let larger = turn::admit(fitting, 1, larger).map(|_| ());
    assert!(said(larger).starts_with("`input` would have 8589934592 elements"));

    let copied = |launch, x| copy::admit(launch, 1, (input(x, 9), output(512, 9), 9)).map(|_| ());
    let line = geometry([2, 1, 1], [64, 1, 1]);
    assert_eq!(copied(line, 256), Ok(()));
    assert_eq!(
        said(copied(line, 258)),
        "`x` begins at address 0x102, but the kernel needs a multiple of 4 bytes"
    );
    assert_eq!(
        said(copied(geometry([2, 1, 1], [96, 1, 1]), 256)),
        "`y` does not fit 2×1×1 blocks of 96×1×1 threads: elements would have two threads, or none: the kernel is \
         for blocks of 64×1×1 threads"
    );

    // Several elements per thread: the grid is as large as one likes, and the block as the tiles are.
    let met = |launch, n_counts, n: u32| {
        let views = (output(256, n.into()), output(512, n_counts), n);
        meet_twice::admit(launch, 1, views).map(|_| ())
    };
    assert_eq!(meet_twice::PARAM_NAMES, ["sums", "counts", "n"]);
    assert!(said(met(line, 8, 9)).starts_with("`one` does not fit 2×1×1 blocks of 64×1×1 threads: elements of the tile"));
    assert!(said(met(fitting, 8, 9)).starts_with("`sums` does not fit 3×2×1 blocks of 8×8×1 threads: two threads"));
    assert!(said(met(line, 7, 9)).starts_with("`counts` has 7 elements"));
    assert!(said(met(line, 8, u32::MAX)).ends_with("more threads than 32-bit indices can count"));
    let in_rows = |launch| rows::admit(launch, 1, (output(256, 81), 9)).map(|_| ());
    assert_eq!(in_rows(line), Ok(()));
    assert!(said(in_rows(geometry([9, 1, 1], [32, 1, 1]))).ends_with("none: the kernel is for blocks of 64×1×1 threads"));

    // The catalogue's are such kernels.
    let added = |launch| {
        let views = (input(256, 9), input(512, 9), output(768, 9), 9);
        add_safe::admit(launch, 1, views).map(|_| ())
    };
    assert_eq!(added(line), Ok(()));
    assert_eq!(
        said(added(geometry([2, 2, 1], [64, 1, 1]))),
        "`z` does not fit 2×2×1 blocks of 64×1×1 threads: two threads would write one element: grid and block must \
         be 1 along y and z"
    );
}

//! A safe kernel of every kind of parameter, and what the host's launch knows of it.
use cuda_std::launch::{Input, Kernel, KernelArgs, Output, SafeKernel, Unfit};
use cuda_std::prelude::*;
use cuda_std::view::{Barrier, Disjoint, Filling, Geometry, Global, Linear, Tiles};
use gpu_kernels::coalescing::add_safe;

const SIDE: u32 = 8;

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * SIDE + column) as usize
}
cuda_std::tile_layout! { Rows = row_by_row(SIDE, SIDE); }

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
    barrier: Barrier,
) {
    let (x, y) = (thread::thread_idx_x(), thread::thread_idx_y());
    let (row, column) = (SIDE * thread::block_idx_x(), SIDE * thread::block_idx_y());
    if let (Some(value), Some(factor)) = (input.get((row + y, column + x)), factors.get(x)) {
        tile.put(value * factor * scale);
    }
    let tile = tile.sync(barrier);
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

fn geometry(grid: [u32; 3], block: [u32; 3]) -> Geometry {
    Geometry { grid, block }
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
    turn::admit(launch, views).map(|_| ())
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
    assert!(said(turned(fitting, 384, 0)).starts_with("`output` has 0 elements"));
    assert_eq!(
        said(turned(geometry([3, 2, 1], [64, 1, 1]), 384, 384)),
        "`output` does not fit 3×2×1 blocks of 64×1×1 threads: elements would have two threads, or none: a block must \
         be as large as the tile"
    );
    let larger = (input(0, 1 << 33), input(0, 8), output(0, 1 << 33), 1 << 16, 1 << 17, 1.0);
    let larger = turn::admit(fitting, larger).map(|_| ());
    assert!(said(larger).starts_with("`input` would have 8589934592 elements"));

    let copied = |launch, x| copy::admit(launch, (input(x, 9), output(512, 9), 9)).map(|_| ());
    let line = geometry([2, 1, 1], [64, 1, 1]);
    assert_eq!(copied(line, 256), Ok(()));
    assert_eq!(
        said(copied(line, 258)),
        "`x` begins at address 0x102, but the kernel needs a multiple of 4 bytes"
    );
    assert_eq!(
        said(copied(geometry([2, 1, 1], [96, 1, 1]), 256)),
        "`y` does not fit 2×1×1 blocks of 96×1×1 threads: elements would have two threads, or none: a block must be \
         as long as the kernel says"
    );

    // The catalogue's are such kernels.
    let added = |launch| {
        let views = (input(256, 9), input(512, 9), output(768, 9), 9);
        add_safe::admit(launch, views).map(|_| ())
    };
    assert_eq!(added(line), Ok(()));
    assert_eq!(
        said(added(geometry([2, 2, 1], [64, 1, 1]))),
        "`z` does not fit 2×2×1 blocks of 64×1×1 threads: two threads would write one element: grid and block must \
         be 1 along y and z"
    );
}

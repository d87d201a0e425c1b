//! A safe kernel of every kind of parameter, and what the host's launch is told of it.
use cuda_std::launch::{Input, Kernel, KernelArgs, Output, SafeKernel, Unfit};
use cuda_std::prelude::*;
use cuda_std::view::{
    Barrier, Chunked, Chunks, Disjoint, Filling, Geometry, Global, Linear, Swapped, Tiles, Turned,
};
use gpu_kernels::coalescing::add_permuted;

const SIDE: u32 = 8;

const fn row_by_row(row: u32, column: u32) -> u32 {
    row * SIDE + column
}
cuda_std::tile_layout! { Rows = row_by_row(SIDE, SIDE) in (SIDE * SIDE) as usize; }

/// Scales and turns.
#[kernel(launch_bounds(64))]
pub fn turn(
    input: Global<[[f32; n_columns]; n_rows]>,
    factors: Global<[f32; SIDE]>,
    mut output: Disjoint<[[f32; n_rows]; n_columns], Swapped<Turned<Tiles<SIDE>>>>,
    n_rows: u32,
    n_columns: u32,
    scale: f32,
    mut tile: Filling<f32, Rows>,
    barrier: Barrier,
) {
    let row = thread::block_idx_y() * SIDE + thread::thread_idx_y();
    let column = thread::block_idx_x() * SIDE + thread::thread_idx_x();
    if let (Some(x), Some(factor)) = (input.get((row, column)), factors.get(thread::thread_idx_x())) {
        tile.put(x * factor * scale);
    }
    let tile = tile.sync(barrier);
    if let Some(output) = output.at(output.place()) {
        output.set(tile.get(tile.lane().turned()));
    }
    if scale == 0.0 {
        // Behind the barrier a thread may end.
        return;
    }
}

/// Four at a time.
#[kernel]
pub fn chunks(x: Global<[f32; n], Chunked>, mut y: Disjoint<[f32; n], Chunks>, n: u32) {
    let place = y.place();
    y.write_chunk(
        place,
        |y| y.store(x.get_chunk(place).unwrap_or_default()),
        |n, y| y.set(x.get(n).unwrap_or_default()),
    );
}

fn geometry(grid: [u32; 3], block: [u32; 3]) -> Geometry {
    Geometry { grid, block }
}

/// The launch library promises what the contracts ask; here nothing is launched.
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
        "`input` has 383 elements, and the kernel's other arguments say 384"
    );
    assert!(said(turned(fitting, 384, 0)).starts_with("`output` has 0 elements"));
    assert_eq!(
        said(turned(geometry([3, 2, 1], [64, 1, 1]), 384, 384)),
        "`output` does not fit 3×2×1 blocks of 64×1×1 threads: threads (x, y) and (y, x) exchange their elements: \
         a block must be square"
    );
    let larger = (input(0, 1 << 33), input(0, 8), output(0, 1 << 33), 1 << 16, 1 << 17, 1.0);
    let larger = turn::admit(fitting, larger).map(|_| ());
    assert!(said(larger).starts_with("`input` would have 8589934592 elements"));

    let line = geometry([2, 1, 1], [256, 1, 1]);
    let chunked = |x, y| chunks::admit(line, (input(x, 9), output(y, 9), 9)).map(|_| ());
    assert_eq!(chunked(16, 32), Ok(()));
    assert_eq!(
        said(chunked(20, 32)),
        "`x` begins at address 0x14, and the kernel needs a multiple of 16 bytes"
    );
    assert!(said(chunked(16, 40)).starts_with("`y` begins at address 0x28"));

    // The catalogue's are such kernels.
    let views = || (input(256, 9), input(512, 9), output(768, 9), 9);
    assert!(add_permuted::admit(line, views()).is_ok());
    let odd = geometry([2, 1, 1], [255, 1, 1]);
    assert!(said(add_permuted::admit(odd, views()).map(|_| ())).contains("an even number along x"));
    let _: Linear = Linear;
}

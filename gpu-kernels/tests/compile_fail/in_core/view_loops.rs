//! Loops in which threads would meet different numbers of times.
use cuda_std::kernel;
use cuda_std::thread::{block_dim_x, thread_idx_x};
use cuda_std::view::{Block, Filling};

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * 8 + column) as usize
}
cuda_std::tile_layout! { Rows = row_by_row(8, 8); }

#[kernel]
pub fn to_the_threads_own_end(mut tile: Filling<f32, Rows>, block: Block) {
    for _ in 0..thread_idx_x() {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

#[kernel]
pub fn from_the_threads_own_start(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    let first = thread_idx_x();
    for _ in (first..n).step_by(32) {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// Another variable by the name of a parameter.
#[kernel]
pub fn shadowed(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    let n = n.min(thread_idx_x());
    for _ in 0..n {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

#[kernel]
pub fn changed(mut tile: Filling<f32, Rows>, block: Block, mut n: u32) {
    n -= thread_idx_x();
    for _ in 0..n {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// A variable that is written like a constant.
#[kernel]
pub fn in_capitals(mut tile: Filling<f32, Rows>, block: Block) {
    let N = thread_idx_x();
    for _ in 0..N {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// Arithmetic of another kind.
#[derive(Clone, Copy)]
pub struct Odd;
impl core::ops::Add<u32> for Odd {
    type Output = u32;
    fn add(self, n: u32) -> u32 {
        n + thread_idx_x()
    }
}
const ODD: Odd = Odd;

#[kernel]
pub fn of_odd_numbers(mut tile: Filling<f32, Rows>, block: Block) {
    for _ in 0..ODD + 1 {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// A method of another trait by the name of one that is known.
trait Rev {
    fn rev(self) -> core::ops::Range<u32>;
}
impl Rev for u32 {
    fn rev(self) -> core::ops::Range<u32> {
        0..thread_idx_x()
    }
}

#[kernel]
pub fn by_another_method(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for _ in n.rev() {
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

#[kernel]
pub fn until_a_thread_is_done(mut tile: Filling<f32, Rows>, block: Block) {
    let mut i = 0;
    while i < thread_idx_x() {
        let read = block.sync(tile);
        tile = block.sync(read);
        i += 1;
    }
}

#[kernel]
pub fn left_early(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for i in 0..n {
        let read = block.sync(tile);
        if i == thread_idx_x() {
            break;
        }
        tile = block.sync(read);
    }
}

#[kernel]
pub fn skipped(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for i in 0..n {
        if i == thread_idx_x() {
            continue;
        }
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

#[kernel]
pub fn left_by_a_name(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    'all: for i in 0..n {
        if i == thread_idx_x() {
            break 'all;
        }
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// Hidden in a macro, or beside another loop, the compiler finds them.
macro_rules! leave {
    () => {
        break
    };
}

#[kernel]
pub fn left_by_a_macro(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for i in 0..n {
        if i == thread_idx_x() {
            leave!();
        }
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

#[kernel]
pub fn left_after_a_loop(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for i in 0..n {
        if i == thread_idx_x() {
            while i > block_dim_x() {}
            break;
        }
        let read = block.sync(tile);
        tile = block.sync(read);
    }
}

/// The next round fills what slower threads still read.
#[kernel]
pub fn without_the_second_barrier(mut tile: Filling<f32, Rows>, block: Block, n: u32) {
    for _ in 0..n {
        tile.put(1.0);
        let read = block.sync(tile);
    }
}

fn main() {}

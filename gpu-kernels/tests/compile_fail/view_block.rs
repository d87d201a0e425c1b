//! Barriers that not all threads of the block would reach, or not as often.
use cuda_std::thread::thread_idx_x;
use cuda_std::view::{Block, Filled, Filling, Global};
use cuda_std::{kernel, thread};

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * 8 + column) as usize
}
cuda_std::tile_layout! { Rows = row_by_row(8, 8); }

#[kernel]
pub fn in_a_branch(tile: Filling<f32, Rows>, block: Block) {
    if thread_idx_x() == 0 {
        let tile = block.sync(tile);
    }
}

#[kernel]
pub fn in_a_match(tile: Filling<f32, Rows>, block: Block) {
    let tile = match thread_idx_x() {
        0 => Some(block.sync(tile)),
        _ => None,
    };
}

#[kernel]
pub fn only_sometimes(tile: Filling<f32, Rows>, block: Block) {
    let is_done = thread_idx_x() == 0 && block.sync(tile).get(0, 0) == 1.0;
}

#[kernel]
pub fn in_a_closure(tile: Filling<f32, Rows>, block: Block) {
    let later = || block.sync(tile);
}

#[kernel]
pub fn given_away(tile: Filling<f32, Rows>, block: Block) {
    let other = block;
    let tile = other.sync(tile);
}

#[kernel]
pub fn given_away_in_an_operation(tile: Filling<f32, Rows>, block: Block) {
    let tile = block.sync(wait_first(tile, &block));
}

/// A method that could do anything with the block.
trait Wait {
    fn wait(&self);
}
impl Wait for Block {
    fn wait(&self) {}
}

#[kernel]
pub fn by_another_method(tile: Filling<f32, Rows>, block: Block) {
    block.wait();
    let tile = block.sync(tile);
}

#[kernel]
pub fn two_blocks(tile: Filling<f32, Rows>, block: Block, again: Block) {
    let tile = block.sync(tile);
}

#[kernel]
pub fn after_a_return(x: Global<[f32; n]>, n: u32, mut tile: Filling<f32, Rows>, block: Block) {
    let Some(x) = x.get(thread::index_1d()) else {
        return;
    };
    tile.put(x);
    let tile = block.sync(tile);
}

/// A method of the same name, which could do anything.
struct Wrapped(Filling<f32, Rows>);
impl Wrapped {
    fn sync(self) -> Option<Filled<f32, Rows>> {
        None
    }
}

#[kernel]
pub fn not_a_tile(tile: Filling<f32, Rows>, block: Block) {
    let tile = block.sync(Wrapped(tile));
}

#[kernel]
pub fn bare_barrier(x: Global<[f32; n]>, n: u32) {
    unsafe { thread::sync_threads() };
    if n > 1 {
        thread::sync_threads();
    }
}

/// Waits in diverged code.
fn first_thread_waits() {
    if thread_idx_x() == 0 {
        thread::sync_threads();
    }
}

#[kernel]
pub fn in_a_helper(tile: Filling<f32, Rows>, block: Block) {
    first_thread_waits();
    let tile = block.sync(tile);
}

fn main() {}

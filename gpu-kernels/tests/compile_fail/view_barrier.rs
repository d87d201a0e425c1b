//! Barriers that not all threads of the block would reach.
use cuda_std::view::{Barrier, Filled, Filling, Global};
use cuda_std::{kernel, thread};

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * 8 + column) as usize
}
cuda_std::tile_layout! { Rows = row_by_row(8, 8); }

#[kernel]
pub fn twice(tile: Filling<f32, Rows>, barrier: Barrier) {
    let tile = tile.sync(barrier);
    let tile = tile.sync(barrier);
}

/// Some threads could exchange the tiles.
#[kernel]
pub fn two_tiles(one: Filling<f32, Rows>, two: Filling<f32, Rows>, barrier: Barrier) {
    let one = one.sync(barrier);
}

/// Outside a kernel the types alone rule it out.
fn twice_in_a_function(one: Filling<f32, Rows>, two: Filling<f32, Rows>, barrier: Barrier) {
    one.sync(barrier);
    two.sync(barrier);
}

#[kernel]
pub fn in_a_branch(tile: Filling<f32, Rows>, barrier: Barrier) {
    if thread::thread_idx_x() == 0 {
        let tile = tile.sync(barrier);
    }
}

#[kernel]
pub fn in_a_function(tile: Filling<f32, Rows>, barrier: Barrier) {
    let sometimes = |tile: Filling<f32, Rows>, barrier: Barrier| tile.sync(barrier);
    let tile = sometimes(tile, barrier);
}

/// A method of the same name, which could do anything.
struct Wrapped(Filling<f32, Rows>);
impl Wrapped {
    fn sync(self, barrier: Barrier) -> Option<Filled<f32, Rows>> {
        thread::first().then(|| self.0.sync(barrier))
    }
}

#[kernel]
pub fn in_a_method(tile: Filling<f32, Rows>, barrier: Barrier) {
    let tile = Wrapped(tile);
    let tile = tile.sync(barrier);
}

#[kernel]
pub fn after_a_return(x: Global<[f32; n]>, n: u32, mut tile: Filling<f32, Rows>, barrier: Barrier) {
    let Some(x) = x.get(thread::index_1d()) else {
        return;
    };
    tile.put(x);
    let tile = tile.sync(barrier);
}

/// Waits in diverged code.
fn first_thread_waits() {
    if thread::thread_idx_x() == 0 {
        thread::sync_threads();
    }
}

#[kernel]
pub fn in_a_helper(tile: Filling<f32, Rows>, barrier: Barrier) {
    first_thread_waits();
    let tile = tile.sync(barrier);
}

fn main() {}

//! A tile that is read while others still fill it or add to it, or filled while others read it.
use cuda_std::kernel;
use cuda_std::view::{Atomic, Block, Disjoint, Filling, Phase};

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * 8 + column) as usize
}
cuda_std::tile_layout! {
    Rows = row_by_row(8, 8);
    Halo = row_by_row(8, 8), block = [6, 6];
}

#[kernel]
pub fn reads_early(mut z: Disjoint<[f32; 64]>, mut tile: Filling<f32, Rows>) {
    tile.put(1.0);
    if let Some(z) = z.own() {
        z.set(tile.get(0, 0));
    }
}

#[kernel]
pub fn puts_late(mut tile: Filling<f32, Rows>, block: Block) {
    let mut read = block.sync(tile);
    read.put(2.0);
    tile.put(3.0);
}

#[kernel]
pub fn reads_late(tile: Filling<f32, Rows>, block: Block) {
    let read = block.sync(tile);
    let mut tile = block.sync(read);
    tile.put(read.get(1, 1));
}

/// Another thread's element.
#[kernel]
pub fn puts_one_of_several(mut tile: Filling<f32, Halo>, block: Block) {
    tile.put(1.0);
}

/// Then a thread would fill what others read.
#[kernel]
pub fn exchanges_tiles(mut one: Filling<f32, Rows>, mut two: Filling<f32, Rows>, block: Block) {
    core::mem::swap(&mut one, &mut two);
    let one = block.sync(one);
}

#[kernel]
pub fn reads_what_others_add_to(mut z: Disjoint<[u32; 64]>, tile: Filling<u32, Rows>, block: Block) {
    let tile = block.sync_for_adding(tile);
    tile.add(0, 0, 1);
    if let Some(z) = z.own() {
        z.set(tile.get(0, 0));
    }
}

#[kernel]
pub fn adds_to_what_others_read(tile: Filling<u32, Rows>, block: Block) {
    let tile = block.sync(tile);
    tile.add(0, 0, 1);
}

#[kernel]
pub fn reads_counts(mut z: Disjoint<[u32; n]>, counts: Atomic<[u32; n]>, n: u32) {
    if let (Some(z), Some(count)) = (z.own(), counts.get(0)) {
        z.set(count);
    }
}

#[kernel]
pub fn adds_bytes(counts: Atomic<[u8; n]>, n: u32) {
    counts.add(0, 1);
}

/// Only a kernel has the token for barriers.
fn waits_on_its_own(tile: Filling<f32, Rows>) {
    Block(()).sync(tile);
}
fn waits_with_a_new_token(tile: Filling<f32, Rows>) {
    Block::new().sync(tile);
}

/// Only a barrier changes the phase.
fn changes_it(tile: Filling<f32, Rows>) {
    Phase::next(tile).get(0, 0);
}

fn main() {}

//! A tile that is read while others still fill it, or filled while others read it.
use cuda_std::kernel;
use cuda_std::view::{Barrier, Disjoint, Filling, Linear};

const fn row_by_row(row: u32, column: u32) -> u32 {
    row * 8 + column
}
cuda_std::tile_layout! { Rows = row_by_row(8, 8) in 64; }

#[kernel]
pub fn reads_early(mut z: Disjoint<[f32; 64], Linear>, mut tile: Filling<f32, Rows>) {
    tile.put(1.0);
    let lane = tile.lane();
    if let Some(z) = z.at(z.place()) {
        z.set(tile.get(lane));
    }
}

#[kernel]
pub fn puts_late(mut tile: Filling<f32, Rows>, barrier: Barrier) {
    let mut read = tile.sync(barrier);
    read.put(2.0);
    tile.put(3.0);
}

fn main() {}

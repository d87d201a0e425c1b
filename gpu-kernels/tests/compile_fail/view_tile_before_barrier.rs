//! A tile that is read while others still fill it, or filled while others read it.
use cuda_std::kernel;
use cuda_std::view::{Barrier, Disjoint, Filling};

const fn row_by_row(row: u32, column: u32) -> usize {
    (row * 8 + column) as usize
}
cuda_std::tile_layout! { Rows = row_by_row(8, 8); }

#[kernel]
pub fn reads_early(mut z: Disjoint<[f32; 64]>, mut tile: Filling<f32, Rows>) {
    tile.put(1.0);
    if let Some(z) = z.own() {
        z.set(tile.get(0, 0));
    }
}

#[kernel]
pub fn puts_late(mut tile: Filling<f32, Rows>, barrier: Barrier) {
    let mut read = tile.sync(barrier);
    read.put(2.0);
    tile.put(3.0);
}

fn main() {}

//! Tile accesses that the layout would split.
use cuda_std::half::f16;
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::{Padded, Plain, Tile};

/// Rows for ldmatrix start at multiples of 16 bytes: one element of padding
/// moves them off.
fn padded_by_one(tile: Tile<f16, 16, 16, Padded<1>>) -> u32 {
    tile.row_address(1, 0)
}

/// Pairs are swizzled: eight elements do not stay together.
fn torn_apart(tile: Tile<f16, 16, 16, Swizzle<3, 1, 3>>) -> u32 {
    tile.row_address(1, 0)
}

/// Sixteen bytes of rows of six.
unsafe fn across_rows(tile: Tile<f16, 16, 6, Plain>) -> *mut u128 {
    unsafe { tile.chunk(0, 0) }
}

/// A layout that needs more room than there is.
unsafe fn too_large(tile: Tile<f16, 16, 16, Plain>) -> Tile<f16, 16, 16, Padded<8>> {
    unsafe { tile.relaid() }
}

fn main() {
    // Named, so that they are compiled.
    let _ = (padded_by_one as fn(_) -> _, torn_apart as fn(_) -> _);
    let _ = (across_rows as unsafe fn(_) -> _, too_large as unsafe fn(_) -> _);
}

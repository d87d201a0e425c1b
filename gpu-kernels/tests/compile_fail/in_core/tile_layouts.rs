//! Tile layouts that would leave the tile.
use cuda_std::half::f16;
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::{Padded, Plain, Tile};

fn main() {
    // Bits 3 to 5 of 8 rows of 6: offsets up to 63 in a tile of 48 elements.
    Tile::<f16, 8, 6, Swizzle<3, 3, 3>>::offset(0, 0);
    // Row bits from 8 on, in a tile that has only 256 elements.
    Tile::<f16, 16, 16, Swizzle<3, 3, 5>>::offset(0, 0);
    // No padding at all.
    Tile::<f16, 16, 16, Padded<0>>::offset(0, 0);
    // A tile without rows.
    Tile::<f16, 0, 16, Plain>::offset(0, 0);
}

//! Tiles and fragments whose types fit.
use cuda_std::half::f16;
use cuda_std::mma::{FragmentA, FragmentB, FragmentC, M16N8K16, mma};
use cuda_std::swizzle::Swizzle;
use cuda_std::tile::{Layout, Padded, Plain, Tile};

/// Whatever the layout, as long as it keeps 16 bytes together.
fn address<L: Layout>(tile: Tile<f16, 16, 16, L>) -> u32 {
    tile.row_address(1, 8)
}

unsafe fn product(
    a: FragmentA<f16, M16N8K16>,
    b: FragmentB<f16, M16N8K16>,
    c: FragmentC<f32>,
) -> FragmentC<f32> {
    unsafe { mma(a, b, c) }
}

fn main() {
    assert_eq!(Tile::<f16, 16, 16, Padded<8>>::offset(1, 0), 24);
    let _ = address::<Plain> as fn(_) -> _;
    let _ = address::<Padded<8>> as fn(_) -> _;
    let _ = address::<Swizzle<1, 3, 3>> as fn(_) -> _;
    let _ = product as unsafe fn(_, _, _) -> _;
}

//! Layouts by which two elements of a tile would meet, or leave it.
const fn meets(row: u32, column: u32) -> u32 {
    row + column
}
const fn leaves(row: u32, column: u32) -> u32 {
    row * 5 + column
}

cuda_std::tile_layout! {
    Meets = meets(4, 4) in 16;
}
cuda_std::tile_layout! {
    Leaves = leaves(4, 4) in 16;
}

fn main() {}

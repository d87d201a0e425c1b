//! A layout by which two elements of a tile would meet.
const fn meets(row: u32, column: u32) -> usize {
    (row + column) as usize
}

cuda_std::tile_layout! {
    Meets = meets(4, 4);
}

fn main() {}

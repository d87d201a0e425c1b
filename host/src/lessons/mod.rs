//! The lessons, one file each, in the catalogue's order.

use crate::registry::Lesson;

/// Declares the modules and the list of their `LESSON`s.
macro_rules! lessons {
    ($($name:ident)*) => {
        $(pub mod $name;)*

        /// Every lesson, in reading order.
        pub static LESSONS: &[&Lesson] = &[$(&$name::LESSON),*];
    };
}

lessons! {
    copy
    coalescing
    transpose
    swizzled_tile
    bank_conflicts
    bank_widths
    local_memory
    running_mean
    reduction
    atomics
    neighbor
    mma_simple
    blocks_of_tiles
    matrix_power
    multi_tiles
    tensor_instructions
    sgemm
}

//! The lessons, one file each, and their list in the catalogue's order.

pub mod atomics;
pub mod bank_conflicts;
pub mod bank_widths;
pub mod blocks_of_tiles;
pub mod coalescing;
pub mod copy;
pub mod gemm;
pub mod local_memory;
pub mod matrix_power;
pub mod mma_simple;
pub mod multi_tiles;
pub mod neighbor;
pub mod reduction;
pub mod running_mean;
pub mod sgemm;
pub mod swizzled_tile;
pub mod tensor_instructions;
pub mod transpose;

use lesson::Lesson;

/// Every lesson, in reading order.
pub static LESSONS: &[&Lesson] = &[
    &copy::LESSON,
    &coalescing::LESSON,
    &transpose::LESSON,
    &swizzled_tile::LESSON,
    &bank_conflicts::LESSON,
    &bank_widths::LESSON,
    &local_memory::LESSON,
    &running_mean::LESSON,
    &reduction::LESSON,
    &atomics::LESSON,
    &neighbor::LESSON,
    &mma_simple::LESSON,
    &blocks_of_tiles::LESSON,
    &matrix_power::LESSON,
    &multi_tiles::LESSON,
    &tensor_instructions::LESSON,
    &sgemm::LESSON,
    &gemm::LESSON,
];

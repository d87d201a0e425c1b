//! The lessons, one file each, in reading order, and their list.

pub mod copy;
pub mod coalescing;
pub mod bank_conflicts;
pub mod bank_widths;
pub mod transpose;
pub mod swizzled_tile;
pub mod local_memory;
pub mod running_mean;
pub mod atomics;
pub mod reduction;
pub mod neighbor;
pub mod mma_simple;
pub mod blocks_of_tiles;
pub mod matrix_power;
pub mod multi_tiles;
pub mod tensor_instructions;
pub mod sgemm;
pub mod gemm;

use lesson::Lesson;

/// Every lesson, in reading order.
pub static LESSONS: &[&Lesson] = &[
    &copy::LESSON,
    &coalescing::LESSON,
    &bank_conflicts::LESSON,
    &bank_widths::LESSON,
    &transpose::LESSON,
    &swizzled_tile::LESSON,
    &local_memory::LESSON,
    &running_mean::LESSON,
    &atomics::LESSON,
    &reduction::LESSON,
    &neighbor::LESSON,
    &mma_simple::LESSON,
    &blocks_of_tiles::LESSON,
    &matrix_power::LESSON,
    &multi_tiles::LESSON,
    &tensor_instructions::LESSON,
    &sgemm::LESSON,
    &gemm::LESSON,
];

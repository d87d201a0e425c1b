//! Columns of an array whose rows have any width, accessed repeatedly: for timing.
//!
//! # The law
//!
//! Going down a column of an array with rows of `width` words, the lanes are
//! `width` words apart. Lane `l` lies in bank `l · width mod 32`, which takes
//! `32 / gcd(width, 32)` different values: the conflict is
//! `gcd(width, 32)`-way.
//!
//! | width | 1 | 2 | 4 | 7 | 8 | 12 | 16 | 31 | 32 | 33 |
//! |---|---|---|---|---|---|---|---|---|---|---|
//! | way | 1 | 2 | 4 | 1 | 8 | 4 | 16 | 1 | 32 | 1 |
//!
//! Odd widths have no conflicts. Hence the usual cure, *padding*: an array of 32
//! columns gets an unused 33rd. It costs 3% more shared memory, and rows no longer
//! start at multiples of 16 bytes, which rules out vector accesses. The other
//! cure, swizzling, costs neither: it is the subject of the next two lessons
//! ([`crate::transpose`], [`crate::swizzled_tile`]).
//!
//! # Volatile accesses
//!
//! A compiler moves a load out of the loop if nothing changes the value, and drops
//! all stores but the last. `read_volatile` and `write_volatile` keep every access,
//! and cost nothing else.

use cuda_std::prelude::*;

use super::{BLOCK_THREADS, COLUMNS, ROWS, word};
use crate::banks::N_BANKS;

/// Widest row that [`bank_store_width`] and [`bank_load_width`] take.
pub const MAX_WIDTH: u32 = 33;

const MAX_STRIP_WORDS: u32 = max_strip_words();

/// Word of element `(row, column)` of the same 32 columns in rows of `width`.
///
/// As many columns as fit in a row are side by side; the next ones follow in
/// a *strip* of 32 further rows. So every warp has a column of its own whatever
/// the width, and the kernels' work does not depend on it.
///
/// ```text
///     width 12:     columns  0 … 11        32 rows
///                   columns 12 … 23        32 rows
///                   columns 24 … 31  –     32 rows, 4 words of each unused
/// ```
///
/// A strip is 32 · `width` words long, a multiple of 32: it does not move the
/// columns to other banks.
#[inline(always)]
pub const fn strip_word(row: u32, column: u32, width: u32) -> u32 {
    (column / width * ROWS + row) * width + column % width
}

/// Words that the 32 columns take in rows of `width`, unused ones included.
#[inline(always)]
pub const fn strip_words(width: u32) -> u32 {
    COLUMNS.div_ceil(width) * ROWS * width
}

/// Whether one of the 32 columns has an element at `word`.
#[inline(always)]
pub const fn strip_word_is_used(word: u32, width: u32) -> bool {
    // Two divisions: `ROWS * width` could be zero for all the compiler knows.
    word / ROWS / width * width + word % width < COLUMNS
}

/// The law for a column's access: `gcd(width, 32)`-way.
pub const fn way(width: u32) -> u32 {
    let (mut a, mut b) = (N_BANKS, width);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

const fn max_strip_words() -> u32 {
    let mut max = 0;
    let mut width = 1;
    while width <= MAX_WIDTH {
        if strip_words(width) > max {
            max = strip_words(width);
        }
        width += 1;
    }
    max
}

/// Stores each column, in rows of `width`, `n_rounds` times.
///
/// `output[strip_word(row, column, width)] = input[column · 32 + row]`; unused
/// words of `output` are left unchanged.
///
/// # Safety
///
/// `width` is in 1..=[`MAX_WIDTH`], and `n_rounds` is at least 1. `input` holds
/// [`ELEMENTS`](super::ELEMENTS) elements and `output` [`strip_words`]`(width)`; they do not
/// overlap. Launch one block of [`BLOCK`](super::BLOCK) threads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_width(input: *const f32, output: *mut f32, width: u32, n_rounds: u32) {
    let data = shared_array![f32; MAX_STRIP_WORDS as usize];
    // Otherwise each division would be preceded by a check that can panic.
    core::hint::assert_unchecked(width != 0);
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let value = *input.add(word(warp, lane) as usize);
    let own = data.add(strip_word(lane, warp, width) as usize);
    for _ in 0..n_rounds {
        own.write_volatile(value);
    }
    thread::sync_threads();
    let mut i = word(warp, lane);
    while i < strip_words(width) {
        if strip_word_is_used(i, width) {
            *output.add(i as usize) = *data.add(i as usize);
        }
        i += BLOCK_THREADS;
    }
}

/// Loads each column, in rows of `width`, `n_rounds` times, and adds up what it
/// loads.
///
/// `output[column · 32 + row]` is `input[strip_word(row, column, width)]` added
/// to zero `n_rounds` times.
///
/// # Safety
///
/// As [`bank_store_width`], with `input` and `output` swapped; `n_rounds`
/// may be 0.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_width(input: *const f32, output: *mut f32, width: u32, n_rounds: u32) {
    let data = shared_array![f32; MAX_STRIP_WORDS as usize];
    // Otherwise each division would be preceded by a check that can panic.
    core::hint::assert_unchecked(width != 0);
    let (lane, warp) = (thread::thread_idx_x(), thread::thread_idx_y());
    let mut i = word(warp, lane);
    while i < strip_words(width) {
        if strip_word_is_used(i, width) {
            *data.add(i as usize) = *input.add(i as usize);
        }
        i += BLOCK_THREADS;
    }
    thread::sync_threads();
    let own = data.add(strip_word(lane, warp, width) as usize);
    let mut sum = 0.0;
    for _ in 0..n_rounds {
        sum += own.read_volatile();
    }
    *output.add(word(warp, lane) as usize) = sum;
}

#[cfg(test)]
mod tests {
    use super::super::conflicts_of_the_block;
    use super::*;

    #[test]
    fn columns_of_any_width_follow_the_gcd() {
        for width in 1..=MAX_WIDTH {
            let conflicts = conflicts_of_the_block(|lane, warp| strip_word(lane, warp, width));
            assert_eq!(conflicts, 32 * (way(width) - 1), "width {width}");
            assert_eq!(conflicts == 0, width % 2 == 1, "width {width}");
        }
    }

    #[test]
    fn strips_give_every_element_a_word_of_its_own() {
        for width in 1..=MAX_WIDTH {
            let mut used = [false; MAX_STRIP_WORDS as usize];
            for column in 0..COLUMNS {
                for row in 0..ROWS {
                    let word = strip_word(row, column, width);
                    assert!(word < strip_words(width));
                    assert!(!used[word as usize], "width {width}, word {word}");
                    used[word as usize] = true;
                }
            }
            for word in 0..strip_words(width) {
                assert_eq!(strip_word_is_used(word, width), used[word as usize]);
            }
        }
    }
}

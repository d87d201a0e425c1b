//! Bank conflicts, directly: the same data moved along rows and along columns.
//!
//! # What the hardware does
//!
//! Shared memory is a multiprocessor's own scratch memory. It is built of 32
//! *banks* that work side by side, and each serves one 32-bit word a cycle.
//! Word `i` lies in bank `i mod 32`:
//!
//! ```text
//!     bank       0    1    2   …   31
//!     word       0    1    2   …   31
//!               32   33   34   …   63
//!               64   65   66   …   95
//! ```
//!
//! The 32 lanes of a warp access shared memory together. If their words lie in
//! 32 different banks, one pass over the banks, a *wavefront*, serves them all;
//! so it does if several lanes want the same word. If `k` different words lie in
//! one bank, the access takes `k` wavefronts: a *`k`-way conflict*, counted as
//! `k − 1` bank conflicts. Nothing else of the multiprocessor can use shared
//! memory meanwhile.
//!
//! # Rows and columns
//!
//! In an array `data[32][32]` of `f32`, row `r` starts at word `32 · r`: all its
//! elements lie in different banks, and all elements of a column lie in one. A
//! warp that accesses a row takes one wavefront, a warp that accesses a column
//! takes 32. A block of 32 warps has 32 · 31 = 992 conflicts when it goes by
//! columns and none when it goes by rows, for stores and for loads alike.
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
//! Odd widths have none. Hence the usual cure: an array of 32 columns gets a
//! 33rd that nobody uses. It costs 3% more shared memory, and rows no longer
//! start at multiples of 16 bytes, which forbids vector accesses. The other
//! cure, swizzling, costs neither ([`crate::swizzled_tile`],
//! [`crate::transpose`]).
//!
//! | kernel | what it measures | conflicts |
//! |---|---|---|
//! | [`bank_warm_up`] | nothing: it goes before the first that is timed | 0 |
//! | [`bank_store_rows`] | 32 warps store a row each | 0 |
//! | [`bank_store_columns`] | 32 warps store a column each | 992 |
//! | [`bank_load_rows`] | 32 warps load a row each | 0 |
//! | [`bank_load_columns`] | 32 warps load a column each | 992 |
//! | [`bank_store_width`] | columns of rows of any width, again and again | 32 · (gcd − 1) a round |
//! | [`bank_load_width`] | the same for loads | 32 · (gcd − 1) a round |
//!
//! The first four access shared memory once: for counting. Their time is that
//! of a launch. The last two repeat the access, so that a GPU's clock shows the
//! law too.
//!
//! Left out: accesses of 8 and 16 bytes a lane, which go to the banks in parts
//! of a warp ([`crate::transpose::transpose_vectorized`]), and atomics.

use cuda_std::prelude::*;

use crate::banks::N_BANKS;

/// Rows of the array, and lanes of a warp.
pub const ROWS: u32 = 32;
/// Columns of the array, and warps of the block.
pub const COLUMNS: u32 = 32;
/// Threads of the only block.
pub const BLOCK_THREADS: u32 = ROWS * COLUMNS;
/// Elements of the array.
pub const ELEMENTS: u32 = ROWS * COLUMNS;
/// Widest row that [`bank_store_width`] and [`bank_load_width`] take.
pub const MAX_WIDTH: u32 = 33;

const MAX_STRIP_WORDS: u32 = max_strip_words();

// A lane is a row, a warp is a column, and a row is all the banks.
const _: () = assert!(ROWS == N_BANKS && COLUMNS == N_BANKS && BLOCK_THREADS <= 1024);

// ---------------------------------------------------------------------------
// Where an element lies
// ---------------------------------------------------------------------------

/// Word of element `(row, column)` of `data[32][32]`.
#[inline(always)]
pub const fn word(row: u32, column: u32) -> u32 {
    row * COLUMNS + column
}

/// Word of element `(row, column)` of the same 32 columns in rows of `width`.
///
/// As many columns as fit in a row stand side by side; the next ones follow in
/// a *strip* of 32 further rows. So every warp has a column of its own whatever
/// the width is, and the kernels' work does not depend on it.
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

/// Words that the 32 columns take in rows of `width`, with the unused ones.
#[inline(always)]
pub const fn strip_words(width: u32) -> u32 {
    COLUMNS.div_ceil(width) * ROWS * width
}

/// Whether one of the 32 columns has an element at `word`.
#[inline(always)]
pub const fn strip_word_is_used(word: u32, width: u32) -> bool {
    // Two divisions, because `ROWS * width` could be zero for all that is known.
    word / ROWS / width * width + word % width < COLUMNS
}

/// What the law says of a column's access: `gcd(width, 32)`-way.
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

// ---------------------------------------------------------------------------
// Once, for counting
// ---------------------------------------------------------------------------
//
// Every kernel below stores to the array, waits, and loads from it. One of the
// two is what it is about; the other goes along rows, one wavefront a warp.
//
// No thread loads the element that it stored itself. If it did, the compiler
// could keep the value in a register and leave the load out: it *forwards* the
// store.

/// Element `(row, column)` of the array, in shared memory.
#[inline(always)]
unsafe fn at(data: *mut f32, row: u32, column: u32) -> *mut f32 {
    data.add(word(row, column) as usize)
}

/// Lane and warp of this thread.
#[inline(always)]
fn lane_and_warp() -> (u32, u32) {
    (thread::thread_idx_x(), thread::thread_idx_y())
}

/// Does what the others do, along rows, and is not timed: the first launch
/// after a module is loaded also pays for moving the code to the device and
/// raising the clocks. Turns the array upside down.
///
/// # Safety
///
/// `input` and `output` hold [`ELEMENTS`] elements and do not overlap. Launch
/// one block of [`BLOCK`] threads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_warm_up(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = lane_and_warp();
    let own = word(warp, lane) as usize;
    *at(data, warp, lane) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *at(data, ROWS - 1 - warp, lane);
}

/// Stores along rows: 0 store conflicts. Turns the array upside down.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_rows(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = lane_and_warp();
    let own = word(warp, lane) as usize;
    *at(data, ROWS - 1 - warp, lane) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *at(data, warp, lane);
}

/// Stores along columns: every warp's 32 words lie in one bank, 31 conflicts a
/// warp and 992 in all. Transposes the array.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_columns(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = lane_and_warp();
    let own = word(warp, lane) as usize;
    *at(data, lane, warp) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *at(data, warp, lane);
}

/// Loads along rows: 0 load conflicts. Turns the array upside down.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_rows(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = lane_and_warp();
    let own = word(warp, lane) as usize;
    *at(data, warp, lane) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *at(data, ROWS - 1 - warp, lane);
}

/// Loads along columns: 31 conflicts a warp, 992 in all. Transposes the array.
///
/// # Safety
///
/// As [`bank_warm_up`].
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_columns(input: *const f32, output: *mut f32) {
    let data = shared_array![f32; ELEMENTS as usize];
    let (lane, warp) = lane_and_warp();
    let own = word(warp, lane) as usize;
    *at(data, warp, lane) = *input.add(own);
    thread::sync_threads();
    *output.add(own) = *at(data, lane, warp);
}

// ---------------------------------------------------------------------------
// Any width, again and again, for the clock
// ---------------------------------------------------------------------------
//
// A compiler moves a load out of the loop if nothing changes what it loads, and
// leaves out all stores but the last. `read_volatile` and `write_volatile` say
// that each access is wanted; they cost nothing else.

/// Stores each column, in rows of `width`, `n_rounds` times.
///
/// `output[strip_word(row, column, width)] = input[column · 32 + row]`; unused
/// words of `output` are left as they are.
///
/// # Safety
///
/// `width` is in 1..=[`MAX_WIDTH`], and `n_rounds` is at least 1. `input` holds
/// [`ELEMENTS`] elements and `output` [`strip_words`]`(width)`; they do not
/// overlap. Launch one block of [`BLOCK`] threads.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_store_width(input: *const f32, output: *mut f32, width: u32, n_rounds: u32) {
    let data = shared_array![f32; MAX_STRIP_WORDS as usize];
    // Or each division would be preceded by a check, and a panic.
    core::hint::assert_unchecked(width != 0);
    let (lane, warp) = lane_and_warp();
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
/// As [`bank_store_width`], with `input` and `output` changed round; `n_rounds`
/// may be 0.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn bank_load_width(input: *const f32, output: *mut f32, width: u32, n_rounds: u32) {
    let data = shared_array![f32; MAX_STRIP_WORDS as usize];
    // Or each division would be preceded by a check, and a panic.
    core::hint::assert_unchecked(width != 0);
    let (lane, warp) = lane_and_warp();
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

// ---------------------------------------------------------------------------
// Launch geometry
// ---------------------------------------------------------------------------

/// Block of every kernel here, in threads: x is the lane, y the warp.
pub const BLOCK: [u32; 3] = [ROWS, COLUMNS, 1];
/// Grid of every kernel here: one block.
pub const GRID: [u32; 3] = [1, 1, 1];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::{BANK_BYTES, cost};

    fn conflicts_of_the_block(word: impl Fn(u32, u32) -> u32) -> u32 {
        (0..COLUMNS)
            .map(|warp| cost(BANK_BYTES, |lane| word(lane, warp) * BANK_BYTES).conflicts)
            .sum()
    }

    #[test]
    fn columns_conflict_992_times_and_rows_never() {
        assert_eq!(conflicts_of_the_block(word), 992);
        assert_eq!(conflicts_of_the_block(|lane, warp| word(warp, lane)), 0);
    }

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

//! Local memory: where a thread's own array goes, with a running mean as the example.
//!
//! The mean over a window of `W` elements, centred, with zeros outside the
//! array:
//!
//! ```text
//!     output[i] = (input[i − W/2] + … + input[i − W/2 + W − 1]) / W
//! ```
//!
//! In `01_own_array.rs` a thread first copies its window into an array of its own, then
//! adds it up.
//! In [`running_mean_registers`](running_mean_registers_32) and
//! [`running_mean_local`](running_mean_local_32) that array is used in nearly
//! the same way, and in two very different places.
//!
//! # Registers and local memory
//!
//! A thread has up to 255 registers, and an instruction names the register it
//! uses: there is no "register number `j`". An array can live in registers only
//! if every index is a constant when the code is compiled. So loops over it
//! must be unrolled, until `window[j]` has become `window[0]`, `window[1]`, ….
//!
//! If a single index is not constant, the whole array goes to *local memory*.
//! Despite its name that is ordinary device memory, of which each thread has a
//! stretch: an access goes through the L1 cache like any other and takes some
//! thirty cycles if it hits, hundreds if it misses; a register takes none. The
//! thread's stretch is laid out so that lanes that use the same index lie side
//! by side: word `j` of the 32 lanes is one line of 128 bytes, four sectors. If
//! every lane uses a different index, an access takes up to 32 sectors.
//!
//! Two places show that it has happened. In the PTX there is a `.local` array
//! of `4·W` bytes, with `ld.local` and `st.local`; and ptxas reports a *stack
//! frame* of that size. Registers can run out, too: then ptxas puts values in
//! local memory as well, which it reports as *spills*. (An array of
//! two words is not an exception. Only a choice, `if … { a } else { b }`, selects one
//! of two registers.)
//!
//! | kernel | index | the window lives in | loads per output |
//! |---|---|---|---|
//! | `running_mean_registers_W` | `j`, unrolled | registers | `W` global |
//! | `running_mean_local_W` | `(j + n) mod W`, `n` known at run time | local memory | `W` global, `W` local (and `W` local stores) |
//! | [`running_mean_shared`] | – | shared memory, for a whole block | about 1 global, 4 shared |
//!
//! `(j + n) mod W` goes through the window in a circle that starts somewhere
//! else. Used for both the stores and the loads, it does not change the
//! result, but the compiler cannot know where it starts. Both loops are unrolled
//! like the others: only the index differs.
//!
//! # The cure
//!
//! Constant indices: window sizes as constants in the code, and loops written
//! so that they must be unrolled (`unrolled`), not loops that the compiler may or may
//! not unroll (LLVM stops at about 16 iterations of this one). The cost: code grows
//! with `W`, and a kernel is compiled for every `W`.
//!
//! Where an array must be indexed at run time, shared memory is the better
//! place. [`running_mean_shared`] (`02_running_mean.rs`) uses it for more: neighbouring windows
//! have nearly all elements in common, so a block loads its stretch of the input
//! once, and from one window to the next a thread adds the element that enters
//! and subtracts the one that leaves. It loads an element once where the others
//! load it `W` times, and takes windows of any size up to [`MAX_WINDOW`], given
//! at run time.
//!
//! Left out: even windows have no middle, and are centred half an element late.
//!
//! # Limits
//!
//! [`running_mean_shared`] comes close to a copy. The gap is due to the structure
//! load, barrier, store: a copy built like that, which computes nothing, is hardly
//! faster. `docs/tuning/running_mean_shared.md` has the measurements.

#[path = "01_own_array.rs"]
mod own_array;
#[path = "02_running_mean.rs"]
mod running_mean;

pub use own_array::{
    BLOCK, BLOCK_THREADS, MAX_BLOCKS, WINDOWS, grid, running_mean_local_3, running_mean_local_5,
    running_mean_local_16, running_mean_local_32, running_mean_local_64, running_mean_local_128,
    running_mean_registers_3, running_mean_registers_5, running_mean_registers_16,
    running_mean_registers_32, running_mean_registers_64, running_mean_registers_128,
};
pub use running_mean::{
    CHUNK, MAX_WINDOW, SHARED_BLOCK, TILE_ELEMENTS, TILE_THREADS, running_mean_shared,
    shared_error_bound, shared_grid, tile_outputs,
};

/// Element `i`, or zero outside the array. Indices before element 0 have
/// wrapped to large numbers, so one comparison is enough.
#[inline(always)]
unsafe fn element_or_zero(input: *const f32, i: u32, n_elements: u32) -> f32 {
    if i < n_elements {
        *input.add(i as usize)
    } else {
        0.0
    }
}

/// First element of the window of output `i`.
#[inline(always)]
const fn window_start(i: u32, window: u32) -> u32 {
    i.wrapping_sub(window / 2)
}

/// A grid has at least one block, even when there is nothing to do.
const fn blocks(n_elements: u32, block_elements: u32, max: u32) -> u32 {
    match n_elements.div_ceil(block_elements) {
        0 => 1,
        n if n > max => max,
        n => n,
    }
}

#[cfg(test)]
mod tests {
    use super::window_start;

    #[test]
    fn windows_are_centred() {
        assert_eq!(window_start(10, 5), 8);
        assert_eq!(window_start(10, 4), 8);
        assert_eq!(window_start(0, 1), 0);
        assert_eq!(window_start(0, 32), 0u32.wrapping_sub(16));
    }
}

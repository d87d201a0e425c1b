//! All pairs, one thread per atom: with atomics, and without.

use core::ops::Range;

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::ldg::ldg;
use cuda_std::prelude::*;
use cuda_std::vector::Float2;

use super::{MAX_NEIGHBORS, are_near, opaque, opaque_address, place_by_atom, place_by_place};

/// Threads in a block, one per atom.
const BLOCK_THREADS: u32 = 128;

/// Adds `neighbor` to the list by atom of `atom`.
///
/// `add` returns the previous count, which no other thread gets. Reading
/// `n_neighbors[atom]` in one step and raising it in another could give two threads
/// the same place.
#[inline(always)]
pub(super) unsafe fn append(
    atom: u32,
    neighbor: u32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let k = atomic::add(n_neighbors.add(atom as usize), 1, Global, Device, Relaxed);
    if k < MAX_NEIGHBORS {
        *list.add(place_by_atom(atom, k)) = neighbor;
    } else {
        atomic::min(overflow, atom, Global, Device, Relaxed);
    }
}

/// Calls `found` for each atom of `others` that is near the one at `own`, in
/// ascending order.
///
/// Four at a time: their eight loads are in flight together, and one branch asks
/// whether any is near, which is rare. The loop keeps two addresses and a number,
/// and the loads are at constant offsets from the addresses.
/// With a 32-bit index, where `other + 1` could wrap around, each load would need an
/// address computation of its own, and the loop would be noticeably slower
/// (`docs/tuning/neighbor_tiles.md`).
#[inline(always)]
unsafe fn for_each_near(
    own: Float2,
    x: *const f32,
    y: *const f32,
    others: Range<u32>,
    cutoff_squared: f32,
    mut found: impl FnMut(u32),
) {
    let is_near = |there: Float2| are_near(there.x - own.x, there.y - own.y, cutoff_squared);
    let Range { mut start, end } = others;
    let mut next_x = opaque_address(x.add(start as usize));
    let mut next_y = opaque_address(y.add(start as usize));
    // From here on fewer than four are left.
    let end_of_fours = end.saturating_sub(3);
    while start < end_of_fours {
        let position = |i: usize| Float2::new(ldg(next_x.add(i)), ldg(next_y.add(i)));
        let [a, b, c, d] = [0, 1, 2, 3].map(position).map(is_near);
        if a | b | c | d {
            let first = opaque(start);
            if a {
                found(first);
            }
            if b {
                found(first + 1);
            }
            if c {
                found(first + 2);
            }
            if d {
                found(first + 3);
            }
        }
        start += 4;
        (next_x, next_y) = (next_x.add(4), next_y.add(4));
    }
    while start < end {
        if is_near(Float2::new(
            ldg(x.add(start as usize)),
            ldg(y.add(start as usize)),
        )) {
            found(opaque(start));
        }
        start += 1;
    }
}

/// Each pair once: thread `n` tests the atoms after `n`, and enters a near one
/// in both lists, by atom.
///
/// Half the tests, but thread 0 has N − 1 of them and the last thread none; the
/// grid waits for the longest. The order within a list is that in which the
/// threads arrived.
///
/// # Safety
///
/// `x` and `y` hold `n_atoms` elements, fewer than 2³¹, `n_neighbors` as many zeros, `list`
/// [`MAX_NEIGHBORS`] times as many, `overflow` one, [`NO_OVERFLOW`]; none
/// overlaps another. Launch with [`PAIR_BLOCK`] threads and [`pair_grid`]
/// blocks.
///
/// [`NO_OVERFLOW`]: super::NO_OVERFLOW
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_atomic(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let atom = thread::index_1d();
    if atom >= n_atoms {
        return;
    }
    let own = Float2::new(*x.add(atom as usize), *y.add(atom as usize));
    for_each_near(own, x, y, atom + 1..n_atoms, cutoff_squared, |other| {
        append(atom, other, n_neighbors, list, overflow);
        append(other, atom, n_neighbors, list, overflow);
    });
}

/// Each pair twice: thread `n` tests all atoms and fills its own list, by
/// place. No other thread writes there, so a register holds the count and no
/// atomics are needed. Every list is in ascending order.
///
/// All lanes of a warp load the same other atom at the same time: one sector for
/// 32 tests.
///
/// # Safety
///
/// As [`neighbor_atomic`], but `n_neighbors` may hold anything.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_no_atomic(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let atom = thread::index_1d();
    if atom >= n_atoms {
        return;
    }
    let own = Float2::new(*x.add(atom as usize), *y.add(atom as usize));
    let mut count = 0;
    for_each_near(own, x, y, 0..n_atoms, cutoff_squared, |other| {
        // An atom is near itself, but not its own neighbour.
        if other != atom {
            if count < MAX_NEIGHBORS {
                *list.add(place_by_place(atom, count, n_atoms)) = other;
            }
            count += 1;
        }
    });
    *n_neighbors.add(atom as usize) = count;
    if count > MAX_NEIGHBORS {
        atomic::min(overflow, atom, Global, Device, Relaxed);
    }
}

/// Block of both kernels, in threads.
pub const PAIR_BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of both kernels: a thread per atom, and at least one block, since no
/// launch may be empty.
pub const fn pair_grid(n_atoms: u32) -> [u32; 3] {
    let n_blocks = n_atoms.div_ceil(BLOCK_THREADS);
    [if n_blocks == 0 { 1 } else { n_blocks }, 1, 1]
}

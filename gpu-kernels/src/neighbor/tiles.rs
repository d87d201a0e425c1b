//! All pairs at the speed of arithmetic: tiles in shared memory, several atoms
//! a thread, one vote for many tests.
//!
//! A test is two subtractions, two multiplications, an addition and a
//! comparison. In [`neighbor_no_atomic`] each test also loads two numbers,
//! counts a loop, and branches: more instructions than the test itself. Here:
//!
//! - *Shared memory.* A block loads a tile of [`TILE_CENTERS`] atoms, the
//!   *centers*, once, and all its threads read them from there. A lane reads the
//!   same center as its neighbours: one wavefront for the warp (a broadcast).
//! - *Registers.* A thread has [`THREAD_ATOMS`] atoms of its own, so that every
//!   center that it reads serves that many tests; and one 16-byte load brings
//!   two centers.
//! - *One vote for many tests.* Nearly all tests fail. A thread only notes
//!   whether *any* of its tests in a group succeeded, and the warp votes once a
//!   group. If nobody has one, there is one branch, that all lanes take.
//!
//! ```text
//!                 centers in shared memory, the same for all lanes
//!                   c0   c1   c2   c3  │ c4 …
//!   lane 0   a  ┐ ┌────────────────────┐
//!            b  │ │  16 tests, 1 vote  │
//!            c  │ │                    │
//!            d  ┘ └────────────────────┘
//!   lane 1 …
//! ```
//!
//! # Warp-aggregated atomics
//!
//! When a group does have near pairs, they belong to *centers*, and all lanes
//! have the same centers: several lanes want a place in the same list. Instead of
//! one atomic a lane at one address, the lanes with a near atom are counted by
//! their ballot, one lane adds that number for all, and each takes the place
//! after those of the lanes before it. Four lanes do so for the group's four
//! centers at once: the warp waits for the memory's answer once a group.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::vector::{Float2, Float4};
use cuda_std::warp::{FULL_MASK, lanemask_lt, warp_shuffle_idx, warp_vote_any, warp_vote_ballot};

use super::{MAX_NEIGHBORS, are_near, place_by_atom};

/// Threads in a block.
const BLOCK_THREADS: u32 = 128;
/// Atoms of a thread's own, held in registers.
pub const THREAD_ATOMS: u32 = 4;
/// Atoms of a block's own.
pub const TILE_BLOCK_ATOMS: u32 = BLOCK_THREADS * THREAD_ATOMS;
/// Centers in a block's tile.
pub const TILE_CENTERS: u32 = 512;
/// Centers between two votes.
const GROUP_CENTERS: u32 = 4;

const WARP_LANES: u32 = 32;

const _: () = assert!(TILE_CENTERS.is_multiple_of(GROUP_CENTERS));
const _: () = assert!(TILE_CENTERS.is_multiple_of(BLOCK_THREADS));
// The code below names each atom and each center.
const _: () = assert!(THREAD_ATOMS == 4 && GROUP_CENTERS == 4);

/// Stands for an atom that is not there: near nothing.
const NO_ATOM: Float2 = Float2::new(f32::NAN, f32::NAN);

/// Index of the `k`-th atom of thread `thread` in block `block` of them. Lanes
/// that follow each other have atoms that do.
#[inline(always)]
const fn own_atom(block: u32, thread: u32, k: u32) -> u32 {
    block * TILE_BLOCK_ATOMS + k * BLOCK_THREADS + thread
}

#[inline(always)]
unsafe fn position(x: *const f32, y: *const f32, atom: u32, n_atoms: u32) -> Float2 {
    if atom < n_atoms {
        Float2::new(*x.add(atom as usize), *y.add(atom as usize))
    } else {
        NO_ATOM
    }
}

#[inline(always)]
fn near(a: Float2, b: Float2, cutoff_squared: f32) -> bool {
    are_near(b.x - a.x, b.y - a.y, cutoff_squared)
}

/// The same number, of which the compiler does not know that it is the same.
///
/// The rare branch below computes addresses from the loop's counter. Known to be
/// sums of it, they would be kept up to date in registers of their own, an
/// addition each for every group of centers, also where nothing is near.
#[cuda_std::gpu_only]
#[inline(always)]
fn opaque(number: u32) -> u32 {
    let same;
    // SAFETY: copies a register.
    unsafe {
        core::arch::asm!(
            "mov.b32 {same}, {number};",
            same = out(reg32) same,
            number = in(reg32) number,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    same
}

/// Enters this thread's near atoms in the lists of [`GROUP_CENTERS`] centers,
/// from number `first` of the tile on. A warp's lanes come together.
///
/// `lanes[g][k]` are the lanes whose `k`-th atom is a neighbour of center `g`.
/// Center `g`'s list gets them in the order of `k`, then of lanes.
#[inline(always)]
unsafe fn append_group(
    own: [u32; THREAD_ATOMS as usize],
    at: [Float2; THREAD_ATOMS as usize],
    first: u32,
    first_center: u32,
    centers: *const Float2,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let lane = warp::lane_id();
    let is_neighbor = |g: u32, k: usize| {
        let center = *centers.add((first + g) as usize);
        // An atom is near itself, but no neighbour.
        near(at[k], center, cutoff_squared) && own[k] != first_center + first + g
    };
    let ballots = |g: u32| {
        let ballot = |k| warp_vote_ballot(FULL_MASK, is_neighbor(g, k));
        [ballot(0), ballot(1), ballot(2), ballot(3)]
    };
    let lanes = [ballots(0), ballots(1), ballots(2), ballots(3)];

    // Lane g adds for center g: one instruction for all four.
    let total = |[a, b, c, d]: [u32; THREAD_ATOMS as usize]| {
        a.count_ones() + b.count_ones() + c.count_ones() + d.count_ones()
    };
    let totals = [
        total(lanes[0]),
        total(lanes[1]),
        total(lanes[2]),
        total(lanes[3]),
    ];
    let own_total = match lane {
        0 => totals[0],
        1 => totals[1],
        2 => totals[2],
        3 => totals[3],
        _ => 0,
    };
    let mut places = 0;
    if own_total != 0 {
        let counter = n_neighbors.add((first_center + first + lane) as usize);
        places = atomic::add(counter, own_total, Global, Device, Relaxed);
    }

    let enter = |g: u32| {
        let center = first_center + first + g;
        let (mut place, _) = warp_shuffle_idx(FULL_MASK, places, g, WARP_LANES);
        let mut enter = |k: usize| {
            let lanes = lanes[g as usize][k];
            if lanes >> lane & 1 != 0 {
                let place = place + (lanes & lanemask_lt()).count_ones();
                if place < MAX_NEIGHBORS {
                    *list.add(place_by_atom(center, place)) = own[k];
                } else {
                    atomic::min(overflow, center, Global, Device, Relaxed);
                }
            }
            place += lanes.count_ones();
        };
        enter(0);
        enter(1);
        enter(2);
        enter(3);
    };
    enter(0);
    enter(1);
    enter(2);
    enter(3);
}

/// All pairs, each twice; the lists are by atom, in no particular order.
///
/// # Safety
///
/// As [`neighbor_atomic`](super::neighbor_atomic), but launch with
/// [`TILE_BLOCK`] threads and [`tile_grid`] blocks.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_tiles(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let centers = shared_array![Float2; TILE_CENTERS as usize, align = 16];
    let thread = thread::thread_idx_x();
    let first_center = thread::block_idx_y() * TILE_CENTERS;
    let mut i = thread;
    while i < TILE_CENTERS {
        *centers.add(i as usize) = position(x, y, first_center + i, n_atoms);
        i += BLOCK_THREADS;
    }

    let block = thread::block_idx_x();
    let own = [0, 1, 2, 3].map(|k| own_atom(block, thread, k));
    let at = own.map(|atom| position(x, y, atom, n_atoms));
    let [a, b, c, d] = at;
    thread::sync_threads();

    let near = |atom, center| near(atom, center, cutoff_squared);
    let mut i = 0;
    while i < TILE_CENTERS {
        let two = |i: u32| {
            let two = Float4::load(centers.add(i as usize).cast());
            (Float2::new(two.x, two.y), Float2::new(two.z, two.w))
        };
        let (c0, c1) = two(i);
        let (c2, c3) = two(i + 2);
        // No short cuts: an `||` would be a branch a test.
        let any = |center| near(a, center) | near(b, center) | near(c, center) | near(d, center);
        if warp_vote_any(FULL_MASK, any(c0) | any(c1) | any(c2) | any(c3)) {
            append_group(
                own,
                at,
                opaque(i),
                first_center,
                centers,
                cutoff_squared,
                n_neighbors,
                list,
                overflow,
            );
        }
        i += GROUP_CENTERS;
    }
}

/// Block of [`neighbor_tiles`], in threads.
pub const TILE_BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`neighbor_tiles`]: x over the threads' atoms, y over the centers.
pub const fn tile_grid(n_atoms: u32) -> [u32; 3] {
    let n = if n_atoms == 0 { 1 } else { n_atoms };
    [n.div_ceil(TILE_BLOCK_ATOMS), n.div_ceil(TILE_CENTERS), 1]
}

/// Pairs that a launch tests and that exist: every atom with every atom.
pub const fn tile_pair_tests(n_atoms: u32) -> u64 {
    n_atoms as u64 * n_atoms as u64
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_THREADS, THREAD_ATOMS, TILE_BLOCK_ATOMS, own_atom, tile_grid};

    #[test]
    fn two_blocks_have_every_atom_once() {
        let mut n_owners = [0; 2 * TILE_BLOCK_ATOMS as usize];
        for block in 0..2 {
            for thread in 0..BLOCK_THREADS {
                for k in 0..THREAD_ATOMS {
                    n_owners[own_atom(block, thread, k) as usize] += 1;
                }
            }
        }
        assert!(n_owners.iter().all(|&n| n == 1));
    }

    #[test]
    fn no_atoms_still_make_a_grid() {
        assert_eq!(tile_grid(0), [1, 1, 1]);
        assert_eq!(tile_grid(22_000), [43, 43, 1]);
    }
}

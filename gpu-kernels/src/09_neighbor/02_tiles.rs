//! All pairs at the speed of arithmetic: tiles in shared memory, several atoms
//! per thread, one vote for many tests.
//!
//! A test is two subtractions, two multiplications, an addition and a
//! comparison. In [`neighbor_no_atomic`](super::neighbor_no_atomic) each test also loads two numbers,
//! counts a loop, and branches: more instructions than the test itself. Here:
//!
//! - *Shared memory.* A block loads a tile of [`TILE_CENTERS`] atoms, the
//!   *centers*, once, and all its threads read them from there. A lane reads the
//!   same center as its neighbours: one wavefront for the warp (a broadcast).
//! - *Registers.* A thread has [`THREAD_ATOMS`] atoms of its own, so that every
//!   center that it reads serves that many tests; and one 16-byte load brings
//!   two centers.
//! - *One vote for many tests.* Nearly all tests fail. A thread notes, in one bit
//!   for each group of 16 tests, whether any of them succeeded, and the warp
//!   combines its lanes' bits after eight groups: one branch for 128 tests,
//!   which all lanes take.
//!
//! ```text
//!                 centers in shared memory, the same for all lanes
//!                   c0   c1   c2   c3  │ c4 … c7 │ …   c31 │
//!   lane 0   a  ┐ ┌────────────────────┐
//!            b  │ │  16 tests, 1 bit   │  1 bit     …  1 bit   ┐
//!            c  │ │                    │                       │ 1 vote
//!            d  ┘ └────────────────────┘                       │
//!   lane 1 …                                                   ┘
//! ```
//!
//! # Warp-aggregated atomics
//!
//! When there are near pairs, they belong to *centers*, and all lanes have the
//! same centers: several lanes want a place in the same list. Instead of one
//! atomic per lane at one address, a ballot counts the lanes with a near atom,
//! and one atomic takes places for all of them. There are 32 centers
//! between two votes, and 32 lanes: each lane does it for a center of its own, so
//! the warp waits for the memory's answer once. The ballots also say which atoms
//! the places are for, so that the same lane writes them.
//!
//! # Limits
//!
//! Arithmetic: five instructions per test, close to what the schedulers can issue. A cheaper
//! first test (of `dx` alone, say) would no longer be one test per pair.
//! `docs/tuning/neighbor_tiles.md` has the measurements.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;
use cuda_std::vector::{Float2, Float4};
use cuda_std::warp::{FULL_MASK, WarpReductionOp, warp_reduce, warp_vote_ballot};

use super::{MAX_NEIGHBORS, are_near, distance_squared, opaque, place_by_atom};
use crate::warp::WARP_LANES;

/// Threads in a block.
const BLOCK_THREADS: u32 = 128;
/// Atoms that each thread holds in registers.
pub const THREAD_ATOMS: u32 = 4;
/// Atoms of a block.
pub const TILE_BLOCK_ATOMS: u32 = BLOCK_THREADS * THREAD_ATOMS;
/// Centers in a block's tile.
pub const TILE_CENTERS: u32 = 512;
/// Centers that share a bit.
const GROUP_CENTERS: u32 = 4;
/// Tests that share a bit.
const GROUP_TESTS: u32 = GROUP_CENTERS * THREAD_ATOMS;
/// Centers between two votes: one for each lane.
const TURN_CENTERS: u32 = WARP_LANES;

const _: () = assert!(TILE_CENTERS.is_multiple_of(TURN_CENTERS));
const _: () = assert!(TILE_CENTERS.is_multiple_of(BLOCK_THREADS));
// The code below names each atom, each center of a group and each group.
const _: () = assert!(THREAD_ATOMS == 4 && GROUP_CENTERS == 4 && TURN_CENTERS / GROUP_CENTERS == 8);

/// Stands for a missing atom: near nothing.
const NO_ATOM: Float2 = Float2::new(f32::NAN, f32::NAN);

/// Index of the `k`-th atom of thread `thread` in block `block`. Consecutive lanes
/// have consecutive atoms.
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

/// Whether any of the numbers is below `limit`: 1 or 0. A NaN is not.
///
/// Each comparison combines its result with that of the one before, in one
/// instruction. The compiler turns `a < limit || b < limit || …` into
/// `min(a, b, …) < limit`, and ptxas turns most minima into two instructions.
#[cuda_std::gpu_only]
#[inline(always)]
fn any_below(numbers: [f32; GROUP_TESTS as usize], limit: f32) -> u32 {
    let any;
    // SAFETY: computes with registers.
    unsafe {
        core::arch::asm!(
            "{{",
            ".reg .pred any;",
            "setp.lt.f32 any, {0}, {limit};",
            "setp.lt.or.f32 any, {1}, {limit}, any;",
            "setp.lt.or.f32 any, {2}, {limit}, any;",
            "setp.lt.or.f32 any, {3}, {limit}, any;",
            "setp.lt.or.f32 any, {4}, {limit}, any;",
            "setp.lt.or.f32 any, {5}, {limit}, any;",
            "setp.lt.or.f32 any, {6}, {limit}, any;",
            "setp.lt.or.f32 any, {7}, {limit}, any;",
            "setp.lt.or.f32 any, {8}, {limit}, any;",
            "setp.lt.or.f32 any, {9}, {limit}, any;",
            "setp.lt.or.f32 any, {10}, {limit}, any;",
            "setp.lt.or.f32 any, {11}, {limit}, any;",
            "setp.lt.or.f32 any, {12}, {limit}, any;",
            "setp.lt.or.f32 any, {13}, {limit}, any;",
            "setp.lt.or.f32 any, {14}, {limit}, any;",
            "setp.lt.or.f32 any, {15}, {limit}, any;",
            "selp.u32 {any}, 1, 0, any;",
            "}}",
            in(reg32) numbers[0],
            in(reg32) numbers[1],
            in(reg32) numbers[2],
            in(reg32) numbers[3],
            in(reg32) numbers[4],
            in(reg32) numbers[5],
            in(reg32) numbers[6],
            in(reg32) numbers[7],
            in(reg32) numbers[8],
            in(reg32) numbers[9],
            in(reg32) numbers[10],
            in(reg32) numbers[11],
            in(reg32) numbers[12],
            in(reg32) numbers[13],
            in(reg32) numbers[14],
            in(reg32) numbers[15],
            limit = in(reg32) limit,
            any = out(reg32) any,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    any
}

/// Enters the warp's near atoms in the lists of [`TURN_CENTERS`] centers, from
/// number `first` of the tile on. All lanes of the warp call it together.
///
/// Bit `g` of `groups` says that a lane has an atom near one of the group of
/// centers that starts [`GROUP_CENTERS`]` · g` after `first`. Lane `c` enters what
/// is near center `first + c`, in the order of `k`, then of lanes.
#[inline(always)]
unsafe fn append_turn(
    groups: u32,
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
    // For each `k`, the lanes whose k-th atom is near this lane's center.
    let mut near_lanes = [0; THREAD_ATOMS as usize];
    let mut groups = groups;
    while groups != 0 {
        let first_of_group = groups.trailing_zeros() * GROUP_CENTERS;
        groups &= groups - 1;
        let mut vote = |c: u32| {
            let center = *centers.add((first + c) as usize);
            let lanes = |k: usize| warp_vote_ballot(FULL_MASK, near(at[k], center, cutoff_squared));
            let lanes = [lanes(0), lanes(1), lanes(2), lanes(3)];
            if lane == c {
                near_lanes = lanes;
            }
        };
        vote(first_of_group);
        vote(first_of_group + 1);
        vote(first_of_group + 2);
        vote(first_of_group + 3);
    }

    // The k-th atom of the warp's lane 0. Opaque: otherwise what is computed from it
    // would occupy registers all the time.
    let block = opaque(thread::block_idx_x());
    let first_thread = opaque(thread::thread_idx_x()) - lane;
    let own_first = |k: u32| own_atom(block, first_thread, k);
    let center = first_center + first + lane;
    // An atom is near itself, but not its own neighbour.
    let without_itself = |k: u32, lanes: u32| match center.wrapping_sub(own_first(k)) {
        itself @ 0..WARP_LANES => lanes & !(1 << itself),
        _ => lanes,
    };
    let [a, b, c, d] = near_lanes;
    let near_lanes = [
        without_itself(0, a),
        without_itself(1, b),
        without_itself(2, c),
        without_itself(3, d),
    ];

    let [a, b, c, d] = near_lanes.map(u32::count_ones);
    let total = a + b + c + d;
    if total == 0 {
        return;
    }
    let counter = n_neighbors.add(center as usize);
    let mut place = atomic::add(counter, total, Global, Device, Relaxed);
    let mut enter = |k: u32, mut lanes: u32| {
        while lanes != 0 {
            if place < MAX_NEIGHBORS {
                *list.add(place_by_atom(center, place)) = own_first(k) + lanes.trailing_zeros();
            } else {
                atomic::min(overflow, center, Global, Device, Relaxed);
            }
            lanes &= lanes - 1;
            place += 1;
        }
    };
    let [a, b, c, d] = near_lanes;
    enter(0, a);
    enter(1, b);
    enter(2, c);
    enter(3, d);
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
    let at = [0, 1, 2, 3].map(|k| position(x, y, own_atom(block, thread, k), n_atoms));
    let [a, b, c, d] = at;
    thread::sync_threads();

    let mut first = 0;
    while first < TILE_CENTERS {
        // Bit `group`, if any of 16 tests succeeds.
        let bit = |group: u32| {
            let two = |i: u32| {
                let first = first + group * GROUP_CENTERS + i;
                let two = Float4::load(centers.add(first as usize).cast());
                (Float2::new(two.x, two.y), Float2::new(two.z, two.w))
            };
            let ((p, q), (r, s)) = (two(0), two(2));
            let test = |atom: Float2, center: Float2| {
                distance_squared(center.x - atom.x, center.y - atom.y)
            };
            let tests = [
                test(a, p),
                test(b, p),
                test(c, p),
                test(d, p),
                test(a, q),
                test(b, q),
                test(c, q),
                test(d, q),
                test(a, r),
                test(b, r),
                test(c, r),
                test(d, r),
                test(a, s),
                test(b, s),
                test(c, s),
                test(d, s),
            ];
            any_below(tests, cutoff_squared) << group
        };
        let own_groups = bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5) | bit(6) | bit(7);
        let groups = warp_reduce(FULL_MASK, own_groups, WarpReductionOp::Or);
        if groups != 0 {
            append_turn(
                groups,
                at,
                opaque(first),
                first_center,
                centers,
                cutoff_squared,
                n_neighbors,
                list,
                overflow,
            );
        }
        first += TURN_CENTERS;
    }
}

/// Block of [`neighbor_tiles`], in threads.
pub const TILE_BLOCK: [u32; 3] = [BLOCK_THREADS, 1, 1];

/// Grid of [`neighbor_tiles`]: x over the threads' atoms, y over the centers.
pub const fn tile_grid(n_atoms: u32) -> [u32; 3] {
    let n = if n_atoms == 0 { 1 } else { n_atoms };
    [n.div_ceil(TILE_BLOCK_ATOMS), n.div_ceil(TILE_CENTERS), 1]
}

/// Pairs that a launch tests, padding left out: every atom with every atom.
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

//! Neighbour list: for each atom, the atoms closer to it than a cut-off.
//!
//! A molecular dynamics program needs it at every step: the force on an atom
//! comes from its neighbours. The atoms lie in a plane at `(x, y)`, in Å; the
//! example is graphene, a honeycomb of carbon with bonds of 1.42 Å, where the
//! cut-off of 1.9 Å catches the three bonded atoms and no further one.
//!
//! # The answer
//!
//! `n_neighbors[n]` says how many neighbours atom `n` has. A list has
//! [`MAX_NEIGHBORS`] places per atom, in one of two layouts:
//!
//! - *by atom*: [`place_by_atom`], `list[n · 10 + k]`. An atom's neighbours lie
//!   together, which suits code that works on one atom at a time.
//! - *by place*: [`place_by_place`], `list[k · N + n]`. The `k`-th neighbours of
//!   consecutive atoms lie together, which suits a warp with one
//!   atom per lane: its stores are coalesced.
//!
//! An atom with more neighbours than places is an error, not a reason to write
//! into the next atom's places: its index goes to `overflow` (the lowest, if
//! there are several), the neighbours that do not fit are left out, and
//! `n_neighbors` says how many there would have been.
//!
//! # The work
//!
//! | kernel | pairs tested | what it pays |
//! |---|---|---|
//! | [`neighbor_atomic`] | each once | atomics for both atoms; threads with unequal work |
//! | [`neighbor_no_atomic`] | each twice | twice the tests |
//! | [`neighbor_tiles`] | each twice | the same, at the speed of arithmetic |
//! | [`cells`]: [`neighbor_cells_build`] and three before it | only near ones | sorting the atoms |
//!
//! The first three test N²/2 or N² pairs: a million atoms make 10¹² tests for
//! three million neighbours. The cells reduce that to about 12 tests per atom, however
//! many atoms there are.
//!
//! # Exactness
//!
//! Whether a pair is near is one expression, `fma(dx, dx, dy · dy) < cut-off²`,
//! with the same rounding in every kernel and in the reference: the lists are
//! equal as sets, not nearly equal. Only the order within an atom's list differs where
//! atomics hand out the places.

#[cfg_attr(not(target_arch = "nvptx64"), allow(unused_imports))]
use cuda_std::float::GpuFloat;

#[path = "01_pairs.rs"]
mod pairs;
#[path = "02_tiles.rs"]
mod tiles;
#[path = "03_cells/mod.rs"]
pub mod cells;

pub use cells::{
    BLOCK, BUILD_BLOCK, CellGrid, SCAN_BLOCK, SCAN_TILE, atom_grid, build_grid, cell_index,
    count_grid, neighbor_cells_build, neighbor_cells_count, neighbor_cells_scan,
    neighbor_cells_scatter, scan_grid,
};
pub use pairs::{PAIR_BLOCK, neighbor_atomic, neighbor_no_atomic, pair_grid};
pub use tiles::{
    TILE_BLOCK, TILE_BLOCK_ATOMS, TILE_CENTERS, neighbor_tiles, tile_grid, tile_pair_tests,
};

/// Places in an atom's list.
pub const MAX_NEIGHBORS: u32 = 10;

/// What `overflow` holds while no atom has too many neighbours.
pub const NO_OVERFLOW: u32 = u32::MAX;

/// Whether two atoms at a distance of `(dx, dy)` are near:
/// `fma(dx, dx, dy · dy) < cutoff_squared`. A NaN is near nothing.
///
/// The fused operation saves one instruction in six. It is written out, because
/// rustc fuses nothing on its own; a reference must fuse here too.
#[inline(always)]
fn are_near(dx: f32, dy: f32, cutoff_squared: f32) -> bool {
    distance_squared(dx, dy) < cutoff_squared
}

/// The number that [`are_near`] compares with the square of the cut-off.
#[inline(always)]
fn distance_squared(dx: f32, dy: f32) -> f32 {
    dx.mul_add(dx, dy * dy)
}

/// The same number, in a form that the compiler cannot recognise as the same.
///
/// The code for a near atom computes addresses from the loop counter. If the compiler
/// knew them to be sums of it, it would keep them up to date in registers of their
/// own: an addition each per iteration, even where nothing is near.
#[cuda_std::gpu_only]
#[inline(always)]
fn opaque(number: u32) -> u32 {
    let same;
    // SAFETY: copies a register. Not `pure`: it stays in its place.
    unsafe {
        core::arch::asm!(
            "mov.b32 {same}, {number};",
            same = out(reg32) same,
            number = in(reg32) number,
            options(nomem, nostack, preserves_flags)
        );
    }
    same
}

/// The same address, in a form that the compiler cannot recognise as the same.
///
/// In a loop, the compiler then keeps the addresses that the source keeps. If it knows
/// an address to be a sum, it may keep the parts, and add them up in every iteration
/// before the first load. (It also forgets that the address is in global memory; `ldg`
/// says so.)
#[cuda_std::gpu_only]
#[inline(always)]
fn opaque_address<T>(address: *const T) -> *const T {
    let same;
    // SAFETY: copies a register.
    unsafe {
        core::arch::asm!(
            "mov.b64 {same}, {address};",
            same = out(reg64) same,
            address = in(reg64) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    same
}

/// Index of atom `atom`'s neighbour `k` in a list by atom.
#[inline(always)]
pub const fn place_by_atom(atom: u32, k: u32) -> usize {
    atom as usize * MAX_NEIGHBORS as usize + k as usize
}

/// Index of atom `atom`'s neighbour `k` in a list by place, of `n_atoms` atoms.
#[inline(always)]
pub const fn place_by_place(atom: u32, k: u32, n_atoms: u32) -> usize {
    k as usize * n_atoms as usize + atom as usize
}

#[cfg(test)]
mod tests {
    use super::{MAX_NEIGHBORS, place_by_atom, place_by_place};

    #[test]
    fn both_layouts_give_every_neighbour_a_place_of_its_own() {
        const N_ATOMS: u32 = 7;
        let mut seen = [[0; 2]; (N_ATOMS * MAX_NEIGHBORS) as usize];
        for atom in 0..N_ATOMS {
            for k in 0..MAX_NEIGHBORS {
                seen[place_by_atom(atom, k)][0] += 1;
                seen[place_by_place(atom, k, N_ATOMS)][1] += 1;
            }
        }
        assert!(seen.iter().all(|&n| n == [1, 1]));
    }
}

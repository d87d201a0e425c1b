//! Neighbour lists with one defect each, named after it.
//!
//! They have the parameters of `gpu-kernels`' `neighbor_atomic`, so that the lesson's
//! own checks run on them. Thread `n` goes through all atoms, and enters atom `n`
//! in the lists of those that are near.

use cuda_std::atomic::{self, Device, Global, Relaxed};
use cuda_std::prelude::*;

const BLOCK_THREADS: u32 = 128;
const MAX_NEIGHBORS: u32 = 10;

/// Calls `found` with each atom that is near this thread's, other than itself.
#[inline(always)]
unsafe fn for_each_near(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    found: impl Fn(u32, u32),
) {
    let atom = thread::index_1d();
    if atom >= n_atoms {
        return;
    }
    let mut other = 0;
    while other < n_atoms {
        let dx = *x.add(other as usize) - *x.add(atom as usize);
        let dy = *y.add(other as usize) - *y.add(atom as usize);
        // Not fused as in the lesson: no distance here is that close to the cut-off.
        if dx * dx + dy * dy < cutoff_squared && other != atom {
            found(other, atom);
        }
        other += 1;
    }
}

/// Reads the count in one step and raises it in another: two atoms get the same
/// place.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_count_read_apart(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    for_each_near(x, y, n_atoms, cutoff_squared, |center, atom| {
        // `add` returns this very value, and returns it to no other thread.
        let k = *n_neighbors.add(center as usize);
        atomic::add(n_neighbors.add(center as usize), 1, Global, Device, Relaxed);
        if k < MAX_NEIGHBORS {
            *list.add((center * MAX_NEIGHBORS + k) as usize) = atom;
        } else {
            atomic::min(overflow, center, Global, Device, Relaxed);
        }
    });
}

/// Does not check whether there is a place left: the eleventh neighbour goes to the
/// next atom's places, or past the end.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_without_limit(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    for_each_near(x, y, n_atoms, cutoff_squared, |center, atom| {
        let k = atomic::add(n_neighbors.add(center as usize), 1, Global, Device, Relaxed);
        *list.add((center * MAX_NEIGHBORS + k) as usize) = atom;
        if k >= MAX_NEIGHBORS {
            atomic::min(overflow, center, Global, Device, Relaxed);
        }
    });
}

/// Counts an atom as its own neighbour.
#[kernel(launch_bounds(BLOCK_THREADS))]
pub unsafe fn neighbor_of_itself(
    x: *const f32,
    y: *const f32,
    n_atoms: u32,
    cutoff_squared: f32,
    n_neighbors: *mut u32,
    list: *mut u32,
    overflow: *mut u32,
) {
    let enter = |center: u32, atom: u32| {
        let k = atomic::add(n_neighbors.add(center as usize), 1, Global, Device, Relaxed);
        if k < MAX_NEIGHBORS {
            *list.add((center * MAX_NEIGHBORS + k) as usize) = atom;
        } else {
            atomic::min(overflow, center, Global, Device, Relaxed);
        }
    };
    for_each_near(x, y, n_atoms, cutoff_squared, enter);
    let atom = thread::index_1d();
    if atom < n_atoms {
        enter(atom, atom);
    }
}

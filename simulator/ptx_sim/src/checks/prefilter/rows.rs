//! Rows: accesses of all lanes, each at the same distance from the lane before. Most accesses are
//! like that, and what their cells are asked needs no lane's address.

use super::super::access::{AccessClass, Row, RowAccess};
use super::super::judge::Running;
use super::Prefilter;
use super::cells::{Act, PAGE_BYTES, Target};
use super::quick::{may_follow_reads, may_follow_writes, runs_pass};
use super::runs::Shape;
use super::shared::SharedCells;
use super::stamp::Who;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::lanes::{FULL_MASK, WARP_SIZE};
use ptx::ir::Space;

impl Prefilter<'_> {
    /// Whether a weak access of a row is surely in order, at a glance; it is remembered if so.
    pub(super) fn row_passes(
        &mut self,
        block: &mut Running<SharedCells>,
        instruction: u32,
        access: &RowAccess,
    ) -> bool {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: This machine has the vectors.
        return has_wide_vectors() && unsafe { self.row_passes_wide(block, instruction, access) };
        #[cfg(not(target_arch = "x86_64"))]
        self.row_passes_plain(block, instruction, access)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn row_passes_wide(
        &mut self,
        block: &mut Running<SharedCells>,
        instruction: u32,
        access: &RowAccess,
    ) -> bool {
        self.row_passes_plain(block, instruction, access)
    }

    #[inline(always)]
    fn row_passes_plain(
        &mut self,
        block: &mut Running<SharedCells>,
        instruction: u32,
        access: &RowAccess,
    ) -> bool {
        let Running {
            order,
            copies,
            memory,
            ..
        } = block;
        let row = access.row;
        let is_shared = row.space == Space::Shared;
        let writes = row.class == AccessClass::Store;
        let warp = &order.warps[access.warp as usize];
        let Some(known) = warp.known_by(FULL_MASK) else {
            return false;
        };
        // The sources of copies are not to be overwritten.
        let may_meet_copies = writes && !is_shared && !copies.is_empty();
        if may_meet_copies || warp.clock >= self.times.most() {
            return false;
        }
        let by = (access.warp, warp.clock);
        let who = Who::new(&self.times, order, by, Some(known), is_shared);
        let act = Act {
            instruction,
            writes,
            synchronises: false,
            is_wide: false,
            is_constant: access.is_constant,
            needs_written: !writes,
            starts_copy: false,
            size: row.bytes as u8,
            is_parallel: self.is_parallel,
        };
        match is_shared {
            true => passes(memory, &who, &act, row),
            false => passes(&mut self.global, &who, &act, row),
        }
    }
}

/// Whether the cells of a row let it pass; it is remembered if so.
#[inline(always)]
fn passes<T: Target>(target: &mut T, who: &Who<'_>, act: &Act, row: Row) -> bool {
    let shift = target.cell_shift();
    // Cells of a lane.
    let n = row.bytes as usize >> shift;
    let shape = match row.stride {
        0 => Shape::One,
        _ if row.is_contiguous() => Shape::Row,
        _ => {
            return match n {
                1 => apart::<T, 1>(target, who, act, row),
                2 => apart::<T, 2>(target, who, act, row),
                4 => apart::<T, 4>(target, who, act, row),
                _ => false,
            };
        }
    };
    let address = |lane: u32| row.first + u64::from(lane) * row.stride;
    let places = (FULL_MASK, row.bytes, address);
    runs_pass(target, who, act, (places, shape, n), true)
}

/// [`passes`], where there is a gap after the `N` cells of each lane: all on one page.
#[inline(always)]
fn apart<T: Target, const N: usize>(target: &mut T, who: &Who<'_>, act: &Act, row: Row) -> bool {
    const LAST: u64 = WARP_SIZE as u64 - 1;
    let shift = target.cell_shift();
    let n_bytes = LAST.saturating_mul(row.stride) + u64::from(row.bytes);
    if T::GLOBAL && row.first % PAGE_BYTES + n_bytes > PAGE_BYTES {
        return false;
    }
    let step = (row.stride >> shift) as usize;
    let n_cells = (n_bytes >> shift) as usize;
    let Some((write, read)) = target.plain(act, row.first, n_cells) else {
        return false;
    };
    let [mut written, mut was_read] = [gathered::<N>(write, step), gathered::<N>(read, step)];
    let (written, was_read) = (written.as_flattened_mut(), was_read.as_flattened_mut());
    let by = (who.stamp(0, false), N.trailing_zeros());
    if !may_follow_writes::<T>(who, act, written, by)
        || act.writes && !may_follow_reads::<T>(who, was_read, by)
    {
        return false;
    }
    if act.writes {
        who.write(written, by.0, by.1, false);
        was_read.fill(0);
        scatter::<N>(write, step, written);
    } else {
        who.read(was_read, by.0, by.1, T::GLOBAL);
    }
    scatter::<N>(read, step, was_read);
    true
}

/// The `N` cells of each lane, side by side.
#[inline(always)]
fn gathered<const N: usize>(cells: &[u32], step: usize) -> [[u32; N]; WARP_SIZE] {
    let mut all = [[0; N]; WARP_SIZE];
    for (to, from) in all.iter_mut().zip(cells.chunks(step)) {
        to.copy_from_slice(&from[..N]);
    }
    all
}

/// Puts them back.
#[inline(always)]
fn scatter<const N: usize>(cells: &mut [u32], step: usize, all: &[u32]) {
    for (to, from) in cells.chunks_mut(step).zip(all.as_chunks::<N>().0) {
        to[..N].copy_from_slice(from);
    }
}

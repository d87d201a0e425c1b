//! The cells that an access touches.

use super::super::access::WarpAccess;
use super::super::races::{is_contiguous, lanes};
use super::cells::PAGE_BYTES;
use super::cells::{Act, Run, Target};
use super::stamp::Who;
use ptx::ir::Space;

/// An access, whose cells are to be checked or, if `REMEMBER`, marked with it.
struct Visit<'v, T, const REMEMBER: bool> {
    target: &'v mut T,
    who: &'v Who<'v>,
    act: &'v Act,
    access: &'v WarpAccess<'v>,
}

/// Asks an access's cells whether they allow it, until one does not; or records the access
/// in them, which gives `true`.
#[inline(always)]
pub(super) fn each<T: Target, const REMEMBER: bool>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
) -> bool {
    // Cells of each lane.
    let n = access.bytes as usize >> target.cell_shift();
    let mut visit = Visit::<T, REMEMBER> {
        target,
        who,
        act,
        access,
    };
    if access.lane_bytes.is_some() {
        return visit.parts_of_lanes();
    }
    if access.stride == Some(0) {
        return visit.one(n);
    }
    if is_contiguous(access) && n.is_power_of_two() {
        return visit.row(n);
    }
    match n {
        1 => visit.lanes::<1>(n),
        2 => visit.lanes::<2>(n),
        4 => visit.lanes::<4>(n),
        _ => visit.lanes::<0>(n),
    }
}

/// [`each`] without looking for lanes that can be taken together.
pub(super) fn each_lane<T: Target, const REMEMBER: bool>(
    target: &mut T,
    who: &Who<'_>,
    act: &Act,
    access: &WarpAccess<'_>,
) -> bool {
    let n = access.bytes as usize >> target.cell_shift();
    let mut visit = Visit::<T, REMEMBER> {
        target,
        who,
        act,
        access,
    };
    match access.lane_bytes {
        Some(_) => visit.parts_of_lanes(),
        None => visit.lanes::<0>(n),
    }
}

impl<T: Target, const REMEMBER: bool> Visit<'_, T, REMEMBER> {
    /// A run of `N` cells, or of any number if that is 0.
    #[inline(always)]
    fn run<const N: usize>(&mut self, run: Run, address: u64) -> bool {
        if REMEMBER {
            self.target.remember::<N>(self.who, self.act, run, address);
            return true;
        }
        self.target.allows::<N>(self.who, self.act, run, address)
    }

    /// `n` cells of one lane, or of several that access the same.
    #[inline(always)]
    fn alone(&self, lane: usize, n: usize, is_several: bool) -> Run {
        Run {
            first: 0,
            n,
            stamp: self.who.stamp(lane as u32, is_several),
            shift: 31,
        }
    }

    /// All lanes access the same.
    #[inline(always)]
    fn one(&mut self, n: usize) -> bool {
        let mask = self.access.mask;
        let first = mask.trailing_zeros() as usize & 31;
        let run = self.alone(first, n, !mask.is_power_of_two());
        let address = self.access.addresses[first];
        match n {
            1 => self.run::<1>(run, address),
            _ => self.run::<0>(run, address),
        }
    }

    /// Each lane on its own.
    #[inline(always)]
    fn lanes<const N: usize>(&mut self, n: usize) -> bool {
        let access = self.access;
        if N != 0 && !REMEMBER {
            let target = &self.target;
            if target.quickly_allows_lanes::<N>(self.who, self.act, access) {
                return true;
            }
        }
        for lane in lanes(access.mask) {
            let run = self.alone(lane, n, false);
            if !self.run::<N>(run, access.addresses[lane]) {
                return false;
            }
        }
        true
    }

    /// Each lane on its own, and as many bytes as it accesses.
    #[inline(never)]
    fn parts_of_lanes(&mut self) -> bool {
        let access = self.access;
        let cell_bytes = 1 << self.target.cell_shift();
        for lane in lanes(access.mask) {
            let n_bytes = access.lane_bytes.map_or(access.bytes, |n| n[lane]);
            let n = n_bytes.min(access.bytes).div_ceil(cell_bytes) as usize;
            let run = self.alone(lane, n, false);
            if n > 0 && !self.run::<0>(run, access.addresses[lane]) {
                return false;
            }
        }
        true
    }

    /// All lanes, each beginning where the one before it ends: in one run, or in two, on
    /// two pages of global memory.
    #[inline(always)]
    fn row(&mut self, n: usize) -> bool {
        let access = self.access;
        let start = access.addresses[0];
        let run = |lane: usize, n_lanes: usize| Run {
            first: 0,
            n: n * n_lanes,
            stamp: self.who.stamp(lane as u32, false),
            shift: n.trailing_zeros(),
        };
        let bytes = u64::from(access.bytes);
        let left = PAGE_BYTES - start % PAGE_BYTES;
        if access.space == Space::Global && left < 32 * bytes {
            let split = (left / bytes) as usize;
            let (low, high) = (run(0, split), run(split, 32 - split));
            return self.run::<0>(low, start) && self.run::<0>(high, access.addresses[split]);
        }
        let all = run(0, 32);
        match n {
            1 => self.run::<32>(all, start),
            2 => self.run::<64>(all, start),
            4 => self.run::<128>(all, start),
            _ => self.run::<0>(all, start),
        }
    }
}

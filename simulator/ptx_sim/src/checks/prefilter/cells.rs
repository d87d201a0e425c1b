//! The prefilter's memory: two stamps for each cell of memory.
//!
//! A cell is a word, or less where a kernel accesses less.

use super::super::access::WarpAccess;
use super::stamp::{MANY, Who, age};

/// Bytes of global memory whose cells are made, kept and looked up together.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Cells of some memory that belong together.
#[derive(Default)]
pub(super) struct Cells {
    /// Who wrote each last.
    pub write: Vec<u32>,
    /// Who has read it since, or [`MANY`] blocks.
    pub read: Vec<u32>,
    /// Atomic, volatile and ordered accesses, once there are any.
    pub synchronised: Vec<Synchronised>,
}

/// Accesses to a cell that may meet each other.
#[derive(Clone, Copy, Default)]
pub(super) struct Synchronised {
    /// Who wrote it.
    pub write: u32,
    /// Who only read it.
    pub read: u32,
    /// By which instruction.
    pub instruction: u32,
    /// Bytes of the accesses.
    pub size: u8,
    /// Whether any is for its block only.
    pub is_narrow: bool,
}

/// Where cells are.
pub(super) trait Target {
    /// Binary logarithm of a cell's bytes.
    fn cell_shift(&self) -> u32;
    /// Makes cells of this many bytes.
    fn refine(&mut self, cell_shift: u32);
    /// Whether an access to cells is surely in order; `N` of them, or any number if that
    /// is 0.
    fn allows<const N: usize>(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) -> bool;
    /// The same for each lane's cells, where that is quickly decided.
    #[inline(always)]
    fn quickly_allows_lanes<const N: usize>(
        &self,
        _who: &Who<'_>,
        _act: &Act,
        _access: &WarpAccess<'_>,
    ) -> bool {
        false
    }
    /// Remembers an access that is allowed.
    fn remember<const N: usize>(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64);
}

/// What is done to cells.
#[derive(Clone, Copy)]
pub(super) struct Act {
    pub instruction: u32,
    pub writes: bool,
    pub synchronises: bool,
    /// It may meet accesses of other blocks.
    pub is_wide: bool,
    /// It relies on nothing writing there.
    pub is_constant: bool,
    /// What it reads must have been written.
    pub needs_written: bool,
    /// It reserves them for a copy in flight.
    pub starts_copy: bool,
    /// Bytes.
    pub size: u8,
    /// Whether other host threads run other blocks: their order must not matter.
    pub is_parallel: bool,
}

/// Cells that lanes access: where, how many, and which lanes.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub first: usize,
    pub n: usize,
    /// The first lane's stamp.
    pub stamp: u32,
    /// Binary logarithm of a lane's cells, if there are several lanes.
    pub shift: u32,
}

impl Run {
    /// The stamp for a cell.
    #[inline(always)]
    fn stamp_of(&self, i: usize) -> u32 {
        self.stamp + (i as u32 >> self.shift)
    }
}

impl Cells {
    pub fn new(n: usize) -> Self {
        Self {
            write: vec![0; n],
            read: vec![0; n],
            synchronised: Vec::new(),
        }
    }

    /// As new.
    pub fn clear(&mut self) {
        self.write.fill(0);
        self.read.fill(0);
        self.synchronised.clear();
    }

    /// Whether the access is surely in order, at a glance; `N` is the number of cells, or 0
    /// for any number. Does not look at whether global memory has been written.
    #[inline(always)]
    pub fn quickly_allows<const GLOBAL: bool, const N: usize>(
        &self,
        who: &Who<'_>,
        act: &Act,
        run: Run,
    ) -> bool {
        if act.synchronises || !self.synchronised.is_empty() {
            return false;
        }
        let n = if N == 0 { run.n } else { N };
        let Some(write) = self.write.get(run.first..run.first + n) else {
            return false;
        };
        let (stamp, shift) = (run.stamp, run.shift);
        if act.is_constant {
            return write.iter().fold(0, |all, &cell| all | cell) == 0;
        }
        if !GLOBAL && !act.writes {
            return who.are_before::<false, false>(write, stamp, shift);
        }
        let is_after = if GLOBAL {
            who.are_before::<true, false>(write, stamp, shift)
        } else {
            who.are_before::<true, true>(write, stamp, shift)
        };
        is_after && (!act.writes || self.is_after_reads::<GLOBAL>(who, run, n))
    }

    #[inline(always)]
    fn is_after_reads<const GLOBAL: bool>(&self, who: &Who<'_>, run: Run, n: usize) -> bool {
        let read = &self.read[run.first..run.first + n];
        if GLOBAL {
            who.are_before::<true, false>(read, run.stamp, run.shift)
        } else {
            who.are_before::<true, true>(read, run.stamp, run.shift)
        }
    }

    /// [`quickly_allows`](Self::quickly_allows) where each lane accesses `N` cells
    /// of shared memory somewhere.
    #[inline(always)]
    pub fn quickly_allows_lanes<const N: usize>(
        &self,
        who: &Who<'_>,
        act: &Act,
        access: &WarpAccess<'_>,
        cell_shift: u32,
    ) -> bool {
        if act.synchronises || act.is_constant || !self.synchronised.is_empty() {
            return false;
        }
        let mut is_after = true;
        for (lane, &address) in access.addresses.iter().enumerate() {
            if access.mask >> lane & 1 == 0 {
                continue;
            }
            let first = address as usize >> cell_shift;
            let stamp = who.stamp(lane as u32, false);
            let (Some(write), Some(read)) = (
                self.write.get(first..first + N),
                self.read.get(first..first + N),
            ) else {
                return false;
            };
            is_after &= if act.writes {
                who.are_before::<true, true>(write, stamp, 31)
                    & who.are_before::<true, true>(read, stamp, 31)
            } else {
                who.are_before::<false, false>(write, stamp, 31)
            };
        }
        is_after
    }

    /// Whether the access is surely in order. `is_filled` says that a cell of global
    /// memory was written before the launch.
    #[inline(never)]
    pub fn allows<const GLOBAL: bool>(
        &self,
        who: &Who<'_>,
        act: &Act,
        run: Run,
        is_filled: impl Fn(usize) -> bool,
    ) -> bool {
        run.first + run.n <= self.write.len()
            && (0..run.n).all(|i| self.allows_one::<GLOBAL>(who, act, run, i, &is_filled))
    }

    /// The same of one cell, whatever the access.
    fn allows_one<const GLOBAL: bool>(
        &self,
        who: &Who<'_>,
        act: &Act,
        run: Run,
        i: usize,
        is_filled: impl Fn(usize) -> bool,
    ) -> bool {
        let at = run.first + i;
        let stamp = run.stamp_of(i);
        let (write, read) = (self.write[at], self.read[at]);
        let met = self.synchronised.get(at).copied().unwrap_or_default();
        let after = |cell: u32| who.comes_after(cell, stamp, GLOBAL);
        let is_some = |cell: u32| if GLOBAL { cell != 0 } else { who.is_ours(cell) };
        if act.is_constant && (is_some(write) || is_some(met.write)) {
            return false;
        }
        let is_written = || is_some(write) || is_some(met.write) || GLOBAL && is_filled(at);
        if act.needs_written && !is_written() {
            return false;
        }
        if !after(write) || act.writes && !after(read) {
            return false;
        }
        if !act.synchronises {
            return after(met.write) && (!act.writes || after(met.read));
        }
        if GLOBAL && act.is_parallel && met.size != 0 && met.instruction != act.instruction {
            return false;
        }
        Self::meets::<GLOBAL>(who, act, &met) || after(met.write) && after(met.read)
    }

    /// Whether accesses to a cell are meant to meet this one.
    fn meets<const GLOBAL: bool>(who: &Who<'_>, act: &Act, met: &Synchronised) -> bool {
        let is_others = GLOBAL
            && [met.write, met.read]
                .iter()
                .any(|&cell| cell != 0 && !who.is_ours(cell));
        met.size == act.size && (!is_others || act.is_wide && !met.is_narrow)
    }

    /// Remembers an access that is allowed.
    #[inline(always)]
    pub fn remember<const GLOBAL: bool, const N: usize>(
        &mut self,
        who: &Who<'_>,
        act: &Act,
        run: Run,
    ) {
        if act.synchronises {
            return self.remember_synchronised::<GLOBAL>(who, act, run);
        }
        let n = if N == 0 { run.n } else { N };
        let cells = run.first..run.first + n;
        let read = &mut self.read[cells.clone()];
        if !act.writes {
            if !simply_reads::<GLOBAL>(who, run, read) {
                merge_reads::<GLOBAL>(who, run, read);
            }
            return;
        }
        read.fill(0);
        let write = &mut self.write[cells];
        if act.starts_copy {
            write.fill(MANY);
            return;
        }
        for (i, cell) in write.iter_mut().enumerate() {
            *cell = Who::written(*cell, run.stamp_of(i));
        }
    }

    fn remember_synchronised<const GLOBAL: bool>(&mut self, who: &Who<'_>, act: &Act, run: Run) {
        if self.synchronised.is_empty() {
            self.synchronised = vec![Synchronised::default(); self.write.len()];
        }
        for i in 0..run.n {
            let stamp = run.stamp_of(i);
            let met = &mut self.synchronised[run.first + i];
            if met.size != act.size {
                *met = Synchronised::default();
            }
            let cell = if act.writes {
                &mut met.write
            } else {
                &mut met.read
            };
            *cell = who.merged(*cell, stamp, GLOBAL);
            met.size = act.size;
            met.instruction = act.instruction;
            met.is_narrow |= !act.is_wide;
        }
    }

    /// Makes each cell this many.
    pub fn refine(&mut self, n: usize) {
        let spread = |cells: &[u32]| cells.iter().flat_map(|&c| vec![c; n]).collect();
        self.write = spread(&self.write);
        self.read = spread(&self.read);
        self.synchronised = (self.synchronised.iter())
            .flat_map(|&met| vec![met; n])
            .collect();
    }

    /// Time begins anew.
    pub fn age(&mut self) {
        age(&mut self.write);
        age(&mut self.read);
        for met in &mut self.synchronised {
            let mut cells = [met.write, met.read];
            age(&mut cells);
            [met.write, met.read] = cells;
        }
    }

    /// Whether all cells were written in this launch, plainly, or none of them at all.
    pub fn are_all_written(&self) -> Option<bool> {
        let n_written = self
            .write
            .iter()
            .map(|&cell| u32::from(cell != 0))
            .sum::<u32>();
        match n_written as usize {
            0 if self.synchronised.is_empty() => Some(false),
            n if n == self.write.len() => Some(true),
            _ => None,
        }
    }

    /// Whether a cell was written in this launch.
    #[inline(always)]
    pub fn is_written(&self, at: usize) -> bool {
        self.write[at] != 0 || self.synchronised.get(at).is_some_and(|met| met.write != 0)
    }
}

/// Remembers readers where they replace those before.
#[inline(always)]
fn simply_reads<const GLOBAL: bool>(who: &Who<'_>, run: Run, read: &mut [u32]) -> bool {
    let are_before = if GLOBAL {
        who.are_before::<true, false>(read, run.stamp, run.shift)
    } else {
        who.are_before::<true, true>(read, run.stamp, run.shift)
    };
    if !are_before {
        return who.are_merged(read);
    }
    for (i, cell) in read.iter_mut().enumerate() {
        *cell = run.stamp_of(i);
    }
    true
}

#[inline(never)]
fn merge_reads<const GLOBAL: bool>(who: &Who<'_>, run: Run, read: &mut [u32]) {
    for (i, cell) in read.iter_mut().enumerate() {
        *cell = who.merged(*cell, run.stamp_of(i), GLOBAL);
    }
}

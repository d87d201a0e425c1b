//! The prefilter's memory: two stamps for each cell of memory.
//!
//! A cell is a word, or less where a kernel accesses less.

use super::super::access::WarpAccess;
use super::met::{Met, MetCells, Synchronised};
use super::stamp::{MANY, Seen, Who, age};

/// Bytes of global memory whose cells are made, kept and looked up together.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Cells of some memory that belong together.
#[derive(Default)]
pub(super) struct Cells {
    /// Who wrote each last.
    pub write: Vec<u32>,
    /// Who has read it since, or [`MANY`] blocks.
    pub read: Vec<u32>,
    /// Atomic, volatile and ordered accesses.
    pub met: Met,
}

/// What some cells say.
pub(super) struct Everything<'c> {
    pub write: &'c [u32],
    pub read: &'c [u32],
    pub met: MetCells<'c>,
}

/// Where a lane's cells are: the page of global memory, and the first of them in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub page: u32,
    pub first: u32,
}

/// Cells in which the places of a warp's lanes are known.
pub(super) trait Located {
    /// What cells say of plain writes and reads.
    fn cells(&mut self, at: Place, n: usize) -> Option<(&mut [u32], &mut [u32])>;
    /// All that cells say.
    fn everything(&mut self, at: Place, n: usize) -> Option<Everything<'_>>;
}

impl Located for Cells {
    #[inline(always)]
    fn cells(&mut self, at: Place, n: usize) -> Option<(&mut [u32], &mut [u32])> {
        let cells = at.first as usize..at.first as usize + n;
        let write = self.write.get_mut(cells.clone())?;
        Some((write, self.read.get_mut(cells)?))
    }

    #[inline(always)]
    fn everything(&mut self, at: Place, n: usize) -> Option<Everything<'_>> {
        self.all(at.first as usize, n)
    }
}

/// Where cells are.
pub(super) trait Target {
    /// Those among which the lanes of a warp may find theirs.
    type Located: Located + ?Sized;
    /// Binary logarithm of a cell's bytes.
    fn cell_shift(&self) -> u32;
    /// Makes cells of this many bytes.
    fn refine(&mut self, cell_shift: u32);
    /// Whether they are of global memory.
    const GLOBAL: bool;
    /// What some cells say of plain writes and reads, if there is nothing else to know of them
    /// for an access like this.
    fn plain(&mut self, act: &Act, address: u64, n: usize) -> Option<(&mut [u32], &mut [u32])>;
    /// All that some cells say, if what an access reads there has been written before the launch
    /// or is to be looked for in the cells.
    fn all(&mut self, act: &Act, address: u64, n: usize) -> Option<Everything<'_>>;
    /// Where each lane finds its cells, if [`plain`](Self::plain), or [`all`](Self::all) for an
    /// access that may meet others, would give those of all.
    fn locate(
        &mut self,
        act: &Act,
        access: &WarpAccess<'_>,
        n: usize,
        at: &mut [Place; 32],
    ) -> Option<&mut Self::Located>;
    /// Whether an access to cells is surely in order.
    fn allows(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) -> bool;
    /// Remembers an access that is allowed.
    fn remember(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64);
    /// A bulk copy that is allowed begins.
    fn begins(&mut self, writes: bool, run: Run, address: u64);
    /// It is done, by whoever has this stamp.
    fn ends(&mut self, who: &Who<'_>, writes: bool, run: Run, address: u64);
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

/// What a cell says of two accesses, of which either may be the later one.
fn either(a: u32, b: u32) -> u32 {
    match (a, b) {
        (0, one) | (one, 0) => one,
        (a, b) if a == b => a,
        _ => MANY,
    }
}

impl Cells {
    pub fn new(n: usize) -> Self {
        Self {
            write: vec![0; n],
            read: vec![0; n],
            met: Met::default(),
        }
    }

    /// As new.
    pub fn clear(&mut self) {
        self.write.fill(0);
        self.read.fill(0);
        self.met.clear();
    }

    /// All that cells say.
    #[inline(always)]
    pub fn all(&mut self, first: usize, n: usize) -> Option<Everything<'_>> {
        let cells = first..first + n;
        Some(Everything {
            write: self.write.get(cells.clone())?,
            read: self.read.get(cells)?,
            met: self.met.cells(first, n),
        })
    }

    /// What cells say of plain accesses, if there have been no others.
    #[inline(always)]
    pub fn plain(&mut self, first: usize, n: usize) -> Option<(&mut [u32], &mut [u32])> {
        let cells = first..first + n;
        let is_met = self.met.touches(first, n);
        let both = (
            self.write.get_mut(cells.clone())?,
            self.read.get_mut(cells)?,
        );
        (!is_met).then_some(both)
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
        let mut seen = Seen::default();
        run.first + run.n <= self.write.len()
            && (0..run.n)
                .all(|i| self.allows_one::<GLOBAL>((who, &mut seen), act, run, i, &is_filled))
    }

    /// The same of one cell, whatever the access.
    fn allows_one<const GLOBAL: bool>(
        &self,
        (who, seen): (&Who<'_>, &mut Seen),
        act: &Act,
        run: Run,
        i: usize,
        is_filled: impl Fn(usize) -> bool,
    ) -> bool {
        let at = run.first + i;
        let stamp = run.stamp_of(i);
        let (write, read) = (self.write[at], self.read[at]);
        let met = self.met.get(at);
        let mut after = |cell: u32| who.comes_after(cell, stamp, GLOBAL, seen);
        let is_some = |cell: u32| {
            if GLOBAL {
                cell != 0
            } else {
                who.is_written(cell)
            }
        };
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
        let is_others = who.counts_others(GLOBAL)
            && [met.write, met.read]
                .iter()
                .any(|&cell| cell != 0 && !who.is_ours(cell));
        met.size == act.size && (!is_others || act.is_wide && !met.is_narrow)
    }

    /// Remembers an access that is allowed.
    pub fn remember<const GLOBAL: bool>(&mut self, who: &Who<'_>, act: &Act, run: Run) {
        if act.synchronises {
            return self.remember_synchronised::<GLOBAL>(who, act, run);
        }
        let cells = run.first..run.first + run.n;
        let read = &mut self.read[cells.clone()];
        if !act.writes {
            return who.merge(read, run.stamp, run.shift, GLOBAL);
        }
        read.fill(0);
        who.write(
            &mut self.write[cells],
            run.stamp,
            run.shift,
            act.starts_copy,
        );
    }

    /// A bulk copy that is allowed writes or reads from now on.
    pub fn begin(&mut self, writes: bool, run: Run) {
        let cells = run.first..run.first + run.n;
        if writes {
            self.read[cells.clone()].fill(0);
            self.write[cells].fill(MANY);
        } else {
            self.read[cells].fill(MANY);
        }
    }

    /// A bulk copy has written or read.
    pub fn end<const GLOBAL: bool>(&mut self, who: &Who<'_>, writes: bool, run: Run) {
        let cells = run.first..run.first + run.n;
        if writes {
            // No one else can have written there meanwhile.
            let in_flight = self.write[cells].iter_mut().filter(|cell| **cell == MANY);
            in_flight.for_each(|cell| *cell = run.stamp);
        } else {
            who.merge(&mut self.read[cells], run.stamp, run.shift, GLOBAL);
        }
    }

    fn remember_synchronised<const GLOBAL: bool>(&mut self, who: &Who<'_>, act: &Act, run: Run) {
        for i in 0..run.n {
            let (at, stamp) = (run.first + i, run.stamp_of(i));
            let mut met = self.met.get(at);
            if met.size != act.size {
                // Those before it are none that anything of this size may meet.
                self.write[at] = either(self.write[at], met.write);
                self.read[at] = either(self.read[at], met.read);
                met = Synchronised::default();
            }
            let cell = match act.writes {
                true => &mut met.write,
                false => &mut met.read,
            };
            *cell = who.merged(*cell, stamp, GLOBAL, &mut Seen::default());
            met.size = act.size;
            met.instruction = act.instruction;
            met.is_narrow |= !act.is_wide;
            self.met.set(at, met);
        }
    }

    /// Makes each cell this many.
    pub fn refine(&mut self, n: usize) {
        for cells in [&mut self.write, &mut self.read] {
            *cells = super::met::spread(cells, n);
        }
        self.met.refine(n);
    }

    /// Time begins anew.
    pub fn age(&mut self) {
        age(&mut self.write);
        age(&mut self.read);
        self.met.all().into_iter().for_each(age);
    }

    /// Whether all cells were written in this launch, plainly, or none of them at all.
    pub fn are_all_written(&self) -> Option<bool> {
        let n_written = self
            .write
            .iter()
            .map(|&cell| u32::from(cell != 0))
            .sum::<u32>();
        match n_written as usize {
            0 if self.met.is_empty() => Some(false),
            n if n == self.write.len() => Some(true),
            _ => None,
        }
    }

    /// Whether a cell was written in this launch.
    #[inline(always)]
    pub fn is_written(&self, at: usize) -> bool {
        self.write[at] != 0 || self.met.get(at).write != 0
    }
}

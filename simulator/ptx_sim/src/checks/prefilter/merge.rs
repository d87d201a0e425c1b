//! The merge of what several workers saw.

use super::Prefilter;
use super::cells::PAGE_BYTES;
use super::cells::{Cells, Target};
use super::global::{Page, Pages};
use super::met::Synchronised;
use crate::memory::written::Written;
use crate::pending::{Footprint, Usage};

/// What a launch has written: the place of an allocation, and ranges of its bytes, in
/// order.
pub(crate) struct WrittenBy(Vec<(usize, Vec<(u64, u64)>)>);

impl WrittenBy {
    /// Marks it.
    pub fn mark(self, written: &mut [Written]) {
        /// More ranges are better kept as bits.
        const FEW: usize = 16;
        for (place, ranges) in self.0 {
            if let Some(written) = written.get_mut(place) {
                if ranges.len() > FEW {
                    written.watch();
                }
                for (start, end) in ranges {
                    written.mark(start, end);
                }
            }
        }
    }
}

impl<'a> Prefilter<'a> {
    /// What a launch has written whose workers had these, and all that it has used, if that is asked
    /// for; none if blocks of two workers may have met in global memory in a way that shows their
    /// order.
    pub fn merged(
        prefilters: Vec<Self>,
        wants_footprint: bool,
    ) -> Option<(WrittenBy, Option<Footprint>)> {
        let finest = prefilters
            .iter()
            .map(|prefilter| prefilter.global.cell_shift)
            .min()?;
        let mut all: Option<Self> = None;
        for mut prefilter in prefilters {
            if prefilter.global.cell_shift > finest {
                prefilter.global.refine(finest);
            }
            match &mut all {
                None => all = Some(prefilter),
                Some(all) => all.join(prefilter)?,
            }
        }
        let all = all?;
        Some((all.written_by(), wants_footprint.then(|| all.footprint())))
    }

    /// Adds another worker's, if they agree.
    fn join(&mut self, mut other: Self) -> Option<()> {
        let mine = &mut self.global.allocations;
        for (place, theirs) in std::mem::take(&mut other.global.allocations)
            .into_iter()
            .enumerate()
        {
            if mine.len() <= place {
                mine.push(None);
            }
            match (&mut mine[place], theirs) {
                (Some(mine), Some(theirs)) => join_pages(mine, theirs)?,
                (mine @ None, theirs) => *mine = theirs,
                (Some(_), None) => {}
            }
        }
        Some(())
    }

    /// All global memory that has been used. What was written and read counts as written.
    fn footprint(&self) -> Footprint {
        let shift = self.global.cell_shift;
        let mut footprint = Footprint::default();
        for Pages { allocation, list } in self.global.allocations.iter().flatten() {
            for (number, page) in list.iter().enumerate() {
                let Some(Page { cells, .. }) = page.as_deref() else {
                    continue;
                };
                let page = number as u64 * PAGE_BYTES;
                let place = |at: usize| (page + ((at as u64) << shift)).min(allocation.size_bytes);
                cells.uses(|first, past, usage| {
                    let (first, past) = (place(first), place(past));
                    footprint.add(allocation.base + first..allocation.base + past, usage);
                });
            }
        }
        footprint
    }

    fn written_by(&self) -> WrittenBy {
        let shift = self.global.cell_shift;
        let allocations = self.global.allocations.iter().enumerate();
        let written = allocations
            .filter_map(|(place, pages)| Some((place, written_ranges(pages.as_ref()?, shift))));
        WrittenBy(written.collect())
    }
}

fn join_pages(mine: &mut Pages<'_>, theirs: Pages<'_>) -> Option<()> {
    for (mine, theirs) in mine.list.iter_mut().zip(theirs.list) {
        match (mine, theirs) {
            (Some(mine), Some(theirs)) => {
                join_cells(&mut mine.cells, &theirs.cells)?;
                mine.is_kept |= theirs.is_kept;
            }
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
    }
    Some(())
}

fn join_cells(mine: &mut Cells, theirs: &Cells) -> Option<()> {
    if !mine.met.is_empty() || !theirs.met.is_empty() {
        join_synchronised(mine, theirs)?;
    }
    let mut conflicts = 0;
    let mine = mine.write.iter_mut().zip(&mut mine.read);
    let theirs = theirs.write.iter().zip(&theirs.read);
    for ((my_write, my_read), (write, read)) in mine.zip(theirs) {
        let is_either = |a: u32, b: u32| u32::from(a != 0) & u32::from(b != 0);
        conflicts |= is_either(*my_write, write | read) | is_either(*my_read, *write);
        *my_write |= write;
        *my_read |= read;
    }
    (conflicts == 0).then_some(())
}

fn join_synchronised(mine: &mut Cells, theirs: &Cells) -> Option<()> {
    let n = mine.write.len();
    for i in 0..n {
        let (mut my_met, met) = (mine.met.get(i), theirs.met.get(i));
        let is_met = |met: &Synchronised| met.write | met.read != 0;
        let i_touch = mine.write[i] | mine.read[i] != 0;
        let they_touch = theirs.write[i] | theirs.read[i] != 0;
        if is_met(&my_met) && they_touch || is_met(&met) && i_touch {
            return None;
        }
        if !is_met(&met) {
            continue;
        }
        if is_met(&my_met) {
            let is_like = (my_met.size, my_met.instruction) == (met.size, met.instruction);
            if !is_like || my_met.is_narrow || met.is_narrow {
                return None;
            }
        }
        my_met = Synchronised {
            write: my_met.write | met.write,
            read: my_met.read | met.read,
            ..met
        };
        mine.met.set(i, my_met);
    }
    Some(())
}

/// What was written of an allocation.
fn written_ranges(pages: &Pages<'_>, shift: u32) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for (number, page) in pages.list.iter().enumerate() {
        // What is written is kept before.
        let Some(page) = page.as_ref().filter(|page| page.is_kept) else {
            continue;
        };
        let cells = &page.cells;
        let place = |at: usize| number as u64 * PAGE_BYTES + ((at as u64) << shift);
        let n = cells.write.len();
        let mut add = |first: usize, past: usize| {
            let (start, end) = (place(first), place(past).min(pages.allocation.size_bytes));
            match ranges.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => ranges.push((start, end)),
            }
        };
        match cells.are_all_written() {
            Some(true) => add(0, n),
            Some(false) => {}
            None => for_runs(n, |at| cells.is_written(at), add),
        }
    }
    ranges
}

/// Calls `f` with the first cell, and the one past the last, of each run that `is_in` names.
fn for_runs(n: usize, is_in: impl Fn(usize) -> bool, mut f: impl FnMut(usize, usize)) {
    let mut at = 0;
    while let Some(first) = (at..n).find(|&at| is_in(at)) {
        at = (first..n).find(|&at| !is_in(at)).unwrap_or(n);
        f(first, at);
    }
}

impl Cells {
    /// Calls `f` with the first cell, and the one past the last, of each run that was used in one way.
    fn uses(&self, mut f: impl FnMut(usize, usize, Usage)) {
        let n = self.write.len();
        for (cells, usage) in [(&self.write, Usage::WRITE), (&self.read, Usage::READ)] {
            for_runs(n, |at| cells[at] != 0, |first, past| f(first, past, usage));
        }
        if self.met.is_empty() {
            return;
        }
        for at in 0..n {
            let met = self.met.get(at);
            for (stamp, writes) in [(met.write, true), (met.read, false)] {
                let usage = Usage {
                    writes,
                    synchronises: !met.is_narrow,
                };
                if stamp != 0 {
                    f(at, at + 1, usage);
                }
            }
        }
    }
}

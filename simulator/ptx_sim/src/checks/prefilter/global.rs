//! The prefilter's cells for global memory: by allocation and page, as they are accessed.

use super::super::access::WarpAccess;
use super::super::races::lanes;
use super::cells::PAGE_BYTES;
use super::cells::{Act, Cells, Everything, Located, Place, Run, Target};
use super::pool::Pool;
use super::stamp::Who;
use super::undo::Undo;
use crate::memory::allocation::Allocation;
use crate::memory::global::GlobalMemory;
use crate::memory::written::Written;

/// Pages that a launch remembers, all its workers together. A page takes up to 8 KiB.
pub(super) const MAX_PAGES: usize = 1 << 18;

/// The cells of a page.
pub(super) struct Page {
    pub cells: Cells,
    /// Whether the host or kernels before had written all of it.
    is_filled: bool,
    /// Whether what was there before the launch is kept.
    pub is_kept: bool,
}

/// The pages of an allocation.
pub(super) struct Pages<'a> {
    pub allocation: &'a Allocation,
    pub list: Vec<Option<Box<Page>>>,
}

/// The cells of global memory, as one worker knows it.
pub(super) struct GlobalCells<'a> {
    memory: &'a GlobalMemory,
    /// What had been written before the launch, by the allocations' places.
    written: &'a [Written],
    undo: &'a Undo<'a>,
    /// By the allocations' places.
    pub allocations: Vec<Option<Pages<'a>>>,
    /// The place of the allocation that was accessed last.
    last: usize,
    /// Binary logarithm of a cell's bytes.
    pub cell_shift: u32,
    /// Whether any cells have met atomic, volatile or ordered accesses.
    has_met: bool,
    /// Pages that may still be made.
    n_left: usize,
    pool: &'a Pool,
}

impl Drop for GlobalCells<'_> {
    fn drop(&mut self) {
        let allocations = std::mem::take(&mut self.allocations).into_iter().flatten();
        let pages = allocations.flat_map(|pages| pages.list).flatten();
        self.pool.give_cells(pages.map(|page| page.cells));
    }
}

impl<'a> GlobalCells<'a> {
    pub fn new(
        memory: &'a GlobalMemory,
        written: &'a [Written],
        undo: &'a Undo<'a>,
        pool: &'a Pool,
        n_pages: usize,
    ) -> Self {
        Self {
            memory,
            written,
            undo,
            allocations: Vec::new(),
            last: 0,
            cell_shift: 2,
            has_met: false,
            n_left: n_pages,
            pool,
        }
    }

    /// The place of the allocation at an address.
    #[inline(always)]
    fn place(&mut self, address: u64) -> Option<usize> {
        let is_last = matches!(
            self.allocations.get(self.last),
            Some(Some(pages)) if pages.allocation.contains(address, 1)
        );
        if !is_last {
            self.last = self.look_up(address)?;
        }
        Some(self.last)
    }

    #[cold]
    fn look_up(&mut self, address: u64) -> Option<usize> {
        let allocation = self.memory.find(address)?;
        let place = allocation.written_place();
        if self.allocations.len() <= place {
            self.allocations.resize_with(place + 1, || None);
        }
        self.allocations[place].get_or_insert_with(|| {
            let n_pages = allocation.size_bytes.div_ceil(PAGE_BYTES) as usize;
            Pages {
                allocation,
                list: std::iter::repeat_with(|| None).take(n_pages).collect(),
            }
        });
        Some(place)
    }

    /// The page at an address, to be written if `writes`, and where in its cells.
    #[inline(always)]
    fn page(&mut self, address: u64, writes: bool) -> Option<(&mut Page, usize)> {
        let place = self.place(address)?;
        let pages = self.allocations[place].as_mut()?;
        let offset = address - pages.allocation.base;
        let number = offset / PAGE_BYTES;
        let at = (offset % PAGE_BYTES) as usize >> self.cell_shift;
        let page = pages.list.get_mut(number as usize)?;
        if page.is_none() {
            self.n_left = self.n_left.checked_sub(1)?;
            *page = Some(new_page(
                pages.allocation,
                number,
                self.written,
                self.pool.cells(PAGE_BYTES as usize >> self.cell_shift),
            ));
        }
        let page = page.as_mut()?;
        if writes && !page.is_kept {
            self.undo.keep(pages.allocation, number);
            page.is_kept = true;
        }
        Some((page, at))
    }

    /// Keeps what is at an address, which may be written without further notice; regardless
    /// of how many pages there are.
    pub fn keep(&mut self, address: u64) {
        if self.page(address, true).is_none()
            && let Some(allocation) = self.memory.find(address)
            && allocation.contains(address, 1)
        {
            self.undo
                .keep(allocation, (address - allocation.base) / PAGE_BYTES);
        }
    }

    /// All pages.
    fn all_pages(&mut self) -> impl Iterator<Item = &mut Box<Page>> {
        let allocations = self.allocations.iter_mut().flatten();
        allocations.flat_map(|pages| pages.list.iter_mut().flatten())
    }

    /// Time begins anew.
    #[cold]
    pub fn age(&mut self) {
        self.all_pages().for_each(|page| page.cells.age());
    }
}

impl Target for GlobalCells<'_> {
    #[inline(always)]
    fn cell_shift(&self) -> u32 {
        self.cell_shift
    }

    #[cold]
    fn refine(&mut self, cell_shift: u32) {
        let n = 1 << (self.cell_shift - cell_shift);
        self.all_pages().for_each(|page| page.cells.refine(n));
        self.cell_shift = cell_shift;
    }

    type Located = [Option<Box<Page>>];
    const GLOBAL: bool = true;

    #[inline(always)]
    fn all(&mut self, act: &Act, address: u64, n: usize) -> Option<Everything<'_>> {
        self.has_met = true;
        let (page, first) = self.page(address, act.writes)?;
        if act.needs_written && !page.is_filled {
            return None;
        }
        page.cells.all(first, n)
    }

    /// What it writes is kept. All have to be in one allocation.
    #[inline(always)]
    fn locate(
        &mut self,
        act: &Act,
        access: &WarpAccess<'_>,
        n: usize,
        at: &mut [Place; 32],
    ) -> Option<&mut [Option<Box<Page>>]> {
        let first = access.mask.trailing_zeros() as usize & 31;
        let place = self.place(access.addresses[first])?;
        let mut last = u32::MAX;
        for lane in lanes(access.mask) {
            let address = access.addresses[lane];
            let allocation = self.allocations[place].as_ref()?.allocation;
            if !allocation.contains(address, 1) {
                return None;
            }
            let offset = address - allocation.base;
            let page = (offset / PAGE_BYTES) as u32;
            at[lane] = Place {
                page,
                first: (offset % PAGE_BYTES) as u32 >> self.cell_shift,
            };
            let has_met = self.has_met;
            if act.synchronises {
                self.all(act, address, n)?;
            } else if page != last || has_met {
                self.plain(act, address, n)?;
                last = page;
            }
        }
        Some(&mut self.allocations[place].as_mut()?.list)
    }

    /// What it writes is kept.
    #[inline(always)]
    fn plain(&mut self, act: &Act, address: u64, n: usize) -> Option<(&mut [u32], &mut [u32])> {
        let (page, first) = self.page(address, act.writes)?;
        if act.needs_written && !page.is_filled {
            return None;
        }
        page.cells.plain(first, n)
    }

    /// What it writes is kept.
    #[inline(never)]
    fn allows(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) -> bool {
        let before = Before {
            memory: self.memory,
            written: self.written,
            page: address - address % PAGE_BYTES,
            cell_shift: self.cell_shift,
        };
        let Some((page, first)) = self.page(address, act.writes) else {
            return false;
        };
        page.allows(who, act, Run { first, ..run }, &before)
    }

    fn remember(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) {
        self.has_met |= act.synchronises;
        if let Some((page, first)) = self.page(address, false) {
            page.cells.remember::<true>(who, act, Run { first, ..run });
        }
    }

    fn begins(&mut self, writes: bool, run: Run, address: u64) {
        if let Some((page, first)) = self.page(address, false) {
            page.cells.begin(writes, Run { first, ..run });
        }
    }

    /// What has been read stays in flight.
    fn ends(&mut self, who: &Who<'_>, writes: bool, run: Run, address: u64) {
        if writes && let Some((page, first)) = self.page(address, false) {
            page.cells.end::<true>(who, true, Run { first, ..run });
        }
    }
}

impl Located for [Option<Box<Page>>] {
    #[inline(always)]
    fn cells(&mut self, at: Place, n: usize) -> Option<(&mut [u32], &mut [u32])> {
        let page = self.get_mut(at.page as usize)?.as_mut()?;
        page.cells.cells(at, n)
    }

    #[inline(always)]
    fn everything(&mut self, at: Place, n: usize) -> Option<Everything<'_>> {
        let page = self.get_mut(at.page as usize)?.as_mut()?;
        page.cells.everything(at, n)
    }
}

impl Page {
    fn allows(&self, who: &Who<'_>, act: &Act, run: Run, before: &Before<'_>) -> bool {
        let is_filled = |at| self.is_filled || before.has_written(at);
        self.cells.allows::<true>(who, act, run, is_filled)
    }
}

/// What had been written before the launch.
struct Before<'a> {
    memory: &'a GlobalMemory,
    written: &'a [Written],
    /// The address of a page.
    page: u64,
    cell_shift: u32,
}

impl Before<'_> {
    /// Whether all of a cell of the page had been.
    fn has_written(&self, at: usize) -> bool {
        let address = self.page + ((at as u64) << self.cell_shift);
        self.memory.find(address).is_some_and(|allocation| {
            let start = address - allocation.base;
            let end = (start + (1 << self.cell_shift)).min(allocation.size_bytes);
            let written = self.written.get(allocation.written_place());
            written.is_some_and(|written| written.has(start, end))
        })
    }
}

#[cold]
fn new_page(allocation: &Allocation, number: u64, written: &[Written], cells: Cells) -> Box<Page> {
    let start = number * PAGE_BYTES;
    let end = (start + PAGE_BYTES).min(allocation.size_bytes);
    let written = written.get(allocation.written_place());
    Box::new(Page {
        cells,
        is_filled: written.is_some_and(|written| written.has(start, end)),
        is_kept: false,
    })
}

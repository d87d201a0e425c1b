//! The prefilter's cells for the shared memory of a block.

use super::super::access::WarpAccess;
use super::super::races::lanes;
use super::cells::{Act, Cells, Everything, Place, Run, Target};
use super::stamp::Who;

/// The cells of a block's shared memory.
#[derive(Default)]
pub(crate) struct SharedCells {
    pub(super) cells: Cells,
    /// Binary logarithm of a cell's bytes.
    pub(super) cell_shift: u32,
    pub(super) era: u32,
}

impl Target for SharedCells {
    #[inline(always)]
    fn cell_shift(&self) -> u32 {
        self.cell_shift
    }

    #[cold]
    fn refine(&mut self, cell_shift: u32) {
        self.cells.refine(1 << (self.cell_shift - cell_shift));
        self.cell_shift = cell_shift;
    }

    type Located = Cells;
    const GLOBAL: bool = false;

    #[inline(always)]
    fn all(&mut self, _: &Act, address: u64, n: usize) -> Option<Everything<'_>> {
        self.cells.all(address as usize >> self.cell_shift, n)
    }

    #[inline(always)]
    fn locate(
        &mut self,
        act: &Act,
        access: &WarpAccess<'_>,
        n: usize,
        at: &mut [Place; 32],
    ) -> Option<&mut Cells> {
        for (at, &address) in at.iter_mut().zip(access.addresses) {
            at.first = (address >> self.cell_shift) as u32;
        }
        let cells = &mut self.cells;
        let is_met = !act.synchronises
            && !cells.met.is_empty()
            && lanes(access.mask).any(|lane| cells.met.touches(at[lane].first as usize, n));
        (!is_met).then_some(cells)
    }

    #[inline(always)]
    fn plain(&mut self, _: &Act, address: u64, n: usize) -> Option<(&mut [u32], &mut [u32])> {
        self.cells.plain(address as usize >> self.cell_shift, n)
    }

    fn allows(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) -> bool {
        let first = address as usize >> self.cell_shift;
        let run = Run { first, ..run };
        self.cells.allows::<false>(who, act, run, |_| false)
    }

    fn remember(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) {
        let first = address as usize >> self.cell_shift;
        let run = Run { first, ..run };
        self.cells.remember::<false>(who, act, run);
    }

    /// What a copy reads is remembered once it is done: until then `proxies` finds who writes
    /// there.
    fn begins(&mut self, writes: bool, run: Run, address: u64) {
        if writes {
            let first = address as usize >> self.cell_shift;
            self.cells.begin(true, Run { first, ..run });
        }
    }

    fn ends(&mut self, who: &Who<'_>, writes: bool, run: Run, address: u64) {
        let first = address as usize >> self.cell_shift;
        self.cells.end::<false>(who, writes, Run { first, ..run });
    }
}

//! The prefilter: a conservative first pass that lets through only what surely has no defect.
//!
//! Most launches have no defect, and seeing that takes much less time than finding out what
//! a defect is. So a checked launch first runs under the prefilter, on all cores where
//! blocks cannot tell in which order they run. If the prefilter gives up, memory is put
//! back as it was and the launch runs again, on one host thread, under the
//! [`Exact`](super::exact::Exact) judge: whether anything is reported, and what, is always
//! decided there.
//!
//! The prefilter must give up wherever that judge finds anything; it may do so
//! elsewhere. Both take their knowledge of what comes before what from
//! [`order`](super::order), but the prefilter keeps two stamps for each word instead of
//! marks, lines and sites: who wrote it last, and who has read it since. Several readers
//! are merged; other blocks are never in order with this one.
//!
//! In reading order: [`stamp`], the contents of a cell; [`cells`], the questions to cells;
//! [`runs`], which of them an access is to; [`global`], those of global memory; [`merge`], what
//! several workers saw; [`undo`], memory as it was; [`pool`], where pages come from.

mod cells;
mod global;
mod merge;
mod pool;
mod runs;
mod stamp;
mod undo;

pub(crate) use merge::WrittenBy;
pub(crate) use pool::Pool;
pub(crate) use undo::{Undo, discard, restore};

use std::sync::Arc;

use super::access::{AccessClass, WarpAccess};
use super::bulk::{BulkAccess, DoneBy};
use super::exact::{Kind, is_copy, site_of};
use super::finding::Finding;
use super::judge::{Judge, Running};
use super::order::{BlockOrder, GridOrder, Known, WarpOrder, synchronises};
use super::races::{self, lanes};
use super::shadow::Site;
use crate::context::LaunchContext;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::memory::written::Written;
use cells::{Act, Cells, PAGE_BYTES, Run, Target};
use global::{GlobalCells, MAX_PAGES};
use ptx::ir::Space;
use runs::{each, each_lane};
use stamp::{LATEST, Who};

/// One worker's.
pub(crate) struct Prefilter<'a> {
    global: GlobalCells<'a>,
    /// The time at which the block that runs began.
    base: u32,
    /// How often time has begun anew.
    era: u32,
    /// Whether a block runs.
    is_running: bool,
    /// Whether other workers run other blocks.
    is_parallel: bool,
    /// Whether there may be something to find.
    gives_up: bool,
}

/// The cells of a block's shared memory.
#[derive(Default)]
pub(crate) struct SharedCells {
    cells: Cells,
    /// Binary logarithm of a cell's bytes.
    cell_shift: u32,
    era: u32,
}

impl<'a> Prefilter<'a> {
    /// The prefilter of one of this many workers, for a launch before which this had been
    /// written.
    pub fn new(
        launch: &LaunchContext<'a>,
        written: &'a [Written],
        undo: &'a Undo<'a>,
        pool: &'a Pool,
        n_workers: usize,
    ) -> Self {
        Self {
            global: GlobalCells::new(launch.memory, written, undo, pool, MAX_PAGES / n_workers),
            base: 0,
            era: 0,
            is_running: false,
            is_parallel: n_workers > 1,
            gives_up: false,
        }
    }

    /// What an access does.
    fn act(&self, instruction: u32, access: &WarpAccess<'_>, kind: &Kind) -> Act {
        let has = |flag: u8| kind.flags & flag != 0;
        Act {
            instruction,
            writes: kind.writes,
            synchronises: has(Site::SYNCHRONISES),
            is_wide: has(Site::WIDE),
            is_constant: has(Site::CONSTANT),
            needs_written: kind.reads && !access.overwrites,
            starts_copy: is_copy(access) && access.space == Space::Shared,
            size: access.bytes as u8,
            is_parallel: self.is_parallel,
        }
    }

    /// Whether an access is surely in order; it is remembered if so.
    fn passes(
        &mut self,
        order: &BlockOrder,
        shared: &mut SharedCells,
        act: &Act,
        access: &WarpAccess<'_>,
    ) -> bool {
        // On x86-64 there is only the version with wide vectors, since it takes long to compile;
        // on the rare processors without them, nothing passes.
        #[cfg(target_arch = "x86_64")]
        // SAFETY: This machine has the vectors.
        return has_wide_vectors() && unsafe { self.passes_wide(order, shared, act, access) };
        #[cfg(not(target_arch = "x86_64"))]
        self.passes_plain(order, shared, act, access)
    }

    /// [`passes_plain`](Self::passes_plain) with wide vectors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn passes_wide(
        &mut self,
        order: &BlockOrder,
        shared: &mut SharedCells,
        act: &Act,
        access: &WarpAccess<'_>,
    ) -> bool {
        self.passes_plain(order, shared, act, access)
    }

    #[inline(always)]
    fn passes_plain(
        &mut self,
        order: &BlockOrder,
        shared: &mut SharedCells,
        act: &Act,
        access: &WarpAccess<'_>,
    ) -> bool {
        let warp = &order.warps[access.warp as usize];
        if warp.clock >= LATEST {
            return false;
        }
        let who = |known| self::who(self.base, order, access, known);
        if access.space == Space::Shared {
            passes(shared, warp, who, act, access)
        } else {
            passes(&mut self.global, warp, who, act, access)
        }
    }
}

/// Whether a warp's access to cells is surely in order; it is remembered if so.
#[inline(always)]
fn passes<'k, T: Target>(
    target: &mut T,
    warp: &'k WarpOrder,
    who: impl Fn(Option<&'k Arc<Known>>) -> Who<'k>,
    act: &Act,
    access: &WarpAccess<'_>,
) -> bool {
    // What a product reads is remembered by `proxies`.
    let remembers = access.class != AccessClass::Product;
    let needed = needed_shift(access);
    if needed < target.cell_shift() {
        target.refine(needed);
    }
    if let Some(known) = warp.known_by(access.mask) {
        let who = who(Some(known));
        return each::<T, false>(target, &who, act, access)
            && (!remembers || each::<T, true>(target, &who, act, access));
    }
    passes_by_group(target, warp, who, act, access, remembers)
}

/// [`passes`] where some lanes know more than others: rare, and so compiled once and small.
#[inline(never)]
fn passes_by_group<'k, T: Target>(
    target: &mut T,
    warp: &'k WarpOrder,
    who: impl Fn(Option<&'k Arc<Known>>) -> Who<'k>,
    act: &Act,
    access: &WarpAccess<'_>,
    remembers: bool,
) -> bool {
    for (lanes, known) in warp.groups() {
        let part = WarpAccess {
            mask: access.mask & lanes,
            stride: None,
            ..*access
        };
        if part.mask != 0 && !each_lane::<T, false>(target, &who(Some(known)), act, &part) {
            return false;
        }
    }
    !remembers || each_lane::<T, true>(target, &who(None), act, access)
}

#[inline(always)]
fn who<'k>(
    base: u32,
    order: &BlockOrder,
    access: &WarpAccess<'_>,
    known: Option<&'k Arc<Known>>,
) -> Who<'k> {
    let clock = order.warps[access.warp as usize].clock;
    let known = known.map(|known| &**known);
    Who::new(base, access.warp, clock, known, order.warps.len())
}

/// Binary logarithm of the bytes of a cell that an access needs.
#[inline(always)]
fn needed_shift(access: &WarpAccess<'_>) -> u32 {
    let of_lanes = |bytes: &[u32; 32]| {
        lanes(access.mask).fold(access.bytes, |all, lane| {
            all | bytes[lane].min(access.bytes)
        })
    };
    let bytes = access.lane_bytes.map_or(access.bytes, of_lanes);
    bytes.trailing_zeros().min(2)
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

    #[inline(always)]
    fn allows<const N: usize>(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) -> bool {
        let first = address as usize >> self.cell_shift;
        let run = Run { first, ..run };
        self.cells.quickly_allows::<false, N>(who, act, run)
            || self.cells.allows::<false>(who, act, run, |_| false)
    }

    #[inline(always)]
    fn quickly_allows_lanes<const N: usize>(
        &self,
        who: &Who<'_>,
        act: &Act,
        access: &WarpAccess<'_>,
    ) -> bool {
        let cells = &self.cells;
        cells.quickly_allows_lanes::<N>(who, act, access, self.cell_shift)
    }

    #[inline(always)]
    fn remember<const N: usize>(&mut self, who: &Who<'_>, act: &Act, run: Run, address: u64) {
        let first = address as usize >> self.cell_shift;
        let run = Run { first, ..run };
        self.cells.remember::<false, N>(who, act, run);
    }
}

impl Judge for Prefilter<'_> {
    type Block = SharedCells;

    fn started(&mut self, block: &mut SharedCells, shared_bytes: u32) {
        // It cannot judge blocks that run at the same time.
        self.gives_up |= self.is_running;
        self.is_running = true;
        if self.base >= LATEST {
            self.global.age();
            (self.base, self.era) = (1, self.era + 1);
        }
        let n = shared_bytes as usize;
        if block.era != self.era || block.cells.write.len() << block.cell_shift < n {
            *block = SharedCells {
                cells: Cells::new(n.div_ceil(4)),
                cell_shift: 2,
                era: self.era,
            };
        }
    }

    fn ended(&mut self, block: &mut Running<SharedCells>) -> Option<Finding> {
        let clocks = block.order.warps.iter().map(|warp| warp.clock);
        self.base += clocks.max().unwrap_or(0);
        self.is_running = false;
        None
    }

    fn access(
        &mut self,
        grid: &mut GridOrder,
        block: &mut Running<SharedCells>,
        instruction: u32,
        access: &WarpAccess<'_>,
    ) -> Option<Finding> {
        if self.gives_up {
            self.may_write(access);
            return None;
        }
        let kind = Kind::of(access);
        let is_global = access.space != Space::Shared;
        if is_global && kind.writes && !block.copies.is_empty() {
            let side = races::side(&site_of(instruction, access, kind.flags, 0), 0);
            self.gives_up = block.copies.conflict(side, true, access).is_some();
        }
        if synchronises(access) && kind.reads {
            grid.reads(&mut block.order, access);
        }
        let act = self.act(instruction, access, &kind);
        if !self.passes(&block.order, &mut block.memory, &act, access) {
            self.gives_up = true;
            self.may_write(access);
            return None;
        }
        if is_copy(access) {
            block.copies.starts(instruction, access);
        } else if kind.writes {
            grid.wrote(&mut block.order, access, kind.reads);
        }
        None
    }

    fn copied(
        &mut self,
        block: &mut SharedCells,
        order: &BlockOrder,
        instruction: u32,
        store: &WarpAccess<'_>,
    ) -> Option<Finding> {
        // No one has accessed it since the copy began.
        let act = Act {
            starts_copy: false,
            ..self.act(instruction, store, &Kind::of(store))
        };
        let who = who(self.base, order, store, None);
        each::<SharedCells, true>(block, &who, &act, store);
        None
    }

    fn bulk_begins(
        &mut self,
        _block: &mut Running<SharedCells>,
        access: &mut BulkAccess,
    ) -> Option<Finding> {
        // It cannot judge bulk copies.
        self.gives_up = true;
        if access.writes && access.touch.space == Space::Global {
            for range in &access.touch.ranges {
                for address in range.clone().step_by(PAGE_BYTES as usize) {
                    self.global.keep(address);
                }
                self.global.keep(range.end - 1);
            }
        }
        None
    }

    fn bulk_ends(&mut self, _block: &mut Running<SharedCells>, _: &BulkAccess, _: DoneBy) {}

    fn finished(&mut self) -> Option<Finding> {
        None
    }

    fn may_write(&mut self, access: &WarpAccess<'_>) {
        if access.space == Space::Global && Kind::of(access).writes {
            for lane in lanes(access.mask) {
                self.global.keep(access.addresses[lane]);
            }
        }
    }

    fn gives_up(&self) -> bool {
        self.gives_up
    }
}

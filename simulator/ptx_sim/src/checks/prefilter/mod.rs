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
//! are merged.
//!
//! In reading order: [`times`], when a block began; [`stamp`], the contents of a cell; [`met`],
//! accesses to cells that may meet; [`cells`], the questions to cells; [`runs`], which of them an
//! access is to, [`quick`], those judged at a glance, [`rows`], without their lanes' addresses, and
//! [`bulk`], which a bulk copy is to; [`shared`] and [`global`], those of either memory; [`merge`],
//! what several workers saw; [`undo`], memory as it was; [`pool`], where pages come from.

mod bulk;
mod cells;
mod global;
mod merge;
mod met;
mod pool;
mod quick;
mod rows;
mod runs;
mod shared;
mod stamp;
mod times;
mod undo;

pub(crate) use merge::WrittenBy;
pub(crate) use pool::Pool;
pub(crate) use undo::{Undo, discard, restore};

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::access::{AccessClass, RowAccess, WarpAccess};
use super::bulk::{BulkAccess, DoneBy};
use super::exact::{Kind, is_copy, site_of};
use super::finding::Finding;
use super::judge::{Judge, Running};
use super::order::{BlockOrder, GridOrder, Known, synchronises};
use super::races::{self, lanes};
use super::shadow::Site;
use crate::context::LaunchContext;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::memory::written::Written;
use cells::{Act, Cells, PAGE_BYTES, Target};
use global::{GlobalCells, MAX_PAGES};
use ptx::ir::Space;
use runs::{Shape, each};
use shared::SharedCells;
use stamp::Who;
use times::Times;

/// One worker's.
pub(crate) struct Prefilter<'a> {
    global: GlobalCells<'a>,
    times: Times,
    /// Whether other workers run other blocks.
    is_parallel: bool,
    /// Whether there may be something to find.
    gives_up: bool,
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
            times: Times::new(
                launch.among.n_blocks,
                launch.cluster.n_blocks() > 1
                    || launch.plan.has_waiting_blocks.load(Ordering::Relaxed),
                n_workers > 1,
            ),
            is_parallel: n_workers > 1,
            gives_up: false,
        }
    }

    /// Whether it has given up because blocks run together that were thought to run one after
    /// the other.
    pub fn needs_time_for_all(&self) -> bool {
        self.times.has_unexpected()
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
        if warp.clock >= self.times.most() {
            return false;
        }
        if access.space == Space::Shared {
            passes(shared, (&self.times, order), act, access)
        } else {
            passes(&mut self.global, (&self.times, order), act, access)
        }
    }
}

/// Whether a warp's access to cells is surely in order; it is remembered if so.
#[inline(always)]
fn passes<T: Target>(
    target: &mut T,
    (times, order): (&Times, &BlockOrder),
    act: &Act,
    access: &WarpAccess<'_>,
) -> bool {
    let access = &of_whole_lanes(access);
    if access.mask == 0 {
        return true;
    }
    let warp = &order.warps[access.warp as usize];
    // What a product reads is remembered by `proxies`.
    let remembers = access.class != AccessClass::Product;
    let needed = needed_shift(access);
    if needed < target.cell_shift() {
        target.refine(needed);
    }
    let shape = Shape::of(access);
    let is_split = warp.known_by(access.mask).is_none();
    for (lanes, known) in warp.groups() {
        let mask = access.mask & lanes;
        if mask == 0 {
            continue;
        }
        let part = WarpAccess {
            mask,
            stride: access.stride.filter(|_| !is_split),
            ..*access
        };
        let who = who(times, order, access, Some(known));
        let shape = shape.of_part(is_split);
        let remembers = remembers && !is_split;
        if quick::passes(target, &who, act, &part, (shape, remembers)) {
            continue;
        }
        if !each::<T, false>(target, &who, act, &part, shape) {
            return false;
        }
        if remembers {
            each::<T, true>(target, &who, act, &part, shape);
        }
    }
    // First all are asked, then all are remembered.
    !(remembers && is_split)
        || each::<T, true>(
            target,
            &who(times, order, access, None),
            act,
            access,
            shape.of_part(true),
        )
}

/// The same access, without lanes that access nothing, if all others access all their bytes.
#[inline(always)]
fn of_whole_lanes<'a>(access: &WarpAccess<'a>) -> WarpAccess<'a> {
    let Some(lane_bytes) = access.lane_bytes else {
        return *access;
    };
    let fetching = access.fetching();
    let mut are_whole = lanes(fetching).map(|lane| lane_bytes[lane] >= access.bytes);
    if !are_whole.all(|is_whole| is_whole) {
        return *access;
    }
    WarpAccess {
        mask: fetching,
        stride: access.stride.filter(|_| fetching == access.mask),
        lane_bytes: None,
        ..*access
    }
}

#[inline(always)]
fn who<'k>(
    times: &'k Times,
    order: &BlockOrder,
    access: &WarpAccess<'_>,
    known: Option<&'k Arc<Known>>,
) -> Who<'k> {
    let clock = order.warps[access.warp as usize].clock;
    let known = known.map(|known| &**known);
    let is_shared = access.space == Space::Shared;
    Who::new(times, order, (access.warp, clock), known, is_shared)
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

impl Judge for Prefilter<'_> {
    type Block = SharedCells;

    fn started(&mut self, block: &mut Running<SharedCells>, shared_bytes: u32) {
        if self.times.is_over() {
            self.global.age();
            self.times.restart();
        }
        self.gives_up |= !self.times.begins(block.order.place.block);
        let memory = &mut block.memory;
        let n = shared_bytes as usize;
        if memory.era != self.times.era || memory.cells.write.len() << memory.cell_shift < n {
            *memory = SharedCells {
                cells: Cells::new(n.div_ceil(4)),
                cell_shift: 2,
                era: self.times.era,
            };
        } else if self.times.are_together() {
            memory.cells.clear();
        }
    }

    fn ended(&mut self, block: &mut Running<SharedCells>) -> Option<Finding> {
        self.times.ends(&block.order);
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
        // What it stores would count as written.
        let is_unwritten = !block.passed_on.stored(instruction, access).is_empty();
        if is_unwritten || !self.passes(&block.order, &mut block.memory, &act, access) {
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

    #[inline(always)]
    fn row(
        &mut self,
        block: &mut Running<SharedCells>,
        instruction: u32,
        access: &RowAccess,
    ) -> bool {
        !self.gives_up && self.row_passes(block, instruction, access)
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
        let who = who(&self.times, order, store, None);
        if !quick::arrived(block, &who, store) {
            each::<SharedCells, true>(block, &who, &act, store, Shape::of(store));
        }
        None
    }

    fn bulk_begins(
        &mut self,
        block: &mut Running<SharedCells>,
        access: &mut BulkAccess,
    ) -> Option<Finding> {
        self.gives_up = self.gives_up || !self.begins(block, access);
        if self.gives_up && access.writes && access.touch.space == Space::Global {
            for range in access.touch.ranges.iter().filter(|range| !range.is_empty()) {
                for address in range.clone().step_by(PAGE_BYTES as usize) {
                    self.global.keep(address);
                }
                self.global.keep(range.end - 1);
            }
        }
        None
    }

    fn bulk_ends(&mut self, block: &mut Running<SharedCells>, access: &BulkAccess, by: DoneBy) {
        if !self.gives_up {
            self.ends(block, access, by);
        }
    }

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

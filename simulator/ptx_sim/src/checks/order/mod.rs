//! Happens-before: vector clocks.
//!
//! Order is PTX's causality order (FastTrack, Flanagan and Freund 2009, with lanes
//! for threads; the lanes of a warp share their clocks as long as they know the same).
//! Each warp counts the points at which its lanes publish what they did. A lane knows, for
//! each warp of each block, up to which of those points that warp's lanes come before.
//! Lanes learn:
//!
//! - at a block barrier, what all threads that arrived know and did; at `bar.warp.sync` the
//!   same of the lanes of its mask. Being in one warp orders nothing: lanes may diverge;
//! - by an acquire pattern that reads from a release pattern. A release pattern is a
//!   release and a later write of the same lanes to its address, or a fence and a later
//!   relaxed or volatile write; an acquire pattern is an acquire, or a relaxed or
//!   volatile read and a later fence. Patterns of block scope order nothing between
//!   blocks;
//! - at the barrier of the cluster, what all that arrived there and released
//!   (`barrier.cluster.arrive`, not `.relaxed`) knew and did when they did;
//! - by reading from the writer itself or through atomics on the same word, which pass
//!   on what was released before them. A store by another thread ends that, and a
//!   compare-and-swap that fails only reads;
//! - through both together: what came before a *fence* is handed on by barriers, by
//!   `bar.warp.sync` and by releases, so that a relaxed write after the barrier publishes
//!   what the others did before their fences. In PTX this holds if the fences are
//!   `fence.sc` or `membar` (the reader's fence must come after each of them). Likewise a
//!   barrier makes relaxed reads before it count, as in the common idiom of a last block
//!   that draws its ticket without a fence after it.
//!
//! What it considers ordered although it is not:
//! - `fence.acq_rel` counts as `fence.sc` in the above;
//! - a warp-wide instruction (shuffle, vote) passes on what its lanes know of other warps,
//!   though not what they did;
//! - lanes that access one word by one atomic instruction come after each other;
//! - a weak store leaves what was released at its address, and so does one of less than a word;
//! - the scope of a cluster is not distinguished from that of the device.
//!
//! Where launches run on several devices together, patterns of device scope order nothing between
//! devices.

mod cluster;
mod in_block;
mod known;
mod others;
mod warp;

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

pub(crate) use in_block::{Floor, Part};
pub(crate) use known::{Known, Place};
pub(crate) use others::{Depth, Others};
pub(crate) use warp::WarpOrder;

use cluster::ClusterMeetings;
use known::{Carried, is_same, join_option};

use super::access::{AccessClass, BarrierArrival, Lanes, WarpAccess};
use super::shadow::Mix;
use crate::lanes::{FULL_MASK, all_name_all, lanes};
use crate::program::{Order, Scope};
use crate::warp::MAX_WARPS;
use ptx::ir::Space;

/// Barriers of a block.
const N_BARRIERS: usize = 16;

/// By address, what was released there.
type Addresses<T> = HashMap<u64, Published<T>, BuildHasherDefault<Mix>>;

/// What was released at an address, and by which lanes.
struct Published<T> {
    what: T,
    /// Block, warp, lanes.
    by: (u64, u32, u32),
}

/// A barrier.
#[derive(Default)]
struct Meeting {
    /// What has been brought to it.
    brought: Option<Carried>,
    /// What the first warp knew that came: mostly all know the same.
    known: Option<Arc<Known>>,
    /// Warps and their lanes that wait.
    waiting: Vec<(u32, u32)>,
}

/// The order of a block that runs.
pub(crate) struct BlockOrder {
    pub place: Place,
    pub warps: Vec<WarpOrder>,
    barriers: [Meeting; N_BARRIERS],
    /// What was released for the block, in shared and in global memory.
    published: [Addresses<Carried>; 2],
    engine: Engine,
}

/// What brings bulk copies to a block's shared memory, as far as order is concerned: an
/// extra warp after the block's own, with a lane for each barrier that counts copies.
#[derive(Default)]
struct Engine {
    clock: u32,
    /// By lane, the barrier.
    barriers: Vec<u32>,
}

impl BlockOrder {
    /// Of a block that begins, with this many threads.
    pub fn new(place: Place, n_threads: u32) -> Self {
        let n_warps = n_threads.div_ceil(32);
        let nothing = Known::nothing();
        let warp = |warp: u32| {
            let n_lanes = (n_threads - 32 * warp).min(32);
            WarpOrder::new(warp, u32::MAX >> (32 - n_lanes), nothing.clone())
        };
        Self {
            place,
            warps: (0..n_warps).map(warp).collect(),
            barriers: Default::default(),
            published: Default::default(),
            engine: Engine::default(),
        }
    }

    /// The number of the engine's warp.
    pub fn engine_warp(&self) -> u32 {
        (self.warps.len() as u32).min(MAX_WARPS - 1)
    }

    /// Whether a barrier has counted copies.
    #[inline(always)]
    pub fn has_engine(&self) -> bool {
        !self.engine.barriers.is_empty()
    }

    /// The latest of the clocks of the warps and of the engine.
    pub fn latest_clock(&self) -> u32 {
        let clocks = self.warps.iter().map(|warp| warp.clock);
        clocks.max().unwrap_or(0).max(self.engine.clock)
    }

    /// The engine's lane for the copies that a barrier counts.
    pub fn engine_lane(&mut self, barrier: u32) -> u32 {
        let barriers = &mut self.engine.barriers;
        let known = barriers.iter().position(|&known| known == barrier);
        let place = known.unwrap_or_else(|| {
            barriers.push(barrier);
            barriers.len() - 1
        });
        place as u32 % 32
    }

    /// The phase of a barrier is over: threads that ask it know of the copies that it
    /// counted. Gives the engine's time for them.
    pub fn phase_over(&mut self, barrier: u32) -> u32 {
        self.engine.clock += 1;
        let part = Part {
            warp: self.engine_warp(),
            lanes: 1 << self.engine_lane(barrier),
            clock: self.engine.clock,
        };
        let mut now = Known::nothing();
        now.cover(part, u32::MAX);
        let what = Carried::new(now);
        let by = (self.place.block, part.warp, part.lanes);
        let published = &mut self.published[0];
        match published.get_mut(&u64::from(barrier)) {
            Some(before) => before.what.join(&what),
            None => {
                published.insert(u64::from(barrier), Published { what, by });
            }
        }
        part.clock
    }

    /// Lanes come to a block barrier.
    pub fn arrived(&mut self, arrival: &BarrierArrival) {
        let lanes = arrival.lanes;
        let order = &mut self.warps[lanes.warp as usize];
        let barrier = &mut self.barriers[arrival.barrier];
        if arrival.waits {
            barrier.waiting.push((lanes.warp, lanes.mask));
        }
        if arrival.is_whole_warp
            && let (Some(known), Some(brought)) = (&barrier.known, &mut barrier.brought)
            && order.adds_simply(known, brought)
        {
            return;
        }
        if barrier.brought.is_none() {
            barrier.known = order.known_by(lanes.mask).cloned();
        }
        // Lanes that have ended need not come.
        let mut brings = order.brings(if arrival.is_whole_warp {
            u32::MAX
        } else {
            lanes.mask
        });
        brings.count_pending(Scope::System, self.place);
        order.tick();
        match &mut barrier.brought {
            Some(brought) => brought.join(&brings),
            brought => *brought = Some(brings),
        }
    }

    /// A barrier releases its warps.
    pub fn released(&mut self, barrier_number: usize) {
        let barrier = &mut self.barriers[barrier_number];
        barrier.known = None;
        let Some(mut brought) = barrier.brought.take() else {
            return;
        };
        let mut waiting = std::mem::take(&mut barrier.waiting);
        self.level(&mut brought, &waiting);
        for (warp, lanes) in waiting.drain(..) {
            self.warps[warp as usize].adopt(lanes, brought.clone());
        }
        self.barriers[barrier_number].waiting = waiting;
    }

    /// Sets the clocks of warps that meet to the latest of theirs, as far as all that they did is
    /// known: what all warps did up to some clock is then simple to tell.
    fn level(&mut self, brought: &mut Carried, waiting: &[(u32, u32)]) {
        let clocks = waiting
            .iter()
            .map(|&(warp, _)| self.warps[warp as usize].clock);
        let Some(latest) = clocks
            .clone()
            .max()
            .filter(|&latest| clocks.clone().min() != Some(latest))
        else {
            return;
        };
        for &(number, _) in waiting {
            let warp = &mut self.warps[number as usize];
            if warp.clock < latest && brought.now.own.of_warp(number) + 1 == warp.clock {
                warp.clock = latest;
                let all = Part {
                    warp: number,
                    lanes: u32::MAX,
                    clock: latest - 1,
                };
                brought.now.cover(all, u32::MAX);
            }
        }
    }

    /// Lanes meet at `bar.warp.sync`, each with those that it names.
    pub fn converged(&mut self, lanes: Lanes, members: &[u32; 32]) {
        let warp = &mut self.warps[lanes.warp as usize];
        if all_name_all(lanes.mask, members) && warp.meets_simply() {
            return;
        }
        for (named, here) in groups_of(lanes.mask, members) {
            // Those that have ended need not come.
            let brought = warp.brings(named);
            warp.adopt(here, brought);
        }
        warp.tick();
    }

    /// Lanes carry out another warp-wide instruction.
    pub fn shared(&mut self, lanes: Lanes, members: &[u32; 32]) {
        let warp = &mut self.warps[lanes.warp as usize];
        if warp.is_split() {
            for (_, here) in groups_of(lanes.mask, members) {
                warp.share(here);
            }
        }
    }

    /// Lanes carry out a fence.
    pub fn fence(&mut self, lanes: Lanes, scope: Scope) {
        let warp = &mut self.warps[lanes.warp as usize];
        for group in warp.split(lanes.mask) {
            group.carried.count_pending(scope, self.place);
        }
        warp.fence(lanes.mask, scope);
    }
}

/// The lanes that name the same members: these, and those of them that are here.
fn groups_of(mut mask: u32, members: &[u32; 32]) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let named = *members.get(mask.trailing_zeros() as usize)?;
        let here = lanes(mask).filter(|&lane| members[lane] == named);
        let here: u32 = here.map(|lane| 1 << lane).sum();
        mask &= !here;
        Some((named, here))
    })
}

/// Bytes of a word.
const WORD_BYTES: u32 = 4;

/// The words of an access: each address, and the lanes that access it.
fn words(access: &WarpAccess<'_>) -> impl Iterator<Item = (u64, u32)> {
    let address = |lane: usize| access.addresses[lane] & !3;
    let mut mask = access.mask;
    std::iter::from_fn(move || {
        let first = lanes(mask).next()?;
        let same = lanes(mask).filter(|&lane| address(lane) == address(first));
        let same: u32 = same.map(|lane| 1 << lane).sum();
        mask &= !same;
        Some((address(first), same))
    })
}

/// What orders blocks.
pub(crate) struct GridOrder {
    /// What was released, by device for those on it, and then, if several run together, for the
    /// system.
    published: Vec<Addresses<Others>>,
    /// What was released in shared memory for the cluster, by the block that has it.
    in_shared: HashMap<u64, Addresses<Others>, BuildHasherDefault<Mix>>,
    /// Whether other blocks reach a block's shared memory.
    has_clusters: bool,
    /// Devices that run together.
    n_devices: usize,
    /// The barriers of clusters.
    meetings: ClusterMeetings,
}

impl GridOrder {
    /// Of grids on some devices, whose blocks reach each other's shared memory, or not.
    pub fn new(has_clusters: bool, n_devices: usize) -> Self {
        let n = n_devices + usize::from(n_devices > 1);
        Self {
            published: std::iter::repeat_with(Addresses::default).take(n).collect(),
            in_shared: HashMap::default(),
            has_clusters,
            n_devices,
            meetings: ClusterMeetings::default(),
        }
    }

    /// Lanes arrive at the barrier of their cluster.
    pub fn cluster_arrived(
        &mut self,
        block: &mut BlockOrder,
        lanes: Lanes,
        cluster: u64,
        releases: bool,
    ) {
        let warp = (&mut block.warps[lanes.warp as usize], block.place);
        self.meetings.arrived(cluster, warp, lanes.mask, releases);
    }

    /// All threads of a cluster have arrived.
    pub fn cluster_opened(&mut self, cluster: u64) {
        self.meetings.opened(cluster);
    }

    /// Lanes go on after the barrier of their cluster.
    pub fn cluster_left(&mut self, block: &mut BlockOrder, lanes: Lanes, cluster: u64) {
        let warp = (&mut block.warps[lanes.warp as usize], block.place);
        self.meetings.left(cluster, warp, lanes.mask);
    }

    /// A cluster has ended.
    pub fn cluster_ended(&mut self, cluster: u64) {
        self.meetings.ended(cluster);
    }

    /// A block has ended: its shared memory cannot be reached any more.
    pub fn block_ended(&mut self, block: u64) {
        self.in_shared.remove(&block);
    }

    /// What was released for other blocks where an access goes.
    fn published_at(&self, access: &WarpAccess<'_>, place: Place) -> Option<&Addresses<Others>> {
        let published = match access.space {
            Space::Shared => self.in_shared.get(&access.owner)?,
            _ => &self.published[usize::from(place.device)],
        };
        (!published.is_empty()).then_some(published)
    }

    /// What was released for all devices where an access goes.
    fn published_in_system(&self, access: &WarpAccess<'_>) -> Option<&Addresses<Others>> {
        let [_, _, .., system] = &self.published[..] else {
            return None;
        };
        (access.space != Space::Shared && !system.is_empty()).then_some(system)
    }

    /// Whether anything was released for other blocks where an access goes.
    fn has_published(&self, access: &WarpAccess<'_>) -> bool {
        match access.space {
            Space::Shared => self.in_shared.contains_key(&access.owner),
            _ => self.published.iter().any(|published| !published.is_empty()),
        }
    }

    /// Lanes read, as far as that orders: they meet what was released at their
    /// addresses.
    pub fn reads(&self, block: &mut BlockOrder, access: &WarpAccess<'_>) {
        let is_shared = access.space == Space::Shared;
        let is_own = access.owner == access.block;
        let published = &block.published[usize::from(!is_shared)];
        let for_others = self.published_at(access, block.place);
        let for_system = self.published_in_system(access);
        let for_system = for_system.filter(|_| access.scope == Scope::System);
        if published.is_empty() && for_others.is_none() && for_system.is_none() {
            return;
        }
        let is_wide = access.scope != Scope::Block;
        for (address, lanes) in words(access) {
            let in_block = published.get(&address).filter(|_| is_own);
            let in_grid = for_others
                .and_then(|published| published.get(&address))
                .filter(|published| is_wide || published.by.0 == block.place.block);
            let in_system = for_system.and_then(|published| published.get(&address));
            if in_block.is_none() && in_grid.is_none() && in_system.is_none() {
                continue;
            }
            let met = Met {
                in_block: in_block.map(|published| &published.what),
                in_grid: in_grid.map(|published| &published.what),
                in_system: in_system.map(|published| &published.what),
            };
            for group in block.warps[access.warp as usize].split(lanes) {
                met.by(&mut group.carried, access.order, block.place);
            }
        }
        let warp = &mut block.warps[access.warp as usize];
        if access.mask == FULL_MASK && warp.is_split() && access.order.acquires() {
            warp.unite();
        }
    }

    /// Lanes have written, or read and written.
    #[inline]
    pub fn wrote(&mut self, block: &mut BlockOrder, access: &WarpAccess<'_>, reads: bool) {
        if !synchronises(access) {
            return;
        }
        self.writes(block, access);
        if reads && !access.mask.is_power_of_two() {
            // Lanes that access the same come one after the other.
            self.reads(block, access);
        }
    }

    /// Lanes write, as far as that orders: what they did so far, or up to their last
    /// fence, is published at their addresses.
    fn writes(&mut self, block: &mut BlockOrder, access: &WarpAccess<'_>) {
        let releases = access.order.releases();
        let has_fenced = block.warps[access.warp as usize].has_fenced();
        let is_shared = access.space == Space::Shared;
        let is_own = access.owner == access.block;
        let n_known = block.published[usize::from(!is_shared)].len();
        let is_known = n_known > 0 || self.has_published(access);
        let reaches_others = !is_shared || self.has_clusters;
        // What was released at other bytes of the word is still there.
        let updates = access.class != AccessClass::Store || access.bytes < WORD_BYTES;
        if !releases && !has_fenced && (updates || !is_known) {
            return;
        }
        for (address, lanes) in words(access) {
            let Publishes {
                for_block,
                for_grid,
                for_system,
            } = published_by(block, access, lanes, reaches_others);
            let by = (access.block, access.warp, lanes);
            let published = &mut block.published[usize::from(!is_shared)];
            let what = for_block;
            if is_own {
                publish(
                    published,
                    address,
                    Published { what, by },
                    updates,
                    Carried::join,
                );
            }
            if !reaches_others {
                continue;
            }
            let for_others = |published: &mut Addresses<Others>, what| {
                let new = Published { what, by };
                publish(published, address, new, updates, Others::join);
            };
            if is_shared {
                for_others(self.in_shared.entry(access.owner).or_default(), for_grid);
                continue;
            }
            for (i, published) in self.published.iter_mut().enumerate() {
                // A store by a thread of another device ends what was released there, too.
                let what = match i {
                    _ if i == usize::from(block.place.device) => &for_grid,
                    _ if i == self.n_devices => &for_system,
                    _ => &None,
                };
                for_others(published, what.clone());
            }
        }
        if releases {
            block.warps[access.warp as usize].tick();
        }
    }
}

/// What a read meets, of what was released.
struct Met<'a> {
    in_block: Option<&'a Carried>,
    in_grid: Option<&'a Others>,
    in_system: Option<&'a Others>,
}

impl Met<'_> {
    /// Lanes that have carried this with them meet it, by a read of this order.
    fn by(&self, carried: &mut Carried, order: Order, place: Place) {
        if order.acquires() {
            if let Some(published) = self.in_block {
                carried.join(published);
            }
            for published in [self.in_grid, self.in_system].into_iter().flatten() {
                carried.now.join_others(published, place);
            }
            return;
        }
        if let Some(published) = self.in_block {
            join_option(&mut carried.pending, Some(&published.now));
            carried.join_pending(published);
        }
        if let Some(published) = self.in_grid {
            carried.pending_others.join(published);
        }
        if let Some(published) = self.in_system {
            carried.pending_system.join(published);
        }
    }
}

/// What a write publishes: in the block, for others of the device, and for other devices.
struct Publishes {
    for_block: Option<Carried>,
    for_grid: Option<Others>,
    for_system: Option<Others>,
}

/// What a write by these lanes publishes.
fn published_by(
    block: &BlockOrder,
    access: &WarpAccess<'_>,
    lanes: u32,
    reaches_others: bool,
) -> Publishes {
    let warp = &block.warps[access.warp as usize];
    let is_wide = reaches_others && access.scope >= Scope::Device;
    let is_system = reaches_others && access.scope == Scope::System;
    if access.order.releases() {
        let brings = warp.brings(lanes);
        if is_wide {
            let others = brings.now.for_others(block.place);
            // Those of the block find it there too.
            return Publishes {
                for_block: None,
                for_system: is_system.then(|| others.clone()),
                for_grid: Some(others),
            };
        }
        return Publishes {
            for_block: Some(brings),
            for_grid: None,
            for_system: None,
        };
    }
    let [for_block, for_grid, for_system] = warp.fenced(lanes);
    let is_all_wide = is_wide && is_same(for_block.as_ref(), for_grid.as_ref());
    let as_others = |known: &Option<Arc<Known>>, reaches: bool| {
        let known = known.as_ref().filter(|_| reaches);
        known.map(|known| known.for_others(block.place))
    };
    let others = [
        as_others(&for_grid, is_wide),
        as_others(&for_system, is_system),
    ];
    let carried = for_block.filter(|_| !is_all_wide).map(|now| Carried {
        fenced: [Some(now.clone()), for_grid, for_system],
        ..Carried::new(now)
    });
    let [for_grid, for_system] = others;
    Publishes {
        for_block: carried,
        for_grid,
        for_system,
    }
}

/// Replaces what was published there by what a write publishes. Atomics, and the lanes that
/// published it, add to it.
fn publish<T>(
    map: &mut Addresses<T>,
    address: u64,
    new: Published<Option<T>>,
    updates: bool,
    join: impl Fn(&mut T, &T),
) {
    let (block, warp, lanes) = new.by;
    let stays = |old: &Published<T>| {
        updates || (old.by.0, old.by.1) == (block, warp) && lanes & !old.by.2 == 0
    };
    match (map.get_mut(&address), new.what) {
        (Some(old), what) if stays(old) => {
            if let Some(what) = what {
                join(&mut old.what, &what);
                old.by = new.by;
            }
        }
        (_, Some(what)) => {
            map.insert(address, Published { what, by: new.by });
        }
        (Some(_), None) => {
            map.remove(&address);
        }
        (None, None) => {}
    }
}

/// Whether an access takes part in synchronisation.
pub(crate) fn synchronises(access: &WarpAccess<'_>) -> bool {
    access.order != Order::Weak
}

/// Which of `by.lanes` do not surely come before, up to their clock, given what lanes here
/// know.
#[inline]
pub(crate) fn missing(known: &Arc<Known>, here: Place, block: u64, by: Part) -> u32 {
    if block == here.block {
        return known.own.missing(by);
    }
    let of_block = known.others.get(here.depth, block);
    of_block.map_or(by.lanes, |of_block| of_block.missing(by))
}

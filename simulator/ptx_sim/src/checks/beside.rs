//! Checks of asynchronous units: on shared memory ([`proxies`]) and on registers ([`fragments`]).
//!
//! [`proxies`]: super::proxies
//! [`fragments`]: super::fragments

use super::access::{AccessClass, Lanes, WarpAccess};
use super::convergence::thread_at;
use super::exact::{Kind, is_copy, site_of};
use super::finding::{Finding, Side, Spot};
use super::fragments::Fragments;
use super::observer::ProductSeen;
use super::order::{BlockOrder, Part, missing};
use super::products::Products;
use super::proxies::{OperationId, Proxies, UNIT, spot};
use super::races::{self, lanes};
use crate::diagnostics::AccessKind;
use ptx::ir::Space;

/// The state of one block.
#[derive(Default)]
pub(crate) struct Beside {
    pub proxies: Proxies,
    products: Products,
    /// By warp.
    fragments: Vec<Fragments>,
    /// Addresses of barriers in memory that a thread has initialised, with no fence and no
    /// block barrier since.
    unpublished: Vec<(u64, Side)>,
}

impl Beside {
    /// Resets it, for a block of this many warps with this much shared memory.
    pub fn reset(&mut self, n_warps: u32, shared_bytes: u32) {
        self.proxies.reset(shared_bytes);
        self.products.reset(n_warps, shared_bytes.div_ceil(UNIT));
        self.fragments
            .resize_with(n_warps as usize, Fragments::default);
        self.fragments.iter_mut().for_each(Fragments::reset);
        self.unpublished.clear();
    }

    /// Threads initialise barriers in memory.
    pub fn initialised(&mut self, instruction: u32, of: Lanes, addresses: &[u64; 32]) {
        for lane in lanes(of.mask) {
            let side = Side {
                kind: AccessKind::Store,
                ..thread_at(instruction, of, lane as u32)
            };
            self.unpublished.push((addresses[lane], side));
        }
    }

    /// Threads execute a fence, or reach a block barrier: what they initialised counts as
    /// published. (A barrier alone does not publish it, but many kernels have nothing
    /// else.)
    pub fn published(&mut self, of: Lanes) {
        self.unpublished
            .retain(|(_, side)| side.warp != of.warp || of.mask >> side.lane & 1 == 0);
    }

    /// A thread starts a bulk copy that a barrier counts.
    pub fn counted_by(&self, instruction: u32, thread: Lanes, barrier: u32) -> Option<Finding> {
        let this = thread_at(instruction, thread, thread.mask.trailing_zeros());
        let mut own = self.unpublished.iter().rev();
        let &(_, init) = own.find(|(address, side)| {
            *address == u64::from(barrier) && (side.warp, side.lane) == (this.warp, this.lane)
        })?;
        Some(Finding::UnpublishedBarrier { this, init })
    }

    /// A warp's registers.
    pub fn fragments(&mut self, of: Lanes) -> &mut Fragments {
        &mut self.fragments[of.warp as usize]
    }

    /// Threads access shared memory.
    pub fn access(
        &mut self,
        order: &BlockOrder,
        instruction: u32,
        access: &WarpAccess<'_>,
    ) -> Option<Finding> {
        let kind = Kind::of(access);
        let lane = access.mask.trailing_zeros();
        let side = races::side(&site_of(instruction, access, kind.flags, 0), lane);
        let mut found = self.proxies.conflict(side, kind.writes, access);
        if kind.writes {
            found = found.or(self.overwrites(order, side, access));
        }
        // A copy's target counts as written once the copy has been waited for.
        if kind.writes && !is_copy(access) {
            self.proxies.stored(order, side, access);
        }
        found
    }

    /// Threads write to shared memory: whether what products read there comes before.
    fn overwrites(
        &mut self,
        order: &BlockOrder,
        side: Side,
        access: &WarpAccess<'_>,
    ) -> Option<Finding> {
        let mut found = None;
        for lane in lanes(access.mask) {
            let start = access.addresses[lane];
            let end = start + u64::from(access.bytes);
            let units = start as u32 / UNIT..(end as u32).div_ceil(UNIT);
            let comes_after = |part| comes_after(order, access.owner, (access.warp, lane), part);
            if let Some((_, product)) = self.products.written(units, comes_after) {
                found = found.or(Some(Finding::Race {
                    at: Spot::of(access, lane),
                    this: Side {
                        lane: lane as u32,
                        ..side
                    },
                    other: product,
                }));
            }
        }
        found
    }

    /// The bytes of an asynchronous copy by threads have arrived.
    pub fn arrived(&mut self, order: &BlockOrder, instruction: u32, store: &WarpAccess<'_>) {
        let flags = races::flags(store.class);
        let side = races::side(&site_of(instruction, store, flags, 0), 0);
        self.proxies.stored(order, side, store);
    }

    /// A warp issues a product, which reads shared memory from now on.
    pub fn issued(
        &mut self,
        order: &BlockOrder,
        (instruction, of): (u32, Lanes),
        product: &ProductSeen<'_>,
    ) -> Option<Finding> {
        let side = Side {
            kind: AccessKind::Product,
            ..thread_at(instruction, of, 0)
        };
        let found = self.fragments(of).issued(side, product);
        let number = self.fragments(of).n_issued();
        let units: Vec<u32> = product.addresses.iter().map(|at| at / UNIT).collect();
        match self.begins(order, of.block, side, false, &units) {
            Ok(operation) => {
                self.products.issued(side, number, &units, operation);
                found
            }
            Err(finding) => found.or(Some(finding)),
        }
    }

    /// An operation of the async proxy, started by a thread of a block of this order, begins
    /// to read or write these units ([`UNIT`]) of the shared memory of this block, `owner`.
    /// An error is what is wrong with that.
    pub fn begins(
        &mut self,
        order: &BlockOrder,
        owner: u64,
        side: Side,
        writes: bool,
        units: &[u32],
    ) -> Result<OperationId, Finding> {
        let begun = self.proxies.begins(side, writes, units);
        let operation = begun.map_err(|finding| finding.in_memory_of(owner))?;
        if !writes {
            return Ok(operation);
        }
        let comes_after = |part| comes_after(order, owner, (side.warp, side.lane as usize), part);
        match self.products.written(units.iter().copied(), comes_after) {
            None => Ok(operation),
            Some((unit, product)) => Err(Finding::Race {
                at: spot(unit, owner),
                this: side,
                other: product,
            }),
        }
    }

    /// A warp has waited for its products.
    pub fn awaited(&mut self, order: &BlockOrder, of: Lanes, n_left: u32) {
        if let Some(number) = self.fragments(of).awaited(n_left) {
            let clock = order.warps[of.warp as usize].clock;
            for operation in self.products.awaited(of, number, clock) {
                self.proxies.completes(operation);
            }
        }
    }
}

/// Whether a lane of a warp of a block of this order comes after what some of these lanes of
/// block `owner`, mostly the same, did up to a clock.
fn comes_after(order: &BlockOrder, owner: u64, (warp, lane): (u32, usize), part: Part) -> bool {
    let mut groups = order.warps[warp as usize].groups();
    part.warp == warp && owner == order.place.block
        || groups
            .find(|(lanes, _)| lanes >> lane & 1 != 0)
            .is_some_and(|(_, known)| missing(known, order.place, owner, part) != part.lanes)
}

/// Calls `f` with the accesses of a warp that reads 16 bytes at each of these addresses.
pub(crate) fn reads(of: Lanes, from: &[u32], mut f: impl FnMut(&WarpAccess<'_>)) {
    for part in from.chunks(32) {
        let mut addresses = [0; 32];
        for (to, from) in addresses.iter_mut().zip(part) {
            *to = u64::from(*from);
        }
        let lanes = Lanes {
            mask: u32::MAX >> (32 - part.len()),
            ..of
        };
        let class = AccessClass::Product;
        f(&WarpAccess::new(
            lanes,
            class,
            Space::Shared,
            UNIT,
            &addresses,
        ));
    }
}

//! What works beside a block's threads, as it is checked: on shared memory ([`proxies`])
//! and on registers ([`fragments`]).
//!
//! [`proxies`]: super::proxies
//! [`fragments`]: super::fragments

use super::access::{AccessClass, Lanes, WarpAccess};
use super::exact::{Kind, is_copy, site_of};
use super::finding::{Finding, Side};
use super::fragments::Fragments;
use super::observer::ProductSeen;
use super::order::BlockOrder;
use super::proxies::{Proxies, UNIT};
use super::races;
use super::together::thread_at;
use crate::diagnostics::AccessKind;
use crate::ir::Space;

/// Of one block.
#[derive(Default)]
pub(crate) struct Beside {
    pub proxies: Proxies,
    /// By warp.
    fragments: Vec<Fragments>,
}

impl Beside {
    /// As new, for a block of so many warps with so much shared memory.
    pub fn reset(&mut self, n_warps: u32, shared_bytes: u32) {
        self.proxies.reset(shared_bytes);
        self.fragments
            .resize_with(n_warps as usize, Fragments::default);
        self.fragments.iter_mut().for_each(Fragments::reset);
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
        let found = self.proxies.conflict(side, kind.writes, access);
        // A copy's target is written when it has been waited for.
        if kind.writes && !is_copy(access) {
            self.proxies.stored(order, side, access);
        }
        found
    }

    /// The bytes of an asynchronous copy by threads are there.
    pub fn arrived(&mut self, order: &BlockOrder, instruction: u32, store: &WarpAccess<'_>) {
        let flags = races::flags(store.class);
        let side = races::side(&site_of(instruction, store, flags, 0), 0);
        self.proxies.stored(order, side, store);
    }

    /// A warp issues a product, which reads shared memory from now on; `judge` is asked
    /// about that.
    pub fn issued(
        &mut self,
        instruction: u32,
        of: Lanes,
        product: &ProductSeen<'_>,
        mut judge: impl FnMut(u32, &WarpAccess<'_>) -> Option<Finding>,
    ) -> Option<Finding> {
        let side = Side {
            kind: AccessKind::Product,
            ..thread_at(instruction, of, 0)
        };
        let mut found = self.fragments(of).issued(side, product);
        let units: Vec<u32> = product.addresses.iter().map(|at| at / UNIT).collect();
        reads(of, &units, |access| {
            let race = judge(instruction, access);
            found = found.or(race);
        });
        match self.proxies.begins(side, false, units) {
            Ok(operation) => self.fragments(of).reads(operation, side),
            Err(finding) => found = found.or(Some(finding)),
        }
        found
    }

    /// A warp has waited for its products: their reads are over.
    pub fn awaited(
        &mut self,
        of: Lanes,
        n_left: u32,
        mut judge: impl FnMut(u32, &WarpAccess<'_>) -> Option<Finding>,
    ) -> Option<Finding> {
        let mut found = None;
        for (operation, side) in self.fragments(of).awaited(n_left) {
            let units = self.proxies.completes(operation);
            reads(of, &units, |access| {
                let race = judge(side.instruction, access);
                found = found.or(race);
            });
        }
        found
    }
}

/// Calls `f` with the accesses of a warp that reads these units.
fn reads(of: Lanes, units: &[u32], mut f: impl FnMut(&WarpAccess<'_>)) {
    for part in units.chunks(32) {
        let mut addresses = [0; 32];
        for (to, unit) in addresses.iter_mut().zip(part) {
            *to = u64::from(unit * UNIT);
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

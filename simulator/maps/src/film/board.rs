//! The board: warps that wait, copies and products in flight, phases of barriers in memory.

use std::collections::{BTreeMap, BTreeSet};

use ptx_sim::AccessClass;
use ptx_sim::ir::Space;
use ptx_sim::trace::{TraceEvent, TraceKind};
use serde::Serialize;

/// What is under way after an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Board {
    /// By barrier of the block, the warps that have come since it last released any, and whether
    /// they wait.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub barriers: BTreeMap<u32, BTreeMap<u32, bool>>,
    /// Warps that wait at the cluster's barrier.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub cluster: BTreeSet<u32>,
    /// Bulk copies in flight, with their bytes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bulk: BTreeMap<u64, u64>,
    /// By warp, what it has in flight.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub warps: BTreeMap<u32, InFlight>,
    /// By the address of a barrier in memory, how many of its phases are over.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<u32, u32>,
}

/// What a warp has in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct InFlight {
    /// Asynchronous copies, in instructions, that are in no group yet.
    pub copies: u32,
    /// Groups of such copies.
    pub copy_groups: u32,
    /// Products that are in no group yet.
    pub products: u32,
    /// Groups of products.
    pub product_groups: u32,
}

impl Board {
    /// Follows an event.
    pub(super) fn follow(&mut self, event: &TraceEvent) {
        let warp = event.warp;
        match &event.kind {
            TraceKind::Arrived { barrier, waits } => {
                let arrived = self.barriers.entry(*barrier).or_default();
                arrived.insert(warp, *waits);
            }
            TraceKind::Released { barrier } => drop(self.barriers.remove(barrier)),
            TraceKind::ClusterArrived => drop(self.cluster.insert(warp)),
            TraceKind::ClusterLeft => drop(self.cluster.remove(&warp)),
            TraceKind::BulkStarted { copy, bytes, .. } => drop(self.bulk.insert(*copy, *bytes)),
            TraceKind::BulkArrived { copy } | TraceKind::BulkDone { copy } => {
                self.bulk.remove(copy);
            }
            TraceKind::PhaseOver { barrier } => *self.phases.entry(*barrier).or_default() += 1,
            _ => self.follow_warp(event),
        }
    }

    fn follow_warp(&mut self, event: &TraceEvent) {
        let mut warp = self.warps.remove(&event.warp).unwrap_or_default();
        match &event.kind {
            // Its load from global memory is an access of its own.
            TraceKind::Access(access)
                if access.space == Space::Shared
                    && matches!(
                        access.class,
                        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass
                    ) =>
            {
                warp.copies += event.times;
            }
            TraceKind::CopiesCommitted => {
                warp.copies = 0;
                warp.copy_groups += event.times;
            }
            TraceKind::CopiesAwaited { n_left: None } => {
                (warp.copies, warp.copy_groups) = (0, 0);
            }
            TraceKind::CopiesAwaited { n_left: Some(n) } => {
                warp.copy_groups = warp.copy_groups.min(*n);
            }
            TraceKind::ProductIssued => warp.products += event.times,
            TraceKind::ProductsCommitted => {
                warp.products = 0;
                warp.product_groups += event.times;
            }
            TraceKind::ProductsAwaited { n_left } => {
                warp.product_groups = warp.product_groups.min(*n_left);
            }
            _ => {}
        }
        if warp != InFlight::default() {
            self.warps.insert(event.warp, warp);
        }
    }
}

//! The words of a frame, without its warp.

use ptx_sim::AccessClass;
use ptx_sim::ir::Space;
use ptx_sim::trace::{TraceEvent, TraceKind};

use super::Board;
use crate::{Access, AccessMap, lanes, lanes_in_words};

/// What an event is.
pub(super) fn of(event: &TraceEvent, opcode: &str, before: &Board, after: &Board) -> String {
    let who = subject(event.lanes);
    let (s, es, have) = match event.lanes.count_ones() {
        1 => ("s", "es", "has"),
        _ => ("", "", "have"),
    };
    match &event.kind {
        TraceKind::Access(access) if opcode.starts_with("mbarrier.") => {
            let at = access.addresses[access.mask.trailing_zeros() as usize % 32];
            let (does, then) = match opcode.trim_start_matches("mbarrier.") {
                rest if rest.starts_with("init") => (format!("initialise{s}"), ""),
                rest if rest.starts_with("arrive.expect_tx") => {
                    (format!("arrive{s} at"), " and announces bytes")
                }
                rest if rest.starts_with("arrive") => (format!("arrive{s} at"), ""),
                rest if rest.contains("wait") => (format!("test{s}"), ""),
                _ => (format!("work{s} on"), ""),
            };
            format!("{who} {does} the mbarrier at byte {at}{then}")
        }
        TraceKind::Access(access) => of_access(access),
        TraceKind::Arrived { barrier, waits } => match waits {
            true => format!("{who} wait{s} at barrier {barrier}"),
            false => format!("{who} arrive{s} at barrier {barrier}, without waiting"),
        },
        TraceKind::Released { barrier } => {
            let warps = before.barriers.get(barrier).into_iter().flatten();
            let waiting = warps.filter(|(_, waits)| **waits);
            let waiting: Vec<u8> = waiting.map(|(warp, _)| *warp as u8).collect();
            let go_on = match waiting.as_slice() {
                [one] => format!("warp {one} goes on"),
                many => format!("warps {} go on", lanes_in_words(many)),
            };
            format!("Barrier {barrier} is complete: {go_on}")
        }
        TraceKind::ClusterArrived => format!("{who} arrive{s} at the cluster's barrier"),
        TraceKind::ClusterLeft => format!("{who} go{es} on after the cluster's barrier"),
        TraceKind::PhaseOver { barrier } => {
            let n = after.phases.get(barrier).copied().unwrap_or(1) - 1;
            format!("Phase {n} of the mbarrier at byte {barrier} is over")
        }
        TraceKind::CopiesCommitted => format!("{who} commit{s} asynchronous copies as a group"),
        TraceKind::CopiesAwaited { n_left } => {
            let groups = left(n_left.unwrap_or(0));
            format!("{who} {have} waited for {groups} asynchronous copies")
        }
        TraceKind::ProductIssued => format!("{who} issue{s} a product (wgmma)"),
        TraceKind::ProductsCommitted => format!("{who} commit{s} products as a group"),
        TraceKind::ProductsAwaited { n_left } => {
            format!("{who} {have} waited for {} products", left(*n_left))
        }
        kind => of_bulk_copy(&who, kind),
    }
}

fn of_bulk_copy(who: &str, kind: &TraceKind) -> String {
    match kind {
        TraceKind::BulkStarted {
            copy,
            bytes,
            to_shared,
            barrier,
            ..
        } => {
            let to = if *to_shared { "shared" } else { "global" };
            let counted = barrier.map(|at| format!(", counted by the mbarrier at byte {at}"));
            format!(
                "{who} starts bulk copy {copy}, {bytes} bytes to {to} memory{}",
                counted.unwrap_or_default()
            )
        }
        TraceKind::BulkArrived { copy } => format!("Bulk copy {copy} is in shared memory"),
        TraceKind::BulkDone { copy } => format!("{who} has waited for bulk copy {copy}"),
        _ => format!("{who} goes on"),
    }
}

/// `lanes 0–15 load 4 bytes each from shared memory: 1 wavefront, no bank conflicts`.
fn of_access(access: &Access) -> String {
    let who = subject(access.mask);
    let n_lanes = access.mask.count_ones();
    let s = if n_lanes == 1 { "s" } else { "" };
    let each = if n_lanes == 1 { "" } else { " each" };
    let bytes = match access.bytes {
        1 => format!("1 byte{each}"),
        n => format!("{n} bytes{each}"),
    };
    let memory = match access.space {
        Space::Shared if access.is_of_other_block => "another block's shared memory",
        Space::Shared => "shared memory",
        Space::Local => "local memory",
        Space::Const => "constant memory",
        Space::Param => "parameters",
        _ => "global memory",
    };
    let n_matrices = n_lanes.div_ceil(8);
    let is_shared = access.space == Space::Shared;
    let what = match access.class {
        AccessClass::Load => format!("load{s} {bytes} from {memory}"),
        AccessClass::Store => format!("store{s} {bytes} to {memory}"),
        AccessClass::LoadMatrix => {
            format!("load {n_matrices} matrices from {memory}, a row per lane")
        }
        AccessClass::StoreMatrix => {
            format!("store {n_matrices} matrices to {memory}, a row per lane")
        }
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass if is_shared => {
            format!("will have {bytes} copied to {memory}")
        }
        AccessClass::AsyncCopy | AccessClass::AsyncCopyBypass => {
            format!("start{s} to copy {bytes} from {memory}")
        }
        AccessClass::CompareAndSwap => format!("compare{s} and swap{s} {bytes} in {memory}"),
        class if class.is_atomic() => format!("update{s} {bytes} in {memory}, atomically"),
        _ => format!(
            "access{} {bytes} in {memory}",
            if n_lanes == 1 { "es" } else { "" }
        ),
    };
    format!("{who} {what}: {}", AccessMap::of(access).cost())
}

/// `lane 3`, `lanes 0–31`.
fn subject(mask: u32) -> String {
    let lanes: Vec<u8> = lanes(mask).map(|lane| lane as u8).collect();
    match lanes.as_slice() {
        [one] => format!("lane {one}"),
        many => format!("lanes {}", lanes_in_words(many)),
    }
}

/// All but the youngest `n` groups.
fn left(n: u32) -> String {
    match n {
        0 => "all".to_owned(),
        1 => "all but the youngest group of".to_owned(),
        n => format!("all but the {n} youngest groups of"),
    }
}

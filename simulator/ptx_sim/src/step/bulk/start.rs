//! Copies of contiguous bytes, and what is checked before any copy starts.

use std::ops::Range;

use super::super::access::{
    Addresses, InCluster, Request, by_block, lane_addresses, locate, read64,
};
use super::super::context::Step;
use super::moving;
use crate::bulk::{CopyId, Incoming, Source, Span};
use crate::checks::access::{BulkStart, BulkTouch};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind};
use crate::lanes::WARP_SIZE;
use crate::memory::address::{Owner, map_rank, owner_of};
use crate::memory::allocation::Purpose;
use crate::program::{
    AddressOperand, BarrierWord, BulkCopy, BulkReduction, Direction, Signal, Slot,
};
use crate::stop::Stop;
use ptx::ir::Space;

/// Starts a lane's copy.
pub(super) fn start<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &BulkCopy,
    lane: usize,
) -> Result<(), Stop> {
    let bytes = word_of(step, op.bytes, lane);
    if !bytes.is_multiple_of(16) {
        let message = format!("it copies {bytes} bytes, but can only copy a multiple of 16");
        return Err(bad(lane, message));
    }
    let to = address_of(step, op.to, lane);
    let from = address_of(step, op.from, lane);
    match (op.direction, &op.signal) {
        (Direction::GlobalToShared, Some(signal)) => {
            require_aligned(lane, "the source", Space::Global, from, 16)?;
            for_each_target(step, lane, (to, signal, bytes, 16), |step, to, barrier| {
                // Shared memory first: it bounds the size.
                require_there(step, lane, (Space::Global, AccessKind::Load), from, bytes)?;
                let reads = BulkTouch::one(Space::Global, from, bytes);
                let span = Span::Range {
                    address: from,
                    bytes,
                };
                come(
                    step,
                    lane,
                    (to, bytes, barrier),
                    (Source::Global(span), reads),
                    None,
                );
                Ok(())
            })
        }
        (Direction::SharedToShared, Some(signal)) => {
            require_source(step, lane, from, bytes)?;
            let data = moving::read_shared(step.env.shared, from as u32, bytes);
            for_each_target(step, lane, (to, signal, bytes, 16), |step, to, barrier| {
                let reads = BulkTouch::one(Space::Shared, from, bytes);
                let source = (Source::Bytes(data.clone()), reads);
                come(step, lane, (to, bytes, barrier), source, op.reduction);
                Ok(())
            })
        }
        _ => {
            require_source(step, lane, from, bytes)?;
            require_aligned(lane, "the target", Space::Global, to, 16)?;
            require_there(step, lane, (Space::Global, AccessKind::Store), to, bytes)?;
            let reads = BulkTouch::one(Space::Shared, from, bytes);
            let writes = BulkTouch::one(Space::Global, to, bytes);
            let span = Span::Range { address: to, bytes };
            go(step, lane, (from, span, op.reduction), (reads, writes));
            Ok(())
        }
    }
}

/// The source in the block's own shared memory, which has to exist.
fn require_source<O: Observer>(
    step: &Step<'_, '_, O>,
    lane: usize,
    from: u64,
    bytes: u32,
) -> Result<(), Stop> {
    require_aligned(lane, "the source", Space::Shared, from, 16)?;
    require_there(step, lane, (Space::Shared, AccessKind::Load), from, bytes)
}

/// Calls `f` for every block of the cluster to which a copy of this many bytes goes, with the
/// addresses of target and barrier in it, which have to exist, while `Env::shared` is that
/// block's.
pub(super) fn for_each_target<'e, O: Observer>(
    step: &mut Step<'_, 'e, O>,
    lane: usize,
    (to, signal, bytes, align): (u64, &Signal, u32, u64),
    mut f: impl FnMut(&mut Step<'_, 'e, O>, u64, u32) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let barrier = address_of(step, signal.barrier, lane);
    let ((to_owner, to_there), (barrier_owner, barrier_there)) = (owner_of(to), owner_of(barrier));
    let mut in_block = |step: &mut Step<'_, 'e, O>| {
        require_aligned(lane, "the target", Space::Shared, to_there, align)?;
        require_there(
            step,
            lane,
            (Space::Shared, AccessKind::Store),
            to_there,
            bytes,
        )?;
        let barrier = require_barrier(step, lane, barrier_there)?;
        f(step, to_there, barrier)
    };
    let ranks = match signal.multicast {
        // SAFETY: The decoder made the slot for 16-bit lanes.
        Some(slot) => Some(unsafe { step.view.regs.lanes::<u16>(slot)[lane] }),
        None => None,
    };
    if ranks.is_none() && (to_owner, barrier_owner) == (Owner::Own, Owner::Own) {
        return in_block(step);
    }
    let rank_of = |owner| match owner {
        Owner::Own => Owner::Rank(step.env.rank),
        other => other,
    };
    if ranks.is_none() && rank_of(to_owner) != rank_of(barrier_owner) {
        let message = "the target and the mbarrier that is to count its bytes lie in the shared \
                       memory of different blocks: both must be in one";
        return Err(bad(lane, message.to_owned()));
    }
    let targets: Vec<u64> = match ranks {
        None => vec![to],
        Some(ranks) => (0..16)
            .filter(|rank| ranks >> rank & 1 != 0)
            .map(|rank| u64::from(map_rank(to_there as u32, rank)))
            .collect(),
    };
    for target in targets {
        let mut addresses = [0; WARP_SIZE];
        addresses[lane] = target;
        let access = InCluster {
            addresses: &Addresses::of(addresses),
            mask: 1 << lane,
            kind: AccessKind::AsyncCopy,
            bytes,
        };
        by_block(step, access, |step, _, _| in_block(step))?;
    }
    Ok(())
}

/// Starts a copy to shared memory.
pub(super) fn come<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    (to, bytes, barrier): (u64, u32, u32),
    (source, reads): (Source, BulkTouch),
    reduction: Option<BulkReduction>,
) {
    let id = step.env.bulk.number(step.env.owner);
    let writes = BulkTouch::one(Space::Shared, to, bytes);
    observe(step, lane, (id, reads, writes), (Some(barrier), reduction));
    step.env.bulk.come(Incoming {
        id,
        source,
        to: to as u32,
        bytes,
        barrier,
        reduction,
    });
}

/// Starts a copy to global memory.
pub(super) fn go<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    (from, target, reduction): (u64, Span, Option<BulkReduction>),
    (reads, writes): (BulkTouch, BulkTouch),
) {
    let id = step.env.bulk.number(step.env.owner);
    let thread = (step.warp.index, lane as u32);
    observe(step, lane, (id, reads, writes), (None, reduction));
    step.env
        .bulk
        .go((id, thread), from as u32, target, reduction);
}

/// Notifies observers of a copy that starts.
fn observe<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    (id, reads, writes): (CopyId, BulkTouch, BulkTouch),
    (barrier, reduction): (Option<u32>, Option<BulkReduction>),
) {
    if O::ON {
        let by = step.lanes(1 << lane);
        let start = BulkStart {
            id,
            reads,
            writes,
            barrier,
            reduces: reduction.map(|reduction| reduction.bytes),
            owner: step.env.owner,
        };
        step.env.observer.bulk_started(step.number, by, start);
    }
}

/// The barrier that counts a copy's bytes, which has to be one.
fn require_barrier<O: Observer>(
    step: &Step<'_, '_, O>,
    lane: usize,
    address: u64,
) -> Result<u32, Stop> {
    let mut addresses = [0; WARP_SIZE];
    addresses[lane] = address;
    let request = Request {
        space: Space::Shared,
        bytes: 8,
        mask: 1 << lane,
        kind: AccessKind::Atomic,
        addresses: &addresses,
        stride: None,
    };
    let host = locate(step, request)?.host(&addresses, lane);
    // SAFETY: `locate` found eight aligned bytes.
    let word = unsafe { read64(host) };
    if !BarrierWord::may_be(word) {
        let message = "the mbarrier that is to count the copy's bytes has not been initialised";
        let message = message.to_owned();
        return Err(Stop::fault(1 << lane, FaultKind::BadBarrier { message }));
    }
    Ok(address as u32)
}

/// A fault of a copy.
#[cold]
pub(super) fn bad(lane: usize, message: String) -> Stop {
    Stop::fault(1 << lane, FaultKind::BadBulkCopy { message })
}

/// A lane's address.
pub(super) fn address_of<O: Observer>(
    step: &Step<'_, '_, O>,
    operand: AddressOperand,
    lane: usize,
) -> u64 {
    lane_addresses(&step.view, &operand, 1 << lane).lanes[lane]
}

/// A lane's 32-bit operand.
pub(super) fn word_of<O: Observer>(step: &Step<'_, '_, O>, slot: Slot, lane: usize) -> u32 {
    // SAFETY: The decoder made the slot for 32-bit lanes.
    unsafe { step.view.regs.lanes::<u32>(slot)[lane] }
}

pub(super) fn require_aligned(
    lane: usize,
    what: &str,
    space: Space,
    address: u64,
    multiple_of: u64,
) -> Result<(), Stop> {
    if address.is_multiple_of(multiple_of) {
        return Ok(());
    }
    let name = if space == Space::Shared {
        "shared"
    } else {
        "global"
    };
    Err(bad(
        lane,
        format!(
            "{what} starts at {name} address {address:#x}, which is {} past a multiple of \
             {multiple_of}: it must be a multiple of {multiple_of}",
            address % multiple_of
        ),
    ))
}

/// Makes sure that a copy's bytes lie in existing memory.
pub(super) fn require_there<O: Observer>(
    step: &Step<'_, '_, O>,
    lane: usize,
    (space, kind): (Space, AccessKind),
    address: u64,
    bytes: u32,
) -> Result<(), Stop> {
    let n_bytes = u64::from(bytes);
    let is_there = if space == Space::Shared {
        let past = address.checked_add(n_bytes);
        past.is_some_and(|past| past <= u64::from(step.env.shared.size_bytes()))
    } else {
        let found = step.launch.memory.find(address);
        found.is_some_and(|allocation| {
            allocation.host().is_some()
                && allocation.is_open(address, n_bytes)
                && (kind == AccessKind::Load || allocation.purpose != Purpose::Constant)
        })
    };
    if is_there {
        return Ok(());
    }
    // Piece by piece, to find the one that is not.
    let piece = 1 << (address | n_bytes).trailing_zeros().min(4);
    let mut addresses = [0; WARP_SIZE];
    for offset in (0..bytes).step_by(piece as usize) {
        addresses[lane] = address.wrapping_add(u64::from(offset));
        let request = Request {
            space,
            bytes: piece,
            mask: 1 << lane,
            kind,
            addresses: &addresses,
            stride: None,
        };
        locate(step, request)?;
    }
    Ok(())
}

impl BulkTouch {
    /// Contiguous bytes.
    pub fn one(space: Space, address: u64, bytes: u32) -> Self {
        let range: Range<u64> = address..address + u64::from(bytes);
        Self {
            space,
            ranges: vec![range],
        }
    }
}

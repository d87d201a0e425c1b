//! Copies of bytes that follow each other, and what is checked before any copy starts.

use std::ops::Range;

use super::super::access::{Request, lane_addresses, locate, read64};
use super::super::context::Step;
use super::moving;
use crate::bulk::{Incoming, Source, Span};
use crate::checks::access::{BulkStart, BulkTouch};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind};
use crate::ir::Space;
use crate::lanes::WARP_SIZE;
use crate::memory::allocation::Purpose;
use crate::program::{AddressOperand, BarrierWord, BulkCopy, Direction, Signal, Slot};
use crate::stop::Stop;

/// Starts a lane's copy.
pub(super) fn start<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &BulkCopy,
    lane: usize,
) -> Result<(), Stop> {
    let to = address_of(step, op.to, lane);
    let from = address_of(step, op.from, lane);
    let bytes = word_of(step, op.bytes, lane);
    if !bytes.is_multiple_of(16) {
        let message = format!("it copies {bytes} bytes, but can only copy a multiple of 16");
        return Err(bad(lane, message));
    }
    let is_to_global = op.direction == Direction::SharedToGlobal;
    let spaces = match op.direction {
        Direction::GlobalToShared => (Space::Shared, Space::Global),
        Direction::SharedToGlobal => (Space::Global, Space::Shared),
        Direction::SharedToShared => (Space::Shared, Space::Shared),
    };
    let places = [
        (spaces.0, to, "the target", AccessKind::Store),
        (spaces.1, from, "the source", AccessKind::Load),
    ];
    for (space, address, what, _) in places {
        require_aligned(lane, what, space, address, 16)?;
    }
    // Shared memory first: it bounds the size.
    let shared_first = if is_to_global { [1, 0] } else { [0, 1] };
    for (space, address, _, kind) in shared_first.map(|i| places[i]) {
        require_there(step, lane, (space, kind), address, bytes)?;
    }
    let target = BulkTouch::one(spaces.0, to, bytes);
    let source = BulkTouch::one(spaces.1, from, bytes);
    let id = step.env.bulk.number();
    let Some(signal) = op.signal else {
        let span = Span::Range { address: to, bytes };
        let thread = (step.warp.index, lane as u32);
        observe(step, lane, (id, target, source), op.reduction.is_some());
        step.env
            .bulk
            .go((id, thread), from as u32, span, op.reduction);
        return Ok(());
    };
    let barrier = barrier_of(step, &signal, lane)?;
    observe(step, lane, (id, target, source), op.reduction.is_some());
    let source = match op.direction {
        Direction::SharedToShared => {
            Source::Bytes(moving::read_shared(step.env.shared, from as u32, bytes))
        }
        _ => Source::Global(Span::Range {
            address: from,
            bytes,
        }),
    };
    step.env.bulk.come(Incoming {
        id,
        source,
        to: to as u32,
        bytes,
        barrier,
        reduction: op.reduction,
    });
    Ok(())
}

/// Tells observers of a copy that starts.
pub(super) fn observe<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    (id, writes, reads): (u64, BulkTouch, BulkTouch),
    is_reduction: bool,
) {
    if O::ON {
        let by = step.lanes(1 << lane);
        let start = BulkStart {
            id,
            reads,
            writes,
            is_reduction,
        };
        step.env.observer.bulk_started(step.number, by, start);
    }
}

/// The barrier that counts a copy's bytes, which has to be one.
pub(super) fn barrier_of<O: Observer>(
    step: &Step<'_, '_, O>,
    signal: &Signal,
    lane: usize,
) -> Result<u32, Stop> {
    let address = address_of(step, signal.barrier, lane);
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
    let word = BarrierWord::unpack(unsafe { read64(host) });
    if word.of_phase == 0 {
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

/// Makes sure that a copy's bytes lie in memory that is there.
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
                && allocation.contains(address, n_bytes)
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
    /// Bytes that follow each other.
    pub fn one(space: Space, address: u64, bytes: u32) -> Self {
        let range: Range<u64> = address..address + u64::from(bytes);
        Self {
            space,
            ranges: vec![range],
        }
    }
}

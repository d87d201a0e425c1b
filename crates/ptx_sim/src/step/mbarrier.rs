//! `mbarrier`: barriers that are words of shared memory.
//!
//! The word counts arrivals that are still to come in the current phase, and bytes
//! that are (`tx`); when both reach zero, the phase is over and the next one begins.
//! Nobody is put to sleep: kernels ask by `test_wait` and `try_wait` in a loop.
//!
//! `cp.async.mbarrier.arrive` arrives when a thread's copies are done. Here they are
//! done at once, which the hardware may also do.
//!
//! Left out: arrival by bulk copies.

use super::access::{
    Addresses, InCluster, Request, by_block, lane_addresses, locate, read64, write64,
};
use super::context::{PathView, Step};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind};
use crate::ir::Space;
use crate::lanes::lanes;
use crate::program::{BarrierWord, MOST_ARRIVALS, Mbarrier, MbarrierKind};
use crate::stop::Stop;
use crate::warp::IDLE_POLLS;

/// Carries out an instruction on barriers in memory.
pub(super) fn mbarrier<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Mbarrier,
    mask: u32,
) -> Result<(), Stop> {
    let mut addresses = lane_addresses(&step.view, &op.address, mask);
    let mut left = mask;
    while left != 0 {
        let (space, part) = addresses.resolve(op.space, left);
        if op.space == Space::Generic && space == Space::Shared && step.launch.has_ranks {
            let access = InCluster {
                addresses: &addresses,
                mask: part,
                kind: AccessKind::Atomic,
                bytes: 8,
            };
            by_block(step, access, |step, addresses, mask| {
                of_block(step, op, addresses, mask)
            })?;
        } else {
            in_space(step, op, space, &addresses, part)?;
        }
        left &= !part;
    }
    Ok(())
}

/// On barriers of one block of the cluster, maybe another than the own.
#[cold]
fn of_block<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Mbarrier,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let is_remote = step.env.owner != step.env.block;
    let message = if is_remote && !op.kind.may_be_remote() {
        "an mbarrier is initialised, invalidated and waited for by threads of its own block only"
    } else if is_remote && op.d.is_some() {
        "an arrival at an mbarrier of another block gives no state: its destination must be `_`"
    } else {
        return in_space(step, op, Space::Shared, addresses, mask);
    };
    let message = message.to_owned();
    Err(Stop::fault(mask, FaultKind::BadBarrier { message }))
}

fn in_space<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Mbarrier,
    space: Space,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    if space != Space::Shared {
        let reason = "an mbarrier lies in shared memory";
        return Err(Stop::unsupported("mbarrier", reason));
    }
    let is_plain = matches!(op.kind, MbarrierKind::Init | MbarrierKind::Invalidate);
    let (class, kind) = if is_plain {
        (AccessClass::Store, AccessKind::Store)
    } else {
        (AccessClass::Atomic, AccessKind::Atomic)
    };
    let request = Request {
        space,
        bytes: 8,
        mask,
        kind,
        addresses: &addresses.lanes,
        stride: None,
    };
    let located = locate(step, request)?;
    if let MbarrierKind::ArriveAfterCopies { .. } = op.kind {
        step.complete_copies(mask, None);
    }
    if O::ON {
        let access = WarpAccess {
            order: op.order,
            scope: op.scope,
            ..request.observed(step, class)
        };
        match op.is_part {
            true => step.env.observer.part(step.number, &access),
            false => step.env.observer.access(step.number, &access),
        }
    }
    let mut waits = false;
    for lane in lanes(mask) {
        let host = located.host(&addresses.lanes, lane);
        // SAFETY: `locate` found eight aligned bytes.
        let old = unsafe { read64(host) };
        let outcome = next(&step.view, op, lane, BarrierWord::unpack(old));
        let outcome = outcome.map_err(|message| {
            let message = message.to_owned();
            Stop::fault(1 << lane, FaultKind::BadBarrier { message })
        })?;
        waits |= outcome.waits;
        answer(&step.view, op, lane, old, &outcome);
        if outcome.word.pack() != old {
            step.warp.idle_polls = 0;
            // SAFETY: As above.
            unsafe { write64(host, outcome.word.pack()) };
        }
    }
    if waits {
        let may_sleep = matches!(
            op.kind,
            MbarrierKind::Wait {
                may_sleep: true,
                ..
            }
        );
        step.poll(if may_sleep { IDLE_POLLS } else { 1 });
    }
    Ok(())
}

/// What a lane's instruction does to a barrier.
struct Outcome {
    /// The word afterwards.
    word: BarrierWord,
    /// Whether it asked for the end of a phase that is not over.
    waits: bool,
}

/// Carries out one lane's instruction on a word; says what is wrong with it.
fn next(
    view: &PathView<'_>,
    op: &Mbarrier,
    lane: usize,
    mut word: BarrierWord,
) -> Result<Outcome, &'static str> {
    let operand = |bytes| {
        // SAFETY: The decoder made the slot for `bytes` a lane.
        op.operand
            .map_or(1, |slot| unsafe { view.regs.get(slot, bytes, lane) })
    };
    let is_plain = matches!(op.kind, MbarrierKind::Init | MbarrierKind::Invalidate);
    if !is_plain && word.of_phase == 0 {
        return Err("the mbarrier has not been initialised");
    }
    let mut waits = false;
    match op.kind {
        MbarrierKind::Init => {
            let n = operand(4);
            if n == 0 || n > MOST_ARRIVALS {
                return Err("an mbarrier counts from 1 to 1048575 arrivals");
            }
            word = BarrierWord {
                to_come: n,
                of_phase: n,
                tx: 0,
                phase: 0,
            };
        }
        MbarrierKind::Invalidate => word = BarrierWord::unpack(0),
        MbarrierKind::Arrive { drops, expects } => {
            let n = if expects { 1 } else { operand(4) };
            if expects {
                word.tx += operand(4) as i64;
            }
            word = arrive(word, n, drops)?;
        }
        MbarrierKind::ArriveAfterCopies { is_expected: false } => {}
        MbarrierKind::ArriveAfterCopies { is_expected: true } => word = arrive(word, 1, false)?,
        MbarrierKind::Expect { completes } => {
            let n = operand(4) as i64;
            word.tx += if completes { -n } else { n };
            word = word.advance();
        }
        MbarrierKind::Wait { by_parity, .. } => {
            let phase = if by_parity {
                operand(4) & 1
            } else {
                operand(8) >> 63
            };
            waits = word.phase == phase;
        }
    }
    Ok(Outcome { word, waits })
}

/// `n` arrivals, of threads that will arrive in later phases or (`drops`) will not.
fn arrive(mut word: BarrierWord, n: u64, drops: bool) -> Result<BarrierWord, &'static str> {
    if n > word.to_come {
        return Err("more arrivals than the mbarrier expects in one phase");
    }
    word.to_come -= n;
    if drops {
        word.of_phase = word.of_phase.saturating_sub(n);
    }
    Ok(word.advance())
}

/// Gives a lane its result: the state before, or whether the phase is over.
fn answer(view: &PathView<'_>, op: &Mbarrier, lane: usize, old: u64, outcome: &Outcome) {
    let Some(slot) = op.d else { return };
    match op.kind {
        MbarrierKind::Arrive { .. } => {
            // SAFETY: The decoder made the slot for 64-bit lanes.
            unsafe { view.regs.set(slot, 8, lane, old) };
        }
        MbarrierKind::Wait { .. } => {
            let value = if outcome.waits { 0 } else { u32::MAX };
            // SAFETY: The decoder made the slot for a predicate.
            unsafe { view.regs.set_predicate(slot, 1 << lane, value) };
        }
        _ => {}
    }
}

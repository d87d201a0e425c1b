//! `mbarrier`: barriers that are words of shared memory.
//!
//! The word counts the arrivals, and the bytes (`tx`), that are still to come in the
//! current phase; when both reach zero, the phase is over and the next one begins. No
//! thread is put to sleep: kernels poll by `test_wait` and `try_wait` in a loop.
//!
//! `cp.async.mbarrier.arrive` arrives when a thread's copies are done. Here they are
//! done at once, which the hardware may also do.
//!
//! A test also lets bulk copies arrive whose bytes the barrier counts ([`bulk`]).
//!
//! [`bulk`]: super::bulk

use super::access::{
    Addresses, InCluster, Request, by_block, lane_addresses, locate, read64, write64,
};
use super::bulk::{arrive_for, phase_over};
use super::context::{PathView, Step};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind};
use crate::lanes::lanes;
use crate::program::{BarrierWord, MOST_ARRIVALS, MOST_BYTES, Mbarrier, MbarrierKind};
use crate::stop::Stop;
use crate::warp::IDLE_POLLS;
use ptx::ir::Space;

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

/// On barriers of one block of the cluster, perhaps not the thread's own.
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
        "an arrival at an mbarrier of another block returns no state: its destination must be `_`"
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
    if !step.env.bulk.has_none_coming() {
        let_arrive(step, op, addresses, mask)?;
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
    if O::ON && op.kind == MbarrierKind::Init {
        initialised(step, addresses, mask);
    }
    let mut waits = false;
    for lane in lanes(mask) {
        let host = located.host(&addresses.lanes, lane);
        // SAFETY: `locate` found eight aligned bytes.
        let old = unsafe { read64(host) };
        let before = BarrierWord::unpack(old);
        let outcome = next(&step.view, op, lane, before).map_err(|message| {
            let message = message.to_owned();
            Stop::fault(1 << lane, FaultKind::BadBarrier { message })
        })?;
        if outcome.expects != 0 || outcome.ends_phase || is_plain {
            let barrier = addresses.lanes[lane] as u32;
            count(step, op, barrier, &outcome);
        }
        waits |= outcome.waits;
        answer(&step.view, op, lane, old, &outcome);
        if outcome.word.pack() != old {
            step.warp.has_effect();
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

/// Notifies observers of barriers that are initialised.
#[cold]
fn initialised<O: Observer>(step: &mut Step<'_, '_, O>, addresses: &Addresses, mask: u32) {
    let lanes = step.lanes(mask);
    let observer = &mut step.env.observer;
    observer.barrier_initialised(step.number, lanes, &addresses.lanes);
}

/// Lanes that ask for the end of a phase let the copies arrive that it waits for.
#[cold]
fn let_arrive<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &Mbarrier,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    if let MbarrierKind::Wait { by_parity, .. } = op.kind {
        for lane in lanes(mask) {
            let phase = asked_phase(&step.view, op, by_parity, lane);
            arrive_for(step, addresses.lanes[lane] as u32, phase, lane)?;
        }
    }
    Ok(())
}

/// Notifies observers of bytes that a barrier is to expect, of the end of its phase, or of
/// its beginning.
#[cold]
#[inline(never)]
fn count<O: Observer>(step: &mut Step<'_, '_, O>, op: &Mbarrier, barrier: u32, outcome: &Outcome) {
    match op.kind {
        MbarrierKind::Init | MbarrierKind::Invalidate => step.env.bulk.phase_over(barrier),
        _ if outcome.ends_phase => phase_over(step, barrier),
        MbarrierKind::Expect { completes: true } => {
            step.env.bulk.count(barrier, 0, -outcome.expects);
        }
        _ => step.env.bulk.count(barrier, outcome.expects, 0),
    }
}

/// What a lane's instruction does to a barrier.
struct Outcome {
    /// The word afterwards.
    word: BarrierWord,
    /// Whether it asked for the end of a phase that is not over.
    waits: bool,
    /// Bytes that are to come in addition.
    expects: i64,
    /// Whether the phase is over now.
    ends_phase: bool,
}

/// The phase whose end a lane asks for, modulo 2.
fn asked_phase(view: &PathView<'_>, op: &Mbarrier, by_parity: bool, lane: usize) -> u64 {
    let operand = |bytes| {
        // SAFETY: The decoder made the slot for `bytes` a lane.
        op.operand
            .map_or(1, |slot| unsafe { view.regs.get(slot, bytes, lane) })
    };
    if by_parity {
        operand(4) & 1
    } else {
        operand(8) >> 63
    }
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
    let before = word;
    let mut waits = false;
    let mut expects = 0;
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
        MbarrierKind::Arrive {
            drops,
            expects: is_with_bytes,
        } => {
            let n = if is_with_bytes { 1 } else { operand(4) };
            if is_with_bytes {
                expects = operand(4) as i64;
                word = expect(word, expects)?;
            }
            word = arrive(word, n, drops)?;
        }
        MbarrierKind::ArriveAfterCopies { is_expected: false } => {}
        MbarrierKind::ArriveAfterCopies { is_expected: true } => word = arrive(word, 1, false)?,
        MbarrierKind::Expect { completes } => {
            let n = operand(4) as i64;
            expects = if completes { -n } else { n };
            word = expect(word, expects)?.advance();
        }
        MbarrierKind::Wait { by_parity, .. } => {
            waits = word.phase == asked_phase(view, op, by_parity, lane);
        }
    }
    Ok(Outcome {
        word,
        waits,
        expects,
        ends_phase: !is_plain && word.phase != before.phase,
    })
}

/// This many bytes more are to come, or have come.
fn expect(mut word: BarrierWord, n_bytes: i64) -> Result<BarrierWord, &'static str> {
    word.tx += n_bytes;
    if word.tx.abs() > MOST_BYTES {
        return Err("an mbarrier counts at most 1048575 bytes in a phase");
    }
    Ok(word)
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

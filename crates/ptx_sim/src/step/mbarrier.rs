//! `mbarrier`: barriers that are words of shared memory.
//!
//! The word counts arrivals that are still to come in the current phase, and bytes
//! that are (`tx`); when both reach zero, the phase is over and the next one begins.
//! Nobody is put to sleep: kernels ask by `test_wait` and `try_wait` in a loop.
//!
//! `cp.async.mbarrier.arrive` arrives when a thread's copies are done. Here they are
//! done at once, which the hardware may also do.
//!
//! Left out: barriers of other blocks of a cluster, and arrival by bulk copies.

use super::access::{self, Request, in_each_space};
use super::{Env, PathView, Stop, Trouble, fault, poll};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::{AccessKind, FaultKind};
use crate::ir::Space;
use crate::lanes::{WARP_SIZE, lanes};
use crate::program::{BarrierWord, MOST_ARRIVALS, Mbarrier, MbarrierKind, Scope};
use crate::warp::{IDLE_POLLS, Warp};

pub(crate) fn mbarrier<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Mbarrier,
    mask: u32,
) -> Result<(), Stop> {
    let mut addresses = access::lane_addresses(view, &op.address, mask);
    if op.space != Space::Generic {
        return in_space(env, warp, view, ptx, op, op.space, &addresses.lanes, mask);
    }
    in_each_space(&mut addresses, mask, |space, addresses, mask| {
        in_space(env, warp, view, ptx, op, space, &addresses.lanes, mask)
    })
}

#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
fn in_space<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Mbarrier,
    space: Space,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) -> Result<(), Stop> {
    if space != Space::Shared {
        let reason = "an mbarrier lies in shared memory".to_owned();
        let opcode = "mbarrier".to_owned();
        return Err(Trouble::Unsupported { opcode, reason }.into());
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
        stride: None,
    };
    let located = access::locate(env, warp, view, addresses, request)?;
    if let MbarrierKind::ArriveAfterCopies { .. } = op.kind {
        warp.copies.complete(env.shared, mask, None);
        if O::ON {
            let lanes = env.lanes(warp, mask);
            env.observer.copies_awaited(lanes, None);
        }
    }
    if O::ON {
        env.observer.access(
            view.first_instruction + ptx,
            &WarpAccess {
                block: env.block,
                warp: warp.index,
                order: op.order,
                scope: Scope::Device,
                overwrites: false,
                lane_bytes: None,
                class,
                space,
                bytes: 8,
                mask,
                addresses,
                stride: None,
            },
        );
    }
    let mut waits = false;
    for lane in lanes(mask) {
        let host = located.host(addresses, lane);
        let operand = |bytes| {
            // SAFETY: The decoder made the slot for `bytes` a lane.
            op.operand
                .map_or(1, |slot| unsafe { view.regs.get(slot, bytes, lane) })
        };
        let bad = |message: &str| {
            let message = message.to_owned();
            Stop::from(fault(1 << lane, FaultKind::BadBarrier { message }))
        };
        // SAFETY: `locate` found eight aligned bytes.
        let old = unsafe { access::read64(host) };
        let mut word = BarrierWord::unpack(old);
        if !is_plain && word.of_phase == 0 {
            return Err(bad("the mbarrier has not been initialised"));
        }
        match op.kind {
            MbarrierKind::Init => {
                let n = operand(4);
                if n == 0 || n > MOST_ARRIVALS {
                    return Err(bad("an mbarrier counts from 1 to 1048575 arrivals"));
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
                if n > word.to_come {
                    return Err(bad("more arrivals than the mbarrier expects in one phase"));
                }
                word.to_come -= n;
                if drops {
                    word.of_phase = word.of_phase.saturating_sub(n);
                }
                word = word.advance();
                if let Some(slot) = op.d {
                    // SAFETY: The decoder made the slot for 64-bit lanes.
                    unsafe { view.regs.set(slot, 8, lane, old) };
                }
            }
            MbarrierKind::ArriveAfterCopies { is_expected: false } => {}
            MbarrierKind::ArriveAfterCopies { is_expected: true } => {
                if word.to_come == 0 {
                    return Err(bad("more arrivals than the mbarrier expects in one phase"));
                }
                word.to_come -= 1;
                word = word.advance();
            }
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
                let is_over = word.phase != phase;
                waits |= !is_over;
                if let Some(slot) = op.d {
                    let value = if is_over { u32::MAX } else { 0 };
                    // SAFETY: The decoder made the slot for a predicate.
                    unsafe { view.regs.set_predicate(slot, 1 << lane, value) };
                }
            }
        }
        if word.pack() != old {
            warp.idle_polls = 0;
            // SAFETY: As above.
            unsafe { access::write64(host, word.pack()) };
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
        poll(env, warp, if may_sleep { IDLE_POLLS } else { 1 });
    }
    Ok(())
}

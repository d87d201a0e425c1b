//! Predicates, moves that change a register's shape, clocks.

use super::context::{PathView, Step};
use crate::checks::observer::Observer;
use crate::lanes::lanes;
use crate::program::{ClockRead, Convert, Divide, PredicateOp, Transfer, VideoOp};

/// `d = table[a, b]`.
#[inline(always)]
pub(super) fn combine(view: &PathView<'_>, op: PredicateOp, mask: u32) {
    // SAFETY: The decoder made all three slots for predicates.
    unsafe {
        let (a, b) = (view.regs.predicate(op.a), view.regs.predicate(op.b));
        let mut value = 0;
        for (i, minterm) in [!a & !b, a & !b, !a & b, a & b].into_iter().enumerate() {
            if op.table >> i & 1 != 0 {
                value |= minterm;
            }
        }
        view.regs.set_predicate(op.d, mask, value);
    }
}

/// Moves between predicates and registers, packs and unpacks.
#[inline(always)]
pub(super) fn transfer(view: &PathView<'_>, op: &Transfer, mask: u32) {
    // SAFETY: The decoder made every slot for the widths given here.
    unsafe {
        match op {
            Transfer::Pack {
                d,
                bytes,
                parts,
                part_bytes,
            } => {
                for lane in lanes(mask) {
                    let mut value = 0u128;
                    for (i, part) in parts.iter().enumerate() {
                        let bits = u128::from(view.regs.get(*part, *part_bytes, lane));
                        value |= bits << (8 * part_bytes * i as u32);
                    }
                    if *bytes == 16 {
                        view.regs.lanes_mut::<u128>(*d)[lane] = value;
                    } else {
                        view.regs.set(*d, *bytes, lane, value as u64);
                    }
                }
            }
            Transfer::Unpack {
                a,
                bytes,
                parts,
                part_bytes,
            } => {
                for lane in lanes(mask) {
                    let value = if *bytes == 16 {
                        view.regs.lanes::<u128>(*a)[lane]
                    } else {
                        u128::from(view.regs.get(*a, *bytes, lane))
                    };
                    for (i, part) in parts.iter().enumerate() {
                        if let Some(slot) = part {
                            let bits = (value >> (8 * part_bytes * i as u32)) as u64;
                            view.regs.set(*slot, *part_bytes, lane, bits);
                        }
                    }
                }
            }
            Transfer::FromPredicate { d, a } => {
                let value = view.regs.predicate(*a);
                for (lane, slot) in view.regs.lanes_mut::<u32>(*d).iter_mut().enumerate() {
                    *slot = if mask >> lane & 1 != 0 {
                        value >> lane & 1
                    } else {
                        *slot
                    };
                }
            }
        }
    }
}

/// `div` or `rem`.
pub(super) fn divide<O: Observer>(step: &mut Step<'_, '_, O>, op: &Divide, mask: u32) {
    let regs = step.view.regs;
    if O::ON {
        // SAFETY: The decoder made the slot for `bytes` a lane.
        let is_zero = |&lane: &usize| unsafe { regs.get(op.op.b, op.bytes, lane) } == 0;
        let by_zero: u32 = lanes(mask).filter(is_zero).map(|lane| 1 << lane).sum();
        if by_zero != 0 {
            let lanes = step.lanes(by_zero);
            step.env.observer.divided_by_zero(step.number, lanes);
        }
    }
    // SAFETY: The decoder checked the operands against the frame's layout, and no
    // reference into it is held here.
    unsafe { (op.op.run)(regs.0, &op.op, mask) };
}

/// `cvt` in its general form.
#[inline(always)]
pub(super) fn convert(view: &PathView<'_>, op: &Convert, mask: u32) {
    for lane in lanes(mask) {
        // SAFETY: The decoder made the slots for these widths.
        unsafe {
            let bits = view.regs.get(op.a, op.a_bytes, lane);
            view.regs
                .set(op.d, op.d_bytes, lane, op.conversion.apply(bits));
        }
    }
}

/// A video instruction.
pub(super) fn video(view: &PathView<'_>, op: &VideoOp, mask: u32) {
    // SAFETY: The decoder made the slots for 32-bit lanes; the sources are copied out
    // before the destination, which may be one of them, is written.
    unsafe {
        let [a, b, c] = [op.a, op.b, op.c].map(|slot| *view.regs.lanes::<u32>(slot));
        let d = view.regs.lanes_mut::<u32>(op.d);
        for lane in lanes(mask) {
            d[lane] = op.video.apply(a[lane], b[lane], c[lane]);
        }
    }
}

/// Reads a clock: all are the host's.
pub(super) fn read_clock<O: Observer>(step: &Step<'_, '_, O>, op: ClockRead, mask: u32) {
    let clock = step.env.observer.clock();
    let value = clock.unwrap_or_else(|| step.launch.clock()) >> op.shift;
    for lane in lanes(mask) {
        // SAFETY: The decoder made the slot for `bytes` a lane.
        unsafe { step.view.regs.set(op.d, op.bytes, lane, value) };
    }
}

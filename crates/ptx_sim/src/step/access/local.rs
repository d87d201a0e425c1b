//! Loads and stores in a warp's local memory.

use super::super::PathView;
use super::super::predicate::lanes;
use super::{extend, gather};
use crate::lanes::WARP_SIZE;
use crate::program::Access;
use crate::warp::Warp;

/// `ld.local`, checked before.
pub(super) fn load(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let end = view.local_base + view.function.local_bytes;
    warp.local.reserve(end);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        if (op.element_bytes, op.register_bytes) == (4, 4) {
            let first = addresses[mask.trailing_zeros() as usize];
            if lanes(mask).all(|l| addresses[l] == first) {
                let row = warp.local.row_mut(first as u32 + offset);
                // SAFETY: The decoder made the slot for 32-bit lanes.
                unsafe { gather(view, slot, mask, |l| row[l]) };
                continue;
            }
        }
        for lane in lanes(mask) {
            let at = addresses[lane] as u32 + offset;
            let value = warp.local.read(lane, at, op.element_bytes);
            // SAFETY: The decoder made the slot for lanes of this width.
            unsafe {
                if op.register_bytes == 16 {
                    view.regs.lanes_mut::<u128>(slot)[lane] = value;
                } else {
                    let value = extend(value as u64, op.element_bytes, op.signed);
                    view.regs.set(slot, op.register_bytes, lane, value);
                }
            }
        }
    }
}

/// `st.local`, checked before.
pub(super) fn store(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let end = view.local_base + view.function.local_bytes;
    warp.local.reserve(end);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        for lane in lanes(mask) {
            let at = addresses[lane] as u32 + offset;
            // SAFETY: The decoder made the slot for lanes of this width.
            let value = unsafe {
                if op.register_bytes == 16 {
                    view.regs.lanes::<u128>(slot)[lane]
                } else {
                    u128::from(view.regs.get(slot, op.register_bytes, lane))
                }
            };
            warp.local.write(lane, at, op.element_bytes, value);
        }
    }
}

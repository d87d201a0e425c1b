//! Loads and stores in a warp's local memory.

use super::super::context::PathView;
use super::elements::{extend, gather};
use crate::lanes::{WARP_SIZE, lanes};
use crate::program::Access;
use crate::warp::Warp;

/// The row that all lanes of `mask` use, if it is the same whole word.
#[inline(always)]
fn common_row(addresses: &[u64; WARP_SIZE], mask: u32) -> Option<u32> {
    let first = addresses[mask.trailing_zeros() as usize % WARP_SIZE];
    let mut difference = 0;
    for (lane, &address) in addresses.iter().enumerate() {
        difference |= if mask >> lane & 1 != 0 {
            address ^ first
        } else {
            0
        };
    }
    (difference == 0 && first.is_multiple_of(4)).then_some(first as u32)
}

/// `ld.local`, already checked.
#[inline(always)]
pub(super) fn load(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let row = common_row(addresses, mask);
    let is_word = (op.element_bytes, op.register_bytes) == (4, 4);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        if is_word {
            let local = &mut warp.local;
            // SAFETY: The decoder made the slot for 32-bit lanes.
            unsafe {
                match row {
                    Some(row) => {
                        let row = local.row_mut(row + offset);
                        gather(view, slot, mask, |l| row[l]);
                    }
                    None => gather(view, slot, mask, |l| {
                        local.word(l, addresses[l] as u32 + offset)
                    }),
                }
            }
            continue;
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

/// `st.local`, already checked.
#[inline(always)]
pub(super) fn store(
    warp: &mut Warp,
    view: &PathView<'_>,
    op: &Access,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    let row = common_row(addresses, mask);
    let is_word = (op.element_bytes, op.register_bytes) == (4, 4);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i as u32 * op.element_bytes;
        if is_word {
            // SAFETY: The decoder made the slot for 32-bit lanes.
            let values = unsafe { view.regs.lanes::<u32>(slot) };
            match row {
                Some(row) => {
                    let row = warp.local.row_mut(row + offset);
                    for lane in 0..WARP_SIZE {
                        row[lane] = if mask >> lane & 1 != 0 {
                            values[lane]
                        } else {
                            row[lane]
                        };
                    }
                }
                None => {
                    for lane in lanes(mask) {
                        warp.local
                            .set_word(lane, addresses[lane] as u32 + offset, values[lane]);
                    }
                }
            }
            continue;
        }
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

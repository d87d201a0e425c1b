//! Loads and stores element by element, and what they do to registers.

use super::super::context::PathView;
use super::host::{read_element, write_element};
use super::host::{read8, read16, read32, read64, write8, write16, write32, write64};
use super::locate::Located;
use crate::lanes::{FULL_MASK, Lane, WARP_SIZE, lanes};
use crate::program::Access;

/// Loads element by element. `uniform`: all lanes from the same place.
#[inline(always)]
pub(super) fn from_memory(
    view: &PathView<'_>,
    op: &Access,
    located: &Located,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
    uniform: bool,
) {
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        // SAFETY: `locate` found the bytes of every active lane, aligned; the
        // decoder made the slot for lanes of `register_bytes`.
        unsafe {
            match (op.element_bytes, op.register_bytes, op.signed) {
                (4, 4, _) if uniform => {
                    *view.regs.lanes_mut::<u32>(slot) = [read32(host(0)); WARP_SIZE];
                }
                (8, 8, _) if uniform => {
                    *view.regs.lanes_mut::<u64>(slot) = [read64(host(0)); WARP_SIZE];
                }
                (4, 4, _) => gather(view, slot, mask, |l| read32(host(l))),
                (8, 8, _) => gather(view, slot, mask, |l| read64(host(l))),
                (2, 2, _) => gather(view, slot, mask, |l| read16(host(l))),
                (1, 4, false) => gather(view, slot, mask, |l| u32::from(read8(host(l)))),
                (2, 4, false) => gather(view, slot, mask, |l| u32::from(read16(host(l)))),
                (1, 2, false) => gather(view, slot, mask, |l| u16::from(read8(host(l)))),
                (16, 16, _) => gather(view, slot, mask, |l| {
                    u128::from(read64(host(l))) | u128::from(read64(host(l).add(8))) << 64
                }),
                (element, register, signed) => {
                    for lane in lanes(mask) {
                        let value = read_element(host(lane), element);
                        view.regs
                            .set(slot, register, lane, extend(value, element, signed));
                    }
                }
            }
        }
    }
}

/// Stores element by element.
#[inline(always)]
pub(super) fn to_memory(
    view: &PathView<'_>,
    op: &Access,
    located: &Located,
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        // SAFETY: As in `from_memory`.
        unsafe {
            match (op.element_bytes, op.register_bytes) {
                (4, 4) => scatter(view, slot, mask, |l, v: u32| write32(host(l), v)),
                (8, 8) => scatter(view, slot, mask, |l, v: u64| write64(host(l), v)),
                (2, 2) => scatter(view, slot, mask, |l, v: u16| write16(host(l), v)),
                (1, 4) => scatter(view, slot, mask, |l, v: u32| write8(host(l), v as u8)),
                (2, 4) => scatter(view, slot, mask, |l, v: u32| write16(host(l), v as u16)),
                (1, 2) => scatter(view, slot, mask, |l, v: u16| write8(host(l), v as u8)),
                (16, 16) => scatter(view, slot, mask, |l, v: u128| {
                    write64(host(l), v as u64);
                    write64(host(l).add(8), (v >> 64) as u64);
                }),
                (element, register) => {
                    for lane in lanes(mask) {
                        write_element(host(lane), element, view.regs.get(slot, register, lane));
                    }
                }
            }
        }
    }
}

/// Sets the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
pub(super) unsafe fn gather<T: Lane>(
    view: &PathView<'_>,
    slot: u32,
    mask: u32,
    value: impl Fn(usize) -> T,
) {
    // SAFETY: The caller's promise; `value` reads memory, not registers.
    let d = unsafe { view.regs.lanes_mut::<T>(slot) };
    if mask == FULL_MASK {
        for (lane, slot) in d.iter_mut().enumerate() {
            *slot = value(lane);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = value(lane);
        }
    }
}

/// Passes on the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
unsafe fn scatter<T: Lane>(view: &PathView<'_>, slot: u32, mask: u32, store: impl Fn(usize, T)) {
    // SAFETY: The caller's promise; `store` writes memory, not registers.
    let s = unsafe { view.regs.lanes::<T>(slot) };
    if mask == FULL_MASK {
        for (lane, value) in s.iter().enumerate() {
            store(lane, *value);
        }
    } else {
        for lane in lanes(mask) {
            store(lane, s[lane]);
        }
    }
}

/// Sign- or zero-extends the low `bytes` of a value.
pub(super) fn extend(value: u64, bytes: u32, signed: bool) -> u64 {
    let shift = 64 - 8 * bytes.min(8);
    if signed {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value << shift >> shift
    }
}

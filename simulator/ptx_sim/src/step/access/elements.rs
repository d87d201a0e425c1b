//! Loads and stores element by element, and what they do to registers.

use super::super::context::PathView;
#[cfg(target_arch = "x86_64")]
use super::super::vectors;
use super::host::{read_element, write_element};
use super::host::{read8, read16, read32, read64, write8, write16, write32, write64};
use super::locate::Located;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::lanes::{FULL_MASK, Lane, WARP_SIZE, lanes};
use crate::program::Access;
#[cfg(target_arch = "x86_64")]
use crate::program::RowMove;

/// Loads element by element. The lanes that `mask` does not have, have an address that one of
/// its lanes has. `alone`: nothing else uses the memory meanwhile.
#[inline(always)]
pub(super) fn from_memory(
    view: &PathView<'_>,
    op: &Access,
    (located, alone): (&Located, bool),
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    match located {
        Located::Biased(base) => {
            let base = *base;
            let place = move |lane: usize| base.wrapping_add(addresses[lane] as usize);
            from_places(view, op, place, mask, alone);
        }
        _ => from_scattered(view, op, (located, addresses), mask),
    }
}

/// As [`from_memory`], where the lanes' bytes lie in several allocations: rare.
#[inline(never)]
fn from_scattered(
    view: &PathView<'_>,
    op: &Access,
    (located, addresses): (&Located, &[u64; WARP_SIZE]),
    mask: u32,
) {
    from_places(
        view,
        op,
        move |lane| located.host(addresses, lane),
        mask,
        false,
    );
}

/// Loads from where each lane's element is, also for lanes that `mask` does not have.
#[inline(always)]
pub(super) fn from_places(
    view: &PathView<'_>,
    op: &Access,
    place: impl Fn(usize) -> *mut u8 + Copy,
    mask: u32,
    alone: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if alone && has_wide_vectors() {
        let memory = move |lane| place(lane).cast_const();
        // SAFETY: `locate` found the bytes of every active lane, aligned; the decoder made
        // the slots for words; this machine has the vectors.
        unsafe {
            match op.row {
                RowMove::Pairs(slots) => {
                    return vectors::load_pairs(view.regs, slots, mask, memory);
                }
                RowMove::Fours(slots) => {
                    return vectors::load_fours(view.regs, slots, mask, memory);
                }
                RowMove::WidePairs(slots) => {
                    return vectors::load_wide_pairs(view.regs, slots, mask, memory);
                }
                _ => {}
            }
        }
    }
    let _ = alone;
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = move |lane| place(lane).wrapping_add(offset);
        // SAFETY: `locate` found the bytes of every active lane, aligned; the
        // decoder made the slot for lanes of `register_bytes`.
        unsafe {
            match (op.element_bytes, op.register_bytes, op.signed) {
                (4, 4, _) => words(view, slot, mask, move |l| read32(host(l))),
                (8, 8, _) => doubles(view, slot, mask, move |l| read64(host(l))),
                (2, 2, _) => halves(view, slot, mask, move |l| read16(host(l))),
                (1, 4, false) => words(view, slot, mask, move |l| u32::from(read8(host(l)))),
                (2, 4, false) => words(view, slot, mask, move |l| u32::from(read16(host(l)))),
                (1, 2, false) => halves(view, slot, mask, move |l| u16::from(read8(host(l)))),
                (16, 16, _) => gather(view, slot, mask, move |l| {
                    u128::from(read64(host(l))) | u128::from(read64(host(l).add(8))) << 64
                }),
                (element, 4, signed) => words(view, slot, mask, move |l| {
                    extend(read_element(host(l), element), element, signed) as u32
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

/// Sets the active lanes of a register of words; `value` may be asked for all lanes.
///
/// # Safety
/// The decoder made `slot` for 32-bit lanes.
#[inline(always)]
unsafe fn words(view: &PathView<'_>, slot: u32, mask: u32, value: impl Fn(usize) -> u32) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: The caller's promise; this machine has the vectors.
        return unsafe { vectors::put_words(view.regs, slot, mask, value) };
    }
    // SAFETY: The caller's promise.
    unsafe { gather(view, slot, mask, value) };
}

/// As [`words`], of 16-bit lanes.
///
/// # Safety
/// The decoder made `slot` for 16-bit lanes.
#[inline(always)]
unsafe fn halves(view: &PathView<'_>, slot: u32, mask: u32, value: impl Fn(usize) -> u16) {
    #[cfg(target_arch = "x86_64")]
    if mask == FULL_MASK && has_wide_vectors() {
        // SAFETY: The caller's promise; this machine has the vectors.
        return unsafe { vectors::put_halves(view.regs, slot, value) };
    }
    // SAFETY: The caller's promise.
    unsafe { gather(view, slot, mask, value) };
}

/// As [`words`], of 64-bit lanes.
///
/// # Safety
/// The decoder made `slot` for 64-bit lanes.
#[inline(always)]
unsafe fn doubles(view: &PathView<'_>, slot: u32, mask: u32, value: impl Fn(usize) -> u64) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: The caller's promise; this machine has the vectors.
        return unsafe { vectors::put_doubles(view.regs, slot, mask, value) };
    }
    // SAFETY: The caller's promise.
    unsafe { gather(view, slot, mask, value) };
}

/// Stores element by element.
#[inline(always)]
pub(super) fn to_memory(
    view: &PathView<'_>,
    op: &Access,
    (located, alone): (&Located, bool),
    addresses: &[u64; WARP_SIZE],
    mask: u32,
) {
    match located {
        Located::Biased(base) => {
            let base = *base;
            let place = move |lane: usize| base.wrapping_add(addresses[lane] as usize);
            to_places(view, op, place, mask, alone);
        }
        _ => to_scattered(view, op, (located, addresses), mask),
    }
}

/// As [`to_memory`], where the lanes' bytes lie in several allocations: rare.
#[inline(never)]
fn to_scattered(
    view: &PathView<'_>,
    op: &Access,
    (located, addresses): (&Located, &[u64; WARP_SIZE]),
    mask: u32,
) {
    to_places(
        view,
        op,
        move |lane| located.host(addresses, lane),
        mask,
        false,
    );
}

/// Stores to where each lane's element is.
#[inline(always)]
pub(super) fn to_places(
    view: &PathView<'_>,
    op: &Access,
    place: impl Fn(usize) -> *mut u8 + Copy,
    mask: u32,
    alone: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if alone && has_wide_vectors() {
        // SAFETY: As in `from_memory`.
        unsafe {
            match op.row {
                RowMove::Fours(slots) => {
                    return vectors::store_fours(view.regs, slots, mask, place);
                }
                RowMove::WidePairs(slots) => {
                    return vectors::store_wide_pairs(view.regs, slots, mask, place);
                }
                _ => {}
            }
        }
    }
    let _ = alone;
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = move |lane| place(lane).wrapping_add(offset);
        // SAFETY: As in `from_memory`.
        unsafe {
            match (op.element_bytes, op.register_bytes) {
                (4, 4) => scatter(view, slot, mask, move |l, v: u32| write32(host(l), v)),
                (8, 8) => scatter(view, slot, mask, move |l, v: u64| write64(host(l), v)),
                (2, 2) => scatter(view, slot, mask, move |l, v: u16| write16(host(l), v)),
                (1, 4) => scatter(view, slot, mask, move |l, v: u32| write8(host(l), v as u8)),
                (2, 4) => scatter(view, slot, mask, move |l, v: u32| {
                    write16(host(l), v as u16)
                }),
                (1, 2) => scatter(view, slot, mask, move |l, v: u16| write8(host(l), v as u8)),
                (16, 16) => scatter(view, slot, mask, move |l, v: u128| {
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
#[inline]
pub(super) fn extend(value: u64, bytes: u32, signed: bool) -> u64 {
    let shift = 64 - 8 * bytes.min(8);
    if signed {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value << shift >> shift
    }
}

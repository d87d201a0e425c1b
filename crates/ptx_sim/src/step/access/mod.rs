//! Loads and stores.
//!
//! [`addresses`] computes where the lanes read or write, [`locate`] checks it
//! and finds the bytes, and what is here moves them. Lanes that read or write
//! neighbouring words are served by one copy; a launch on a single worker
//! copies whole rows at once.

mod addresses;
mod host;
mod local;
mod locate;

pub(crate) use addresses::{Addresses, addresses, by_space, lane_addresses};
pub(crate) use host::{read8, read16, read32, read64, write8, write16, write32, write64};
pub(crate) use locate::{Located, Request, locate};

use self::host::{copy_in_shared, copy_out_shared, read_element, write_element};
use super::predicate::lanes;
use super::{Env, PathView, Stop, poll};
use crate::checks::{AccessClass, Observer, WarpAccess};
use crate::diagnostics::AccessKind;
use crate::ir::Space;
use crate::lanes::{FULL_MASK, WARP_SIZE};
use crate::program::{Access, Order};
use crate::warp::Warp;

/// `ld`
pub(crate) fn load<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    if op.order != Order::Weak {
        poll(env, warp, 1);
    }
    let Addresses {
        lanes: mut addresses,
        stride,
    } = lane_addresses(view, &op.address);
    if op.space == Space::Generic {
        return by_space(&mut addresses, mask, |space, addresses, mask| {
            load_in(env, warp, view, ptx, op, space, (addresses, stride), mask)
        });
    }
    load_in(
        env,
        warp,
        view,
        ptx,
        op,
        op.space,
        (&addresses, stride),
        mask,
    )
}

/// `st`
pub(crate) fn store<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    warp.idle_polls = 0;
    let Addresses {
        lanes: mut addresses,
        stride,
    } = lane_addresses(view, &op.address);
    if op.space == Space::Generic {
        return by_space(&mut addresses, mask, |space, addresses, mask| {
            store_in(env, warp, view, ptx, op, space, (addresses, stride), mask)
        });
    }
    store_in(
        env,
        warp,
        view,
        ptx,
        op,
        op.space,
        (&addresses, stride),
        mask,
    )
}

#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
fn load_in<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    space: Space,
    (addresses, stride): (&[u64; WARP_SIZE], Option<u64>),
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.element_bytes * op.registers.len() as u32;
    // A stride says something only of all 32 lanes.
    let stride = stride.filter(|_| mask == FULL_MASK);
    let contiguous = stride == Some(u64::from(bytes));
    let request = Request {
        space,
        bytes,
        mask,
        kind: AccessKind::Load,
        stride,
    };
    let located = locate(env, warp, view, addresses, request)?;
    if O::ON {
        env.observer.access(
            view.first_instruction + ptx,
            &WarpAccess {
                block: env.block,
                warp: warp.index,
                order: op.order,
                scope: op.scope,
                overwrites: false,
                lane_bytes: None,
                class: AccessClass::Load,
                space,
                bytes,
                mask,
                addresses,
                stride,
            },
        );
    }
    if let Located::Local = located {
        local::load(warp, view, op, addresses, mask);
        return Ok(());
    }
    if contiguous
        && let [Some(slot)] = op.registers[..]
        && op.element_bytes == op.register_bytes
        && let Located::Biased(_) = located
    {
        let from = located.host(addresses, 0);
        let n_bytes = op.element_bytes as usize * WARP_SIZE;
        // SAFETY: `locate` found all lanes' bytes, aligned; the decoder made
        // the slot for 32 lanes of this width, in memory of its own.
        unsafe {
            let to = view.regs.0.add(slot as usize);
            if env.launch.exclusive || space == Space::Shared {
                std::ptr::copy_nonoverlapping(from, to, n_bytes);
            } else {
                copy_out_shared(from, to, n_bytes);
            }
        }
        return Ok(());
    }
    let uniform = stride == Some(0);
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        if uniform && (op.element_bytes, op.register_bytes) == (4, 4) {
            // All lanes read the same word.
            // SAFETY: As below.
            unsafe { *view.regs.lanes_mut::<u32>(slot) = [read32(host(0)); WARP_SIZE] };
            continue;
        }
        // SAFETY: `locate` found the bytes of every active lane, aligned; the
        // decoder made the slot for lanes of `register_bytes`.
        unsafe {
            match (op.element_bytes, op.register_bytes, op.signed) {
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
    Ok(())
}

#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
fn store_in<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    space: Space,
    (addresses, stride): (&[u64; WARP_SIZE], Option<u64>),
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.element_bytes * op.registers.len() as u32;
    // A stride says something only of all 32 lanes.
    let stride = stride.filter(|_| mask == FULL_MASK);
    let contiguous = stride == Some(u64::from(bytes));
    let request = Request {
        space,
        bytes,
        mask,
        kind: AccessKind::Store,
        stride,
    };
    let located = locate(env, warp, view, addresses, request)?;
    if O::ON {
        env.observer.access(
            view.first_instruction + ptx,
            &WarpAccess {
                block: env.block,
                warp: warp.index,
                order: op.order,
                scope: op.scope,
                overwrites: false,
                lane_bytes: None,
                class: AccessClass::Store,
                space,
                bytes,
                mask,
                addresses,
                stride,
            },
        );
    }
    if let Located::Local = located {
        local::store(warp, view, op, addresses, mask);
        return Ok(());
    }
    if contiguous
        && let [Some(slot)] = op.registers[..]
        && op.element_bytes == op.register_bytes
        && let Located::Biased(_) = located
    {
        let to = located.host(addresses, 0);
        let n_bytes = op.element_bytes as usize * WARP_SIZE;
        // SAFETY: As in `load_in`, the other way round.
        unsafe {
            let from = view.regs.0.add(slot as usize);
            if env.launch.exclusive || space == Space::Shared {
                std::ptr::copy_nonoverlapping(from, to, n_bytes);
            } else {
                copy_in_shared(from, to, n_bytes);
            }
        }
        return Ok(());
    }
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        let offset = i * op.element_bytes as usize;
        let host = |lane| located.host(addresses, lane).wrapping_add(offset);
        // SAFETY: As in `load_in`.
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
    Ok(())
}

/// Sets the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
unsafe fn gather<T: crate::lanes::Lane>(
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

/// Hands out the active lanes of a register.
///
/// # Safety
/// The decoder made `slot` for lanes of type `T`.
#[inline(always)]
unsafe fn scatter<T: crate::lanes::Lane>(
    view: &PathView<'_>,
    slot: u32,
    mask: u32,
    store: impl Fn(usize, T),
) {
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
fn extend(value: u64, bytes: u32, signed: bool) -> u64 {
    let shift = 64 - 8 * bytes.min(8);
    if signed {
        ((value << shift) as i64 >> shift) as u64
    } else {
        value << shift >> shift
    }
}

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

pub(crate) use addresses::{Addresses, in_each_space, lane_addresses};
pub(crate) use host::{read8, read16, read32, read64, write8, write16, write32, write64};
pub(crate) use locate::{Located, Request, locate};

use self::host::{copy_in_shared, copy_out_shared, read_element, write_element};
use super::{Env, PathView, Stop, poll};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::ir::Space;
use crate::lanes::{FULL_MASK, WARP_SIZE, has_wide_vectors, lanes};
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
    access::<O, true>(env, warp, view, ptx, op, mask)
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
    access::<O, false>(env, warp, view, ptx, op, mask)
}

/// A load or a store, in the version that suits this machine.
#[inline(always)]
fn access<O: Observer, const LOAD: bool>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: This machine has the vectors.
        return unsafe { access_wide::<O, LOAD>(env, warp, view, ptx, op, mask) };
    }
    access_plain::<O, LOAD>(env, warp, view, ptx, op, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn access_wide<O: Observer, const LOAD: bool>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    access_plain::<O, LOAD>(env, warp, view, ptx, op, mask)
}

#[inline(always)]
fn access_plain<O: Observer, const LOAD: bool>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    mask: u32,
) -> Result<(), Stop> {
    let mut addresses = lane_addresses(view, &op.address, mask);
    if op.space != Space::Generic {
        return access_in::<O, LOAD>(env, warp, view, ptx, op, op.space, &addresses, mask);
    }
    in_each_space(&mut addresses, mask, |space, addresses, mask| {
        access_in::<O, LOAD>(env, warp, view, ptx, op, space, addresses, mask)
    })
}

/// An access in one space: found, shown to the observer, carried out.
#[allow(clippy::too_many_arguments)] // The instruction's context, passed on.
#[inline(always)]
fn access_in<O: Observer, const LOAD: bool>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &Access,
    space: Space,
    addresses: &Addresses,
    mask: u32,
) -> Result<(), Stop> {
    let bytes = op.element_bytes * op.registers.len() as u32;
    let stride = addresses.stride_for(mask);
    let (class, kind) = if LOAD {
        (AccessClass::Load, AccessKind::Load)
    } else {
        (AccessClass::Store, AccessKind::Store)
    };
    let request = Request {
        space,
        bytes,
        mask,
        kind,
        stride,
    };
    let addresses = &addresses.lanes;
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
                class,
                space,
                bytes,
                mask,
                addresses,
                stride,
            },
        );
    }
    match located {
        Located::Local if LOAD => local::load(warp, view, op, addresses, mask),
        Located::Local => local::store(warp, view, op, addresses, mask),
        Located::Biased(_) if stride == Some(u64::from(bytes)) && moves_rows(op) => {
            let first = located.host(addresses, 0);
            // Nobody else's while this runs?
            let alone = env.launch.exclusive || space == Space::Shared;
            // SAFETY: `locate` found all lanes' bytes, aligned.
            unsafe { move_rows::<LOAD>(view, op, first, alone) };
        }
        _ if LOAD => from_memory(view, op, &located, addresses, mask, stride == Some(0)),
        _ => to_memory(view, op, &located, addresses, mask),
    }
    Ok(())
}

/// Whether [`move_rows`] can move it, where lanes touch neighbouring bytes.
#[inline(always)]
fn moves_rows(op: &Access) -> bool {
    op.element_bytes == op.register_bytes
        && match op.registers[..] {
            [Some(_)] => true,
            [Some(_), Some(_)] | [Some(_), Some(_), Some(_), Some(_)] => op.element_bytes == 4,
            _ => false,
        }
}

/// Moves the elements of all 32 lanes, which lie side by side from `memory` on.
///
/// # Safety
/// They do, aligned; [`moves_rows`] holds; `alone` only if no other host thread
/// may access them.
#[inline(always)]
unsafe fn move_rows<const LOAD: bool>(
    view: &PathView<'_>,
    op: &Access,
    memory: *mut u8,
    alone: bool,
) {
    // SAFETY: The caller's promise; the decoder made the slots for 32 lanes of
    // the element's width, in memory of their own.
    unsafe {
        match op.registers[..] {
            [Some(slot)] => {
                let register = view.regs.0.add(slot as usize);
                match op.element_bytes {
                    4 => move_bytes::<LOAD, 128>(register, memory, alone),
                    8 => move_bytes::<LOAD, 256>(register, memory, alone),
                    2 => move_bytes::<LOAD, 64>(register, memory, alone),
                    _ => move_bytes::<LOAD, 512>(register, memory, alone),
                }
            }
            [Some(a), Some(b)] => move_interleaved::<LOAD, 2>(view, [a, b], memory, alone),
            [Some(a), Some(b), Some(c), Some(d)] => {
                move_interleaved::<LOAD, 4>(view, [a, b, c, d], memory, alone);
            }
            _ => {}
        }
    }
}

/// Moves `N` bytes between a register and memory.
///
/// # Safety
/// As [`move_rows`].
#[inline(always)]
unsafe fn move_bytes<const LOAD: bool, const N: usize>(
    register: *mut u8,
    memory: *mut u8,
    alone: bool,
) {
    // SAFETY: The caller's promise.
    unsafe {
        match (LOAD, alone) {
            (true, true) => std::ptr::copy_nonoverlapping(memory, register, N),
            (false, true) => std::ptr::copy_nonoverlapping(register, memory, N),
            (true, false) => copy_out_shared(memory, register, N),
            (false, false) => copy_in_shared(register, memory, N),
        }
    }
}

/// Moves `N` words a lane between as many registers and memory.
///
/// # Safety
/// As [`move_rows`].
#[inline(always)]
unsafe fn move_interleaved<const LOAD: bool, const N: usize>(
    view: &PathView<'_>,
    slots: [u32; N],
    memory: *mut u8,
    alone: bool,
) {
    let words = memory.cast::<u32>();
    for (i, slot) in slots.into_iter().enumerate() {
        // SAFETY: The caller's promise; the decoder made the slots for 32-bit
        // lanes.
        unsafe {
            if LOAD {
                let register = view.regs.lanes_mut::<u32>(slot);
                for (lane, value) in register.iter_mut().enumerate() {
                    let from = words.add(N * lane + i);
                    *value = if alone { *from } else { read32(from.cast()) };
                }
            } else {
                let register = view.regs.lanes::<u32>(slot);
                for (lane, value) in register.iter().enumerate() {
                    let to = words.add(N * lane + i);
                    if alone {
                        *to = *value;
                    } else {
                        write32(to.cast(), *value);
                    }
                }
            }
        }
    }
}

/// Loads element by element. `uniform`: all lanes from the same place.
#[inline(always)]
fn from_memory(
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
fn to_memory(
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

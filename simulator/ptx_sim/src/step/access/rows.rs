//! Whole rows: the words of all 32 lanes, side by side.

use super::super::context::PathView;
use super::host::{copy_in_shared, copy_out_shared, read32, write32};
use crate::lanes::WARP_SIZE;
use crate::program::Access;

/// Whether [`move_rows`] can move it, where lanes touch neighbouring bytes.
#[inline(always)]
pub(super) fn moves_rows(op: &Access) -> bool {
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
/// They are there, aligned; [`moves_rows`] holds; `alone` only if no other host thread may
/// access them.
#[inline(always)]
pub(super) unsafe fn move_rows<const LOAD: bool>(
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
                let register = view.regs.bytes(slot, WARP_SIZE * op.element_bytes as usize);
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

/// Moves `N` words per lane between as many registers and memory.
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

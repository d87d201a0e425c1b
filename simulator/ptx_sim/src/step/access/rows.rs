//! Loads and stores of whole rows: all 32 lanes access elements at the same distance from the
//! lane before, mostly neighbouring ones, or load the same one.
//!
//! Most accesses are like that. Then one check of the row is one of all lanes, its cost follows
//! from where it begins, and its bytes are moved at once; the lanes' addresses are never
//! written down. All other accesses, and whatever is wrong, are left to
//! [`load_store`](super::load_store).

use super::super::context::{PathView, Step};
use super::affine::{stride32, stride64};
use super::elements::{extend, from_places, to_places};
use super::host::{copy_in_shared, copy_out_shared, read_element};
use crate::checks::access::{AccessClass, Row, RowAccess};
use crate::checks::observer::Observer;
#[cfg(target_arch = "x86_64")]
use crate::lanes::has_wide_vectors;
use crate::lanes::{FULL_MASK, Lane, WARP_SIZE};
use crate::memory::address::space_of;
use crate::program::{Access, AddressOperand, RowMove, Slot};
use ptx::ir::Space;

/// Bytes that may lie between the elements of neighbouring lanes.
const MOST_BETWEEN: u64 = 1 << 31;

/// Carries out an access by all lanes if it is one of a row, perhaps with the same gap after
/// each element, or a load of one place, and nothing is wrong with it.
#[inline(always)]
pub(super) fn access_row<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
) -> bool {
    if op.row == RowMove::Never {
        return false;
    }
    let bytes = op.bytes();
    let Some((first, stride)) = affine(&step.view, &op.address) else {
        return false;
    };
    if op.space == Space::Local {
        return stride == 0 && access_local::<O, LOAD>(step, op, first);
    }
    let is_uniform = LOAD && stride == 0 && op.register_bytes <= 8;
    if !is_uniform && stride.wrapping_sub(1) >= MOST_BETWEEN || (first | stride) & (bytes - 1) != 0
    {
        return false;
    }
    let n_bytes = (WARP_SIZE as u64 - 1) * stride + bytes;
    let space = match op.space {
        Space::Generic => space_of(first),
        space => space,
    };
    let memory = match space {
        Space::Global | Space::Const => {
            let found = step
                .env
                .recent
                .find(step.number, step.launch.memory, first, n_bytes);
            found
                .filter(|found| LOAD || !found.is_constant)
                .map(|found| found.host)
        }
        Space::Shared if op.space == Space::Shared => {
            let size_bytes = u64::from(step.env.shared.size_bytes());
            let is_inside = first < size_bytes && n_bytes <= size_bytes - first;
            is_inside.then(|| step.env.shared.host().wrapping_add(first as usize))
        }
        _ => None,
    };
    let Some(memory) = memory else { return false };
    if O::ON {
        tell::<O, LOAD>(step, op, space, first, stride);
    }
    // Does nothing else use the memory while this runs?
    let alone = step.launch.exclusive || space == Space::Shared;
    // SAFETY: The memory is there, aligned.
    unsafe {
        if is_uniform {
            load_one(&step.view, op, memory);
        } else if let RowMove::Whole(slot) = op.row
            && stride == bytes
        {
            move_row::<LOAD>(&step.view, (slot, op.element_bytes), memory, alone);
        } else {
            apart::<LOAD>(&step.view, op, (memory, stride as usize), alone);
        }
    }
    true
}

/// Notifies the observer of a row.
#[inline(always)]
fn tell<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    space: Space,
    first: u64,
    stride: u64,
) {
    let class = if LOAD {
        AccessClass::Load
    } else {
        AccessClass::Store
    };
    let row = Row {
        class,
        space,
        bytes: op.bytes() as u32,
        first,
        stride,
    };
    let (block, owner, warp) = (step.env.block, step.env.owner, step.warp.index);
    step.env.observer.row(step.number, row, || RowAccess {
        row,
        block,
        owner,
        warp,
        order: op.order,
        scope: op.scope,
        is_constant: op.is_constant,
    });
}

/// Carries out an access of all lanes to words at the same place of their local memory, which
/// lie side by side there, if nothing is wrong with it.
#[inline(always)]
fn access_local<O: Observer, const LOAD: bool>(
    step: &mut Step<'_, '_, O>,
    op: &Access,
    first: u64,
) -> bool {
    let bytes = op.bytes();
    let end = u64::from(step.view.local_base + step.view.function.local_bytes);
    if (op.element_bytes, op.register_bytes) != (4, 4)
        || first & (bytes - 1) != 0
        || first < u64::from(step.launch.local_start())
        || first + bytes > end
    {
        return false;
    }
    if O::ON {
        tell::<O, LOAD>(step, op, Space::Local, first, 0);
    }
    for (i, register) in (0..).zip(&op.registers) {
        let Some(slot) = *register else { continue };
        let row = step.warp.local.row_mut(first as u32 + 4 * i);
        // SAFETY: The decoder made the slot for 32-bit lanes.
        unsafe {
            if LOAD {
                *step.view.regs.lanes_mut::<u32>(slot) = *row;
            } else {
                *row = *step.view.regs.lanes::<u32>(slot);
            }
        }
    }
    true
}

/// Moves the elements of all 32 lanes, each this many bytes after the one before.
///
/// # Safety
/// As [`move_row`].
#[inline(always)]
unsafe fn apart<const LOAD: bool>(
    view: &PathView<'_>,
    op: &Access,
    place: (*mut u8, usize),
    alone: bool,
) {
    #[cfg(target_arch = "x86_64")]
    if has_wide_vectors() {
        // SAFETY: The caller's promise; this machine has the vectors.
        return unsafe { apart_wide::<LOAD>(view, op, place, alone) };
    }
    apart_plain::<LOAD>(view, op, place, alone);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn apart_wide<const LOAD: bool>(
    view: &PathView<'_>,
    op: &Access,
    place: (*mut u8, usize),
    alone: bool,
) {
    apart_plain::<LOAD>(view, op, place, alone);
}

#[inline(always)]
fn apart_plain<const LOAD: bool>(
    view: &PathView<'_>,
    op: &Access,
    (memory, stride): (*mut u8, usize),
    alone: bool,
) {
    if let RowMove::Narrow(slot) = op.row
        && stride == op.element_bytes as usize
        && (alone || memory.addr().is_multiple_of(2))
    {
        // SAFETY: The caller's promise; the decoder made the slot for elements of this kind.
        return unsafe { move_narrow::<LOAD>(view, op, slot, memory, alone) };
    }
    let place = move |lane: usize| memory.wrapping_add(lane * stride);
    if LOAD {
        from_places(view, op, place, FULL_MASK, alone);
    } else {
        to_places(view, op, place, FULL_MASK, alone);
    }
}

/// The address of lane 0, and the distance from each lane's to the next one's, if that is
/// the same for all.
#[inline(always)]
fn affine(view: &PathView<'_>, op: &AddressOperand) -> Option<(u64, u64)> {
    // SAFETY: The decoder made the slot for lanes of this width.
    unsafe {
        if op.wide {
            let base = view.regs.lanes::<u64>(op.slot);
            let stride = stride64(base)?;
            Some((base[0].wrapping_add(op.offset as u64), stride))
        } else {
            let base = view.regs.lanes::<u32>(op.slot);
            let stride = stride32(base)?;
            // If an address wraps around, the row ends past all memory.
            let first = base[0].wrapping_add(op.offset as u32);
            Some((first.into(), stride.into()))
        }
    }
}

/// Loads what all lanes read.
///
/// # Safety
/// The elements are there, aligned.
#[inline(always)]
unsafe fn load_one(view: &PathView<'_>, op: &Access, memory: *mut u8) {
    for (i, register) in op.registers.iter().enumerate() {
        let Some(slot) = *register else { continue };
        // SAFETY: The caller's promise; the decoder made the slot for lanes of this width.
        unsafe {
            let value = read_element(memory.add(i * op.element_bytes as usize), op.element_bytes);
            let value = extend(value, op.element_bytes, op.signed);
            view.regs.splat(slot, op.register_bytes, value);
        }
    }
}

/// Moves a register of all 32 lanes, whose elements lie side by side from `memory` on.
///
/// # Safety
/// They are there, aligned; `alone` only if no other host thread may access them; the decoder
/// made the slot for elements of this many bytes.
#[inline(always)]
unsafe fn move_row<const LOAD: bool>(
    view: &PathView<'_>,
    (slot, element_bytes): (Slot, u32),
    memory: *mut u8,
    alone: bool,
) {
    // SAFETY: The caller's promise.
    unsafe {
        let register = view.regs.bytes(slot, WARP_SIZE * element_bytes as usize);
        match element_bytes {
            4 => move_bytes::<LOAD, 128>(register, memory, alone),
            8 => move_bytes::<LOAD, 256>(register, memory, alone),
            2 => move_bytes::<LOAD, 64>(register, memory, alone),
            _ => move_bytes::<LOAD, 512>(register, memory, alone),
        }
    }
}

/// Moves a register of all 32 lanes that is wider than its elements, which lie side by side from
/// `memory` on.
///
/// # Safety
/// As [`move_row`], but `memory` is 2-aligned if not `alone`.
#[inline(always)]
unsafe fn move_narrow<const LOAD: bool>(
    view: &PathView<'_>,
    op: &Access,
    slot: Slot,
    memory: *mut u8,
    alone: bool,
) {
    let place = (view, slot, memory, alone);
    // SAFETY: The caller's promise.
    unsafe {
        match (op.element_bytes, op.register_bytes, op.signed) {
            (1, 2, false) => narrow::<LOAD, u8, u16>(place, u16::from, |word| word as u8),
            (1, 2, true) => narrow::<LOAD, i8, u16>(place, |x| x as u16, |word| word as i8),
            (1, _, false) => narrow::<LOAD, u8, u32>(place, u32::from, |word| word as u8),
            (1, _, true) => narrow::<LOAD, i8, u32>(place, |x| x as u32, |word| word as i8),
            (_, _, false) => narrow::<LOAD, u16, u32>(place, u32::from, |word| word as u16),
            (_, _, true) => narrow::<LOAD, i16, u32>(place, |x| x as u32, |word| word as i16),
        }
    }
}

/// [`move_narrow`], with elements `E` and registers `R`.
///
/// # Safety
/// As [`move_narrow`].
#[inline(always)]
unsafe fn narrow<const LOAD: bool, E: Copy + Default, R: Lane>(
    (view, slot, memory, alone): (&PathView<'_>, Slot, *mut u8, bool),
    widened: impl Fn(E) -> R,
    narrowed: impl Fn(R) -> E,
) {
    /// Registers are read by vectors of 32 bytes.
    #[repr(align(32))]
    struct Elements<E>([E; WARP_SIZE]);
    let mut elements = Elements([E::default(); WARP_SIZE]);
    let n_bytes = size_of::<[E; WARP_SIZE]>();
    // SAFETY: The caller's promise.
    unsafe {
        if LOAD {
            let to = elements.0.as_mut_ptr().cast::<u8>();
            match alone {
                true => std::ptr::copy_nonoverlapping(memory, to, n_bytes),
                false => copy_out_shared(memory, to, n_bytes),
            }
            let register = view.regs.lanes_mut::<R>(slot);
            for (word, element) in register.iter_mut().zip(elements.0) {
                *word = widened(element);
            }
        } else {
            let register = view.regs.lanes::<R>(slot);
            for (element, word) in elements.0.iter_mut().zip(register) {
                *element = narrowed(*word);
            }
            let from = elements.0.as_mut_ptr().cast::<u8>();
            match alone {
                true => std::ptr::copy_nonoverlapping(from, memory, n_bytes),
                false => copy_in_shared(from, memory, n_bytes),
            }
        }
    }
}

/// Moves `N` bytes between a register and memory.
///
/// # Safety
/// As [`move_row`].
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

//! Calls of functions, and returns.

use super::context::Step;
use super::next::Next;
use super::{external, heap};
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::lanes::lanes;
use crate::memory::address::FUNCTION_BASE;
use crate::memory::local::LOCAL_LIMIT;
use crate::program::{Argument, BlockId, Call, CallTarget, Slot, Terminator};
use crate::registers::OutOfMemory;
use crate::stop::Stop;
use crate::warp::{Frame, FrameId, Path, Warp};
use ptx::ir::{Function, Param};

/// Local memory that a call takes if its function needs none, so that endless recursion
/// ends.
const LEAST_FRAME: u32 = 16;

/// Moves an argument of `bytes` from one call's memory or register to
/// another's memory.
fn pass_in(
    warp: &mut Warp,
    from_frame: FrameId,
    argument: Argument,
    (to_offset, bytes): (u32, u32),
    mask: u32,
) {
    let (slot, slot_bytes) = match argument {
        Argument::Memory { offset, .. } => {
            let from = warp.frames[from_frame as usize].local_base + offset;
            return copy_local(warp, from, to_offset, bytes, mask);
        }
        Argument::Register { slot, bytes } => (slot, bytes),
        Argument::Number { slot } => (slot, 8),
    };
    let regs = warp.frames[from_frame as usize].registers.frame();
    for lane in lanes(mask) {
        // SAFETY: The decoder made the slot for this many bytes per lane.
        let value = unsafe { regs.get(slot, slot_bytes, lane) };
        warp.local.write(lane, to_offset, bytes, u128::from(value));
    }
}

/// Copies whole words of local memory for the lanes of a mask.
fn copy_local(warp: &mut Warp, from: u32, to: u32, bytes: u32, mask: u32) {
    for word in 0..bytes.div_ceil(4) {
        let row = *warp.local.row_mut(from + 4 * word);
        let target = warp.local.row_mut(to + 4 * word);
        for lane in lanes(mask) {
            target[lane] = row[lane];
        }
    }
}

/// Executes a call.
pub(super) fn enter<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    call: &Call,
) -> Result<Next, Stop> {
    let index = match &call.target {
        CallTarget::Function(id) => id.0 as usize,
        CallTarget::External(name) => {
            if !heap::call(step, name, call, path)? {
                external::call(step, name, call, path.mask)?;
            }
            return Ok(go_on(step, path, call.next));
        }
        CallTarget::Pointer(slot) => pointed_to(step, path, *slot, call.next)?,
    };
    let view = step.view;
    let launch = step.launch;
    let callee = launch.function(index);
    // On hardware, too, a call takes room, at least for its return address.
    let own_bytes = view.function.local_bytes.max(LEAST_FRAME);
    let local_base = (view.local_base + own_bytes).next_multiple_of(callee.local_align);
    let needed_bytes = local_base + callee.local_bytes;
    if needed_bytes > LOCAL_LIMIT {
        let kind = FaultKind::StackOverflow {
            needed_bytes,
            limit_bytes: LOCAL_LIMIT,
        };
        return Err(Stop::fault(path.mask, kind));
    }
    let declared = &launch.module.functions[index];
    if let CallTarget::Pointer(_) = call.target
        && let Err(reason) = fits(call, declared)
    {
        let function = declared.name.clone();
        return Err(Stop::fault(
            path.mask,
            FaultKind::WrongCallee { function, reason },
        ));
    }
    let caller = Some((path.frame, path.block));
    let frame = match under_way(step.warp, index, caller, path.mask) {
        Some(frame) => {
            launch.enter_frame(step.warp, frame, path.mask);
            frame
        }
        None => launch
            .push_frame(step.warp, index, local_base, step.env.ctaid)
            .map_err(|OutOfMemory| Stop::OutOfMemory)?,
    };
    step.warp.frames[frame as usize].lanes |= path.mask;
    step.warp.frames[frame as usize].caller = caller;
    if O::ON {
        let lanes = step.lanes(path.mask);
        let end = local_base + callee.local_bytes;
        step.env.observer.local_begins(lanes, local_base..end);
    }
    let places = callee.param_offsets.iter().zip(&declared.params);
    for (argument, (offset, param)) in call.arguments.iter().zip(places) {
        let start = local_base + offset;
        let bytes = passed_bytes(*argument, param);
        pass_in(step.warp, path.frame, *argument, (start, bytes), path.mask);
        if O::ON {
            let lanes = step.lanes(path.mask);
            let range = start..start + bytes;
            step.env.observer.local_passed(lanes, range);
        }
    }
    path.frame = frame;
    path.block = 0;
    Ok(Next::Frame)
}

/// The frame of the same call by other lanes that came before these: if these join it, they
/// meet at warp-wide instructions.
fn under_way(
    warp: &Warp,
    function: usize,
    caller: Option<(FrameId, BlockId)>,
    mask: u32,
) -> Option<FrameId> {
    if mask == warp.live {
        return None;
    }
    let is_same = |f: &Frame| f.lanes != 0 && f.function == function && f.caller == caller;
    let position = warp.frames.iter().position(is_same);
    position.map(|position| position as FrameId)
}

/// Bytes of an argument: its own, or for a number those of the parameter.
fn passed_bytes(argument: Argument, param: &Param) -> u32 {
    match argument {
        Argument::Number { .. } => param.size_bytes.min(8),
        Argument::Memory { bytes, .. } | Argument::Register { bytes, .. } => bytes,
    }
}

/// Whether a function takes and returns what a call through a pointer does; else what
/// differs. For a call by name the decoder has checked that.
fn fits(call: &Call, callee: &Function) -> Result<(), String> {
    if callee.is_entry {
        return Err("it is a kernel".to_owned());
    }
    let arguments = ("takes", "argument", &call.arguments, &callee.params);
    let results = ("returns", "result", &call.returns, &callee.returns);
    for (verb, what, passed, declared) in [arguments, results] {
        if passed.len() != declared.len() {
            let (n, given) = (declared.len(), passed.len());
            let s = if n == 1 { "" } else { "s" };
            return Err(format!("it {verb} {n} {what}{s}, but the call has {given}"));
        }
        for (i, (argument, param)) in passed.iter().zip(declared).enumerate() {
            // A register is no narrower than two bytes.
            let (bytes, size) = (passed_bytes(*argument, param), param.size_bytes);
            if bytes.max(2) != size.max(2) {
                let number = i + 1;
                return Err(format!(
                    "its {what} {number} has {size} bytes, but the call's has {bytes}"
                ));
            }
        }
    }
    Ok(())
}

/// Goes on after a call of something that is not a function of the module.
fn go_on<O: Observer>(step: &mut Step<'_, '_, O>, path: &mut Path, next: Option<BlockId>) -> Next {
    match next {
        Some(next) => {
            path.block = next;
            Next::Block
        }
        None => {
            step.warp.exit(path.mask);
            Next::Gone
        }
    }
}

/// The function that a path's first lane calls by its address. Lanes that call another
/// function come back later, for this call only.
fn pointed_to<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    slot: Slot,
    next: Option<BlockId>,
) -> Result<usize, Stop> {
    // SAFETY: The decoder made the slot for 64-bit lanes.
    let addresses = unsafe { step.view.regs.lanes::<u64>(slot) };
    let address = addresses[path.mask.trailing_zeros() as usize];
    let others: u32 = lanes(path.mask)
        .filter(|&l| addresses[l] != address)
        .map(|l| 1 << l)
        .sum();
    if others != 0 {
        let whole = *path;
        path.mask &= !others;
        if let Some(next) = next {
            path.join = Some(step.warp.join_at(&whole, next));
        }
        step.warp.paths.push(Path {
            mask: others,
            at: Path::AT_END,
            ..*path
        });
    }
    let index = address.wrapping_sub(FUNCTION_BASE) / 16;
    let known = address % 16 == 0 && step.launch.has_function(index as usize);
    if !known {
        let kind = FaultKind::BadCallTarget { address };
        return Err(Stop::fault(path.mask, kind));
    }
    Ok(index as usize)
}

/// Returns from a device function.
pub(super) fn return_from<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
) -> Result<Next, Stop> {
    let launch = step.launch;
    let frame = &mut step.warp.frames[path.frame as usize];
    frame.lanes &= !path.mask;
    let (from_base, callee) = (frame.local_base, launch.function(frame.function));
    let Some((caller, block)) = frame.caller else {
        return Err(Stop::internal("a return without a call"));
    };
    let caller_function = launch.function(step.warp.frames[caller as usize].function);
    let Terminator::Call(call) = &caller_function.blocks[block as usize].terminator else {
        return Err(Stop::internal("a return to something not a call"));
    };
    for (value, offset) in call.returns.iter().zip(&callee.return_offsets) {
        match *value {
            Argument::Memory { offset: to, bytes } => {
                let to = step.warp.frames[caller as usize].local_base + to;
                copy_local(step.warp, from_base + offset, to, bytes, path.mask);
                if O::ON {
                    let lanes = step.lanes(path.mask);
                    step.env.observer.local_passed(lanes, to..to + bytes);
                }
            }
            // A number cannot take a result.
            Argument::Number { .. } => {}
            Argument::Register { slot, bytes } => {
                let regs = step.warp.frames[caller as usize].registers.frame();
                for lane in lanes(path.mask) {
                    let bits = step.warp.local.read(lane, from_base + offset, bytes) as u64;
                    // SAFETY: The decoder made the slot for `bytes` a lane.
                    unsafe { regs.set(slot, bytes, lane, bits) };
                }
            }
        }
    }
    let Some(next) = call.next else {
        // A function that promised not to return did: the threads end.
        step.warp.exit(path.mask);
        return Ok(Next::Gone);
    };
    path.frame = caller;
    path.block = next;
    Ok(Next::Frame)
}

//! Instructions of warpgroups: `wgmma`, `setmaxnreg`.
//!
//! When all four warps of a warpgroup have come to a product, each issues it: it reads its
//! operands and computes its 16 rows of the 64. [`multiply`] does that, [`operands`] finds a
//! matrix in shared memory. Sums go to the registers at `wgmma.wait_group`.
//!
//! Left out: hardware may read the operands at any time until the wait (the checks find
//! kernels that depend on it); `wgmma.fence` has no effect here.

mod multiply;
mod operands;

use super::context::Step;
use super::whole_warp::require_whole_warp;
use crate::checks::observer::Observer;
use crate::lanes::{FULL_MASK, lanes};
use crate::program::{SetRegisters, Slot, WarpgroupOp};
use crate::registers_of_block::Refused;
use crate::stop::Stop;
use multiply::bad;

/// Carries out an instruction of a warpgroup.
#[cold]
#[inline(never)]
pub(super) fn warpgroup<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &WarpgroupOp,
    mask: u32,
) -> Result<(), Stop> {
    match op {
        WarpgroupOp::Touch { reads, writes } => {
            touch(step, (reads, writes), mask);
            return Ok(());
        }
        WarpgroupOp::Carry { d, a } => {
            carry(step, (*d, *a), mask);
            return Ok(());
        }
        _ => require_whole_warp(step.warp, mask)?,
    }
    match op {
        WarpgroupOp::Multiply(op) => multiply::multiply(step, op),
        WarpgroupOp::Fence => {
            if O::ON {
                let lanes = step.lanes(mask);
                step.env.observer.products_fenced(lanes);
            }
            Ok(())
        }
        WarpgroupOp::Commit => {
            let issued = step.env.warpgroups.n_issued(step.warp.index);
            step.warp.in_flight.commit(issued);
            if O::ON {
                let lanes = step.lanes(mask);
                step.env.observer.products_committed(lanes);
            }
            Ok(())
        }
        WarpgroupOp::Wait(n_left) => wait(step, *n_left),
        WarpgroupOp::SetRegisters(op) => set_registers(step, *op),
        WarpgroupOp::Touch { .. } | WarpgroupOp::Carry { .. } => Ok(()),
    }
}

/// `wgmma.wait_group`
fn wait<O: Observer>(step: &mut Step<'_, '_, O>, n_left: u32) -> Result<(), Stop> {
    let needed = step.warp.in_flight.needed(n_left);
    let warp = step.warp.index;
    if !step.env.warpgroups.all_have_issued(warp, needed) {
        return Err(Stop::WaitsForWarps);
    }
    let warp = &mut *step.warp;
    let frames = &warp.frames;
    warp.in_flight
        .complete(n_left, |(frame, function), slot, sum| {
            let frame = &frames[frame as usize];
            if frame.lanes != 0 && frame.function == function {
                // SAFETY: The frame is one of the function whose decoder made the slot for 32-bit
                // lanes, in a call that has not returned.
                unsafe { *frame.registers.frame().lanes_mut::<u32>(slot) = *sum };
            }
        });
    if O::ON {
        let lanes = step.lanes(FULL_MASK);
        step.env.observer.products_awaited(lanes, n_left);
    }
    Ok(())
}

/// The next instruction reads and writes registers that may hold sums, or parts of A.
fn touch<O: Observer>(step: &mut Step<'_, '_, O>, (reads, writes): (&[Slot], &[Slot]), mask: u32) {
    let frame = step.frame;
    if mask == FULL_MASK && !step.warp.in_flight.is_empty() {
        for &slot in writes {
            step.warp.in_flight.forget((frame, slot));
        }
    }
    if O::ON {
        let lanes = step.lanes(mask);
        let number = step.number;
        step.env
            .observer
            .fragments_touched(number, lanes, frame, (reads, writes));
    }
}

/// `mov` of a register that may hold a sum.
fn carry<O: Observer>(step: &mut Step<'_, '_, O>, (d, a): (Slot, Slot), mask: u32) {
    let regs = step.view.regs;
    // SAFETY: The decoder made both slots for 32-bit lanes.
    let from: [u32; 32] = unsafe { *regs.lanes(a) };
    // SAFETY: As above; the other reference is gone.
    let to: &mut [u32; 32] = unsafe { regs.lanes_mut(d) };
    if mask == FULL_MASK {
        *to = from;
    } else {
        lanes(mask).for_each(|lane| to[lane] = from[lane]);
    }
    let frame = step.frame;
    if mask != FULL_MASK {
        return touch(step, (&[a], &[d]), mask);
    }
    if !step.warp.in_flight.is_empty() {
        step.warp.in_flight.carry(frame, d, a);
    }
    if O::ON {
        let (lanes, number) = (step.lanes(mask), step.number);
        step.env
            .observer
            .fragment_carried(number, lanes, frame, (d, a));
    }
}

/// `setmaxnreg`
fn set_registers<O: Observer>(step: &mut Step<'_, '_, O>, op: SetRegisters) -> Result<(), Stop> {
    let Some(first) = step.launch.registers_declared else {
        // An assembler drops the instruction.
        if O::ON {
            let (lanes, number) = (step.lanes(FULL_MASK), step.number);
            step.env.observer.registers_unknown(number, lanes);
        }
        return Ok(());
    };
    let warp = step.warp.index;
    let registers = &mut step.env.warpgroups.registers;
    match registers.set(warp, first, op.n, op.increases) {
        Ok(()) => {
            step.env.warpgroups.has_changed = true;
            Ok(())
        }
        Err(Refused::Waits) => Err(Stop::WaitsForWarps),
        Err(Refused::WrongWay { has }) => {
            let (name, than) = if op.increases {
                ("inc", "fewer")
            } else {
                ("dec", "more")
            };
            Err(bad(format!(
                "setmaxnreg.{name} asks for {} registers per thread, {than} than the {has} that the \
                 warp has",
                op.n
            )))
        }
    }
}

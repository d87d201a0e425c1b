//! Memory that kernels allocate and free: `malloc`, `free`.

use std::sync::Arc;

use super::context::Step;
use super::external::argument;
use crate::checks::observer::Observer;
use crate::diagnostics::{FaultKind, Relation};
use crate::lanes::lanes;
use crate::memory::kernel_heap::NotTaken;
use crate::program::{Argument, Call};
use crate::stop::Stop;
use crate::warp::Path;

/// Executes a call of one of these functions; `false` if it is another.
pub(super) fn call<O: Observer>(
    step: &mut Step<'_, '_, O>,
    name: &str,
    call: &Call,
    path: &Path,
) -> Result<bool, Stop> {
    match (name, &call.arguments[..], &call.returns[..]) {
        ("malloc", &[n_bytes], &[result]) => take(step, path, n_bytes, result)?,
        ("free", &[address], []) => free(step, path.mask, address)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// `malloc`: each lane allocates memory, or gets 0 if there is not enough.
fn take<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &Path,
    n_bytes: Argument,
    result: Argument,
) -> Result<(), Stop> {
    let launch = step.launch;
    let blocks = &step.view.function.blocks;
    let at = blocks[path.block as usize].ptx_end - 1;
    let place = Arc::new(launch.place_in_calls(step.warp, path.frame, at));
    for lane in lanes(path.mask) {
        let n_bytes = argument(step.warp, &step.view, n_bytes, lane);
        let taken = launch.heap.and_then(|heap| heap.take(n_bytes, &place));
        if let (true, Some(address)) = (O::ON, taken) {
            step.env.observer.taken(address..address + n_bytes);
        }
        give(step, lane, result, taken.unwrap_or(0))?;
    }
    if let (true, Argument::Memory { offset, bytes }) = (O::ON, result) {
        let (lanes, at) = (step.lanes(path.mask), step.view.local_base + offset);
        step.env.observer.local_passed(lanes, at..at + bytes);
    }
    Ok(())
}

/// Gives a lane the address that it asked for.
fn give<O: Observer>(
    step: &mut Step<'_, '_, O>,
    lane: usize,
    result: Argument,
    address: u64,
) -> Result<(), Stop> {
    match result {
        Argument::Memory { offset, bytes: 8 } => {
            let at = step.view.local_base + offset;
            step.warp.local.write(lane, at, 8, u128::from(address));
        }
        // SAFETY: The decoder made the slot for 8 bytes per lane.
        Argument::Register { slot, bytes: 8 } => unsafe {
            step.view.regs.set(slot, 8, lane, address);
        },
        _ => {
            let reason = "`malloc` gives an address of 64 bits";
            return Err(Stop::unsupported("call", reason));
        }
    }
    Ok(())
}

/// `free`: each lane frees what it names; 0 is ignored.
fn free<O: Observer>(step: &mut Step<'_, '_, O>, mask: u32, address: Argument) -> Result<(), Stop> {
    for lane in lanes(mask) {
        let address = argument(step.warp, &step.view, address, lane);
        if address == 0 {
            continue;
        }
        let heap = step.launch.heap.filter(|heap| heap.has(address));
        let allocation = || step.launch.memory.find(address);
        let freed = match heap {
            Some(heap) => heap.free(address),
            None => Err(NotTaken {
                is_freed: false,
                relation: allocation().map_or(Relation::Nowhere, |a| a.relation(address)),
            }),
        };
        if let Err(NotTaken { is_freed, relation }) = freed {
            let kind = FaultKind::InvalidFree {
                address,
                is_freed,
                relation,
            };
            return Err(Stop::fault(1 << lane, kind));
        }
    }
    Ok(())
}

//! Where the lanes of a block go: branches, calls, returns, barriers.

use super::{Env, PathView, Trouble, fault};
use crate::block::{Arrival, Waiter};
use crate::checks::access::BarrierArrival;
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::lanes::lanes;
use crate::launch::FUNCTION_BASE;
use crate::memory::local::LOCAL_LIMIT;
use crate::program::{
    Argument, Barrier, BarrierKind, BlockId, Call, CallTarget, ClockRead, Terminator,
};
use crate::step::external;
use crate::warp::{FrameId, Path, PathState, Warp};

/// What a path does after a block.
pub(crate) enum Next {
    /// It is in another block of the same call.
    Block,
    /// It is in another call.
    Frame,
    /// Its lanes wait at a join or have ended.
    Gone,
    /// It waits.
    Wait,
}

/// Carries out a block's terminator.
#[inline(always)]
pub(crate) fn leave<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    path: &mut Path,
) -> Result<Next, Box<Trouble>> {
    match &view.function.blocks[path.block as usize].terminator {
        Terminator::Jump(block) => {
            path.block = *block;
            Ok(Next::Block)
        }
        Terminator::Branch {
            guard,
            taken,
            other,
            join,
        } => {
            // SAFETY: The frame is alive and the guard is a predicate.
            let holds = unsafe { view.regs.predicate(guard.slot) } ^ guard.flip;
            let takers = path.mask & holds;
            if takers == path.mask {
                path.block = *taken;
                return Ok(Next::Block);
            }
            if takers == 0 {
                path.block = *other;
                return Ok(Next::Block);
            }
            let ways = [(*taken, takers), (*other, path.mask & !takers)];
            Ok(split(env, warp, view, path, &ways, *join))
        }
        Terminator::Switch {
            index,
            targets,
            join,
        } => {
            let mut ways: Vec<(BlockId, u32)> = Vec::new();
            // SAFETY: The decoder made the slot for 32-bit lanes.
            let indices = unsafe { view.regs.lanes::<u32>(*index) };
            for lane in lanes(path.mask) {
                let Some(block) = targets.get(indices[lane] as usize) else {
                    let kind = FaultKind::BadBranchIndex {
                        index: indices[lane],
                        n_targets: targets.len() as u32,
                    };
                    return Err(Box::new(fault(1 << lane, kind)));
                };
                match ways.iter_mut().find(|(b, _)| b == block) {
                    Some((_, mask)) => *mask |= 1 << lane,
                    None => ways.push((*block, 1 << lane)),
                }
            }
            if let [(block, _)] = ways[..] {
                path.block = block;
                return Ok(Next::Block);
            }
            Ok(split(env, warp, view, path, &ways, *join))
        }
        Terminator::Return => {
            if view.function.is_entry {
                warp.exit(path.mask);
                return Ok(Next::Gone);
            }
            return_from(env, warp, path)
        }
        Terminator::Exit => {
            warp.exit(path.mask);
            Ok(Next::Gone)
        }
        Terminator::Trap => {
            let message = env.launch.printed(env.ctaid, warp.index);
            Err(Box::new(fault(path.mask, FaultKind::Trap { message })))
        }
        Terminator::Call(call) => enter(env, warp, view, path, call),
        Terminator::Barrier(barrier) => at_barrier(env, warp, view, path, barrier),
    }
}

/// Sends parts of a path different ways. The path goes on as one of them.
fn split<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    path: &mut Path,
    ways: &[(BlockId, u32)],
    join: Option<BlockId>,
) -> Next {
    // Threads that just end need not wait for the others.
    let ends = |block: BlockId| {
        let target = &view.function.blocks[block as usize];
        target.first == target.end
            && match target.terminator {
                Terminator::Exit => true,
                Terminator::Return => view.function.is_entry,
                _ => false,
            }
    };
    let mut on = Vec::with_capacity(ways.len());
    for &(block, mask) in ways {
        if ends(block) {
            if O::ON {
                env.observer.block(view.first_block + block, mask);
            }
            warp.exit(mask);
            path.mask &= !mask;
        } else {
            on.push((block, mask));
        }
    }
    match on[..] {
        [] => return Next::Gone,
        [(block, _)] => {
            path.block = block;
            return Next::Block;
        }
        _ => {}
    }
    if let Some(block) = join {
        path.join = Some(warp.join_at(path, block));
    }
    let mut going = Vec::with_capacity(on.len());
    for (block, mask) in on {
        match path.join {
            // Straight to the join; some other part is still on its way.
            Some(id) if join == Some(block) => {
                let complete = warp.arrive(id, mask);
                debug_assert!(complete.is_none());
            }
            _ => going.push((block, mask)),
        }
    }
    let template = *path;
    let (first, rest) = going
        .split_first()
        .expect("not all parts go straight to the join");
    for &(block, mask) in rest.iter().rev() {
        warp.paths.push(Path {
            mask,
            block,
            ..template
        });
    }
    (path.block, path.mask) = *first;
    Next::Block
}

/// Moves an argument of `bytes` from one call's memory or register to
/// another's memory.
fn pass_in(warp: &mut Warp, from_frame: FrameId, argument: Argument, to_offset: u32, mask: u32) {
    match argument {
        Argument::Memory { offset, bytes } => {
            let from = warp.frames[from_frame].local_base + offset;
            copy_local(warp, from, to_offset, bytes, mask);
        }
        Argument::Register { slot, bytes } => {
            let regs = warp.frames[from_frame].registers.frame();
            for lane in lanes(mask) {
                // SAFETY: The decoder made the slot for `bytes` a lane.
                let value = unsafe { regs.get(slot, bytes, lane) };
                warp.local.write(lane, to_offset, bytes, u128::from(value));
            }
        }
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

/// Carries out a call.
fn enter<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    path: &mut Path,
    call: &Call,
) -> Result<Next, Box<Trouble>> {
    let index = match &call.target {
        CallTarget::Function(id) => id.0 as usize,
        CallTarget::External(name) => {
            external::call(env, warp, view, name, call, path.mask)?;
            return match call.next {
                Some(next) => {
                    path.block = next;
                    Ok(Next::Block)
                }
                None => {
                    warp.exit(path.mask);
                    Ok(Next::Gone)
                }
            };
        }
        CallTarget::Pointer(slot) => {
            // SAFETY: The decoder made the slot for 64-bit lanes.
            let addresses = unsafe { view.regs.lanes::<u64>(*slot) };
            let address = addresses[path.mask.trailing_zeros() as usize];
            let others: u32 = lanes(path.mask)
                .filter(|&l| addresses[l] != address)
                .map(|l| 1 << l)
                .sum();
            if others != 0 {
                // Lanes that call another function come again later, to the call only.
                warp.paths.push(Path {
                    mask: others,
                    at: Path::AT_END,
                    ..*path
                });
                path.mask &= !others;
                if let Some(next) = call.next {
                    path.join = Some(warp.join_at(
                        &Path {
                            mask: path.mask | others,
                            ..*path
                        },
                        next,
                    ));
                    let join = path.join;
                    warp.paths.last_mut().expect("just pushed").join = join;
                }
            }
            let index = address.wrapping_sub(FUNCTION_BASE) / 16;
            let known = address % 16 == 0 && env.launch.has_function(index as usize);
            if !known {
                let kind = FaultKind::BadCallTarget { address };
                return Err(Box::new(fault(path.mask, kind)));
            }
            index as usize
        }
    };
    let callee = env.launch.function(index);
    let local_base = (view.local_base + view.function.local_bytes).next_multiple_of(16);
    let needed_bytes = local_base + callee.local_bytes;
    if needed_bytes > LOCAL_LIMIT {
        let kind = FaultKind::StackOverflow {
            needed_bytes,
            limit_bytes: LOCAL_LIMIT,
        };
        return Err(Box::new(fault(path.mask, kind)));
    }
    if call.arguments.len() != callee.param_offsets.len() {
        return Err(Box::new(Trouble::Internal(format!(
            "a call passes {} arguments to a function of {}",
            call.arguments.len(),
            callee.param_offsets.len()
        ))));
    }
    let frame = env.launch.push_frame(warp, index, local_base, env.ctaid);
    warp.frames[frame].lanes = path.mask;
    warp.frames[frame].caller = Some((path.frame, path.block));
    if O::ON {
        let lanes = env.lanes(warp, path.mask);
        let end = local_base + callee.local_bytes;
        env.observer.local_begins(lanes, local_base..end);
    }
    for (argument, offset) in call.arguments.iter().zip(&callee.param_offsets) {
        let start = local_base + offset;
        pass_in(warp, path.frame, *argument, start, path.mask);
        if O::ON {
            let lanes = env.lanes(warp, path.mask);
            env.observer
                .local_passed(lanes, start..start + argument.bytes());
        }
    }
    path.frame = frame;
    path.block = 0;
    Ok(Next::Frame)
}

/// Returns from a device function.
fn return_from<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    path: &mut Path,
) -> Result<Next, Box<Trouble>> {
    let frame = &mut warp.frames[path.frame];
    frame.lanes &= !path.mask;
    let (from_base, callee) = (frame.local_base, env.launch.function(frame.function));
    let Some((caller, block)) = frame.caller else {
        return Err(Box::new(Trouble::Internal(
            "a return without a call".to_owned(),
        )));
    };
    let caller_function = env.launch.function(warp.frames[caller].function);
    let Terminator::Call(call) = &caller_function.blocks[block as usize].terminator else {
        return Err(Box::new(Trouble::Internal(
            "a return to something not a call".to_owned(),
        )));
    };
    for (value, offset) in call.returns.iter().zip(&callee.return_offsets) {
        match *value {
            Argument::Memory { offset: to, bytes } => {
                let to = warp.frames[caller].local_base + to;
                copy_local(warp, from_base + offset, to, bytes, path.mask);
                if O::ON {
                    let lanes = env.lanes(warp, path.mask);
                    env.observer.local_passed(lanes, to..to + bytes);
                }
            }
            Argument::Register { slot, bytes } => {
                let regs = warp.frames[caller].registers.frame();
                for lane in lanes(path.mask) {
                    let bits = warp.local.read(lane, from_base + offset, bytes) as u64;
                    // SAFETY: The decoder made the slot for `bytes` a lane.
                    unsafe { regs.set(slot, bytes, lane, bits) };
                }
            }
        }
    }
    let Some(next) = call.next else {
        // A function that promised not to return did: the threads end.
        warp.exit(path.mask);
        return Ok(Next::Gone);
    };
    path.frame = caller;
    path.block = next;
    Ok(Next::Frame)
}

/// Comes to a block barrier.
fn at_barrier<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    path: &mut Path,
    barrier: &Barrier,
) -> Result<Next, Box<Trouble>> {
    if barrier.aligned && path.mask != warp.live && !gather_at_barrier(warp, view, path) {
        return Ok(Next::Wait);
    }
    let lane = path.mask.trailing_zeros() as usize;
    // SAFETY: The decoder made these slots for 32-bit lanes and predicates.
    let (id, threads, source) = unsafe {
        (
            view.regs.lanes::<u32>(barrier.id)[lane],
            barrier
                .threads
                .map(|slot| view.regs.lanes::<u32>(slot)[lane]),
            barrier
                .source
                .map(|guard| view.regs.predicate(guard.slot) ^ guard.flip),
        )
    };
    let bad = |message: String| Box::new(fault(path.mask, FaultKind::BadBarrier { message }));
    if id >= 16 {
        return Err(bad(format!("number {id}; there are 16, from 0")));
    }
    if let Some(n) = threads
        && (n == 0 || n % 32 != 0)
    {
        return Err(bad(format!(
            "a count of {n} threads is not a positive multiple of 32"
        )));
    }
    if threads.is_none() && barrier.kind == BarrierKind::Arrive {
        return Err(bad("an arrival without a thread count".to_owned()));
    }
    let waits = barrier.kind != BarrierKind::Arrive;
    // Where the warp came along several paths, each arrives for its lanes; the
    // warp counts as a whole all the same.
    let place = (path.frame, path.block, path.at);
    let here = (path.frame, barrier.next);
    let mut n_arrived = if barrier.aligned {
        32
    } else {
        path.mask.count_ones()
    };
    if O::ON {
        let block = &view.function.blocks[path.block as usize];
        let lanes = env.lanes(
            warp,
            if barrier.aligned {
                warp.live
            } else {
                path.mask
            },
        );
        env.observer.arrived(&BarrierArrival {
            instruction: view.first_instruction + block.ptx_end.saturating_sub(1),
            lanes,
            barrier: id as usize,
            threads,
            waits,
        });
    }
    let mut come = |path: &mut Path| {
        env.barriers.arrive(Arrival {
            id: id as usize,
            n_arrived,
            warp: warp.index,
            mask: path.mask,
            threads,
            votes: source.map(|s| s & path.mask),
        });
        n_arrived = 0;
        (path.block, path.at) = (here.1, 0);
        if waits {
            path.state = PathState::AtBarrier;
            env.barriers.waiters.push(Waiter {
                id: id as usize,
                warp: warp.index,
                mask: path.mask,
                frame: here.0,
                destination: barrier.d.map(|slot| (slot, barrier.kind)),
            });
        } else {
            path.state = PathState::Ready;
        }
    };
    come(path);
    if barrier.aligned {
        for other in &mut warp.paths {
            let waits_here = matches!(other.state, PathState::AtCollective { .. });
            if waits_here && (other.frame, other.block, other.at) == place {
                come(other);
            }
        }
    }
    Ok(if waits { Next::Wait } else { Next::Block })
}

/// Lanes of a warp come to an aligned barrier without the others. They may
/// have drifted apart by waiting for each other, so they wait for the rest;
/// gives whether all are there now.
#[cold]
fn gather_at_barrier(warp: &Warp, view: &PathView<'_>, path: &mut Path) -> bool {
    let block = &view.function.blocks[path.block as usize];
    path.at = block.end - block.first;
    path.state = PathState::AtCollective { members: warp.live };
    let here = warp
        .paths
        .iter()
        .filter(|p| {
            matches!(p.state, PathState::AtCollective { .. })
                && (p.frame, p.block, p.at) == (path.frame, path.block, path.at)
        })
        .fold(path.mask, |mask, p| mask | p.mask);
    here == warp.live
}

/// Reads a clock. Time is counted in warp instructions of this worker.
pub(crate) fn read_clock<O: Observer>(
    env: &mut Env<'_, O>,
    view: &PathView<'_>,
    op: ClockRead,
    mask: u32,
) {
    let value = env.launch.clock(env.slice) >> op.shift;
    for lane in lanes(mask) {
        // SAFETY: The decoder made the slot for `bytes` a lane.
        unsafe { view.regs.set(op.d, op.bytes, lane, value) };
    }
}

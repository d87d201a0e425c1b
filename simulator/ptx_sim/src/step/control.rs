//! Control flow of a block's lanes: branches, calls, returns, barriers.

use super::context::Step;
use super::next::Next;
use super::{barrier, call, cluster_barrier};
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::lanes::lanes;
use crate::program::{Block, BlockId, Slot, Terminator};
use crate::stop::Stop;
use crate::warp::Path;

/// Carries out a block's terminator.
#[inline(always)]
pub(super) fn leave<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    block: &Block,
) -> Result<Next, Stop> {
    // Most blocks end like this, and mostly the lanes agree.
    if let Terminator::Branch {
        guard,
        taken,
        other,
        join,
    } = &block.terminator
    {
        // SAFETY: The frame is alive and the guard is a predicate.
        let holds = unsafe { step.view.regs.predicate(guard.slot) } ^ guard.flip;
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
        return Ok(diverge(step, path, ways, *join));
    }
    if let Terminator::Jump(block) = &block.terminator {
        path.block = *block;
        return Ok(Next::Block);
    }
    leave_otherwise(step, path, block)
}

/// Splits a path in two.
#[inline(never)]
fn diverge<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    mut ways: [(BlockId, u32); 2],
    join: Option<BlockId>,
) -> Next {
    split(step, path, &mut ways, join)
}

/// Carries out a block's terminator that is not a branch.
#[inline(never)]
fn leave_otherwise<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    block: &Block,
) -> Result<Next, Stop> {
    let view = step.view;
    match &block.terminator {
        Terminator::Jump(_) | Terminator::Branch { .. } => {
            Err(Stop::internal("jumps and branches are `leave`'s"))
        }
        Terminator::Switch {
            index,
            targets,
            join,
        } => switch(step, path, *index, targets, *join),
        Terminator::Return => {
            if view.function.is_entry {
                step.warp.exit(path.mask);
                return Ok(Next::Gone);
            }
            call::return_from(step, path)
        }
        Terminator::Exit => {
            step.warp.exit(path.mask);
            Ok(Next::Gone)
        }
        Terminator::Trap => {
            let printed = &step.launch.printed;
            let lane = path.mask.trailing_zeros();
            let message = printed.last_of(step.env.ctaid, (step.warp.index, lane));
            Err(Stop::fault(path.mask, FaultKind::Trap { message }))
        }
        Terminator::Call(call) => call::enter(step, path, call),
        Terminator::Barrier(barrier) => {
            step.number = view.first_instruction + block.last();
            barrier::arrive(step, path, barrier)
        }
        Terminator::ClusterBarrier(barrier) => cluster_barrier::come(step, path, barrier),
    }
}

/// `brx.idx`: each lane goes where its index says.
fn switch<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    index: Slot,
    targets: &[BlockId],
    join: Option<BlockId>,
) -> Result<Next, Stop> {
    let mut ways: Vec<(BlockId, u32)> = Vec::new();
    // SAFETY: The decoder made the slot for 32-bit lanes.
    let indices = unsafe { step.view.regs.lanes::<u32>(index) };
    for lane in lanes(path.mask) {
        let Some(block) = targets.get(indices[lane] as usize) else {
            let kind = FaultKind::BadBranchIndex {
                index: indices[lane],
                n_targets: targets.len() as u32,
            };
            return Err(Stop::fault(1 << lane, kind));
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
    Ok(split(step, path, &mut ways, join))
}

/// Splits a path into diverging parts. The path goes on as one of them.
fn split<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &mut Path,
    ways: &mut [(BlockId, u32)],
    join: Option<BlockId>,
) -> Next {
    let view = step.view;
    // Threads that just end need not wait for the others.
    let ends = |block: BlockId| {
        let target = &view.function.blocks[block as usize];
        target.is_only_an_end()
            && match target.terminator {
                Terminator::Exit => true,
                Terminator::Return => view.function.is_entry,
                _ => false,
            }
    };
    let on = keep(ways, |(block, mask)| {
        if !ends(block) {
            return true;
        }
        if O::ON {
            step.env.observer.block(view.first_block + block, mask);
        }
        step.warp.exit(mask);
        path.mask &= !mask;
        false
    });
    match *on {
        [] => return Next::Gone,
        [(block, _)] => {
            path.block = block;
            return Next::Block;
        }
        _ => {}
    }
    let mut join = join;
    if let Some(choices) = &mut step.env.choices
        && choices.stay_diverged()
    {
        join = None;
    }
    if let Some(block) = join {
        path.join = Some(step.warp.join_at(path, block));
    }
    let mut complete = None;
    let going = keep(on, |(block, mask)| match path.join {
        // Straight to the join; mostly some other part has not arrived yet.
        Some(id) if join == Some(block) => {
            complete = step.warp.arrive(id, mask);
            false
        }
        _ => true,
    });
    let template = *path;
    let Some((first, rest)) = going.split_first() else {
        // All parts went there; they complete the join or not.
        return match complete {
            Some(joined) => {
                *path = joined;
                Next::Block
            }
            None => Next::Gone,
        };
    };
    for &(block, mask) in rest.iter().rev() {
        step.warp.paths.push(Path {
            mask,
            block,
            ..template
        });
    }
    (path.block, path.mask) = *first;
    Next::Block
}

/// Moves the items to be kept to the front, and returns them.
#[inline(always)]
fn keep<T: Copy>(list: &mut [T], mut is_kept: impl FnMut(T) -> bool) -> &mut [T] {
    let mut n_kept = 0;
    for i in 0..list.len() {
        if is_kept(list[i]) {
            list[n_kept] = list[i];
            n_kept += 1;
        }
    }
    &mut list[..n_kept]
}

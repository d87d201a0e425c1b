//! Lanes of a warp that come to a warp-wide instruction along different paths.
//!
//! Each path waits before the instruction until together they are complete.

use super::context::Step;
use super::instruction::carry_out;
use crate::checks::observer::Observer;
use crate::program::Insn;
use crate::stop::Stop;
use crate::warp::{Path, PathState, Warp};

/// A path waits at a collective instruction. If that completes its members,
/// the instruction is carried out for all of them and they may go on.
pub(super) fn gather<O: Observer>(
    step: &mut Step<'_, '_, O>,
    insn: &Insn,
    mut path: Path,
    mask: u32,
) -> Result<Path, Stop> {
    let place = (path.frame, path.block, path.at);
    let mut union = mask;
    let mut needed = 0;
    if let PathState::AtCollective { members } = path.state {
        needed |= members;
    }
    for other in &step.warp.paths {
        let PathState::AtCollective { members } = other.state else {
            continue;
        };
        if (other.frame, other.block, other.at) != place {
            continue;
        }
        let mut theirs = other.mask;
        if let Some(guard) = insn.guard {
            // SAFETY: The frame is alive and the guard is a predicate.
            theirs &= unsafe { step.view.regs.predicate(guard.slot) } ^ guard.flip;
        }
        union |= theirs;
        needed |= members;
    }
    if needed & step.warp.live & !union != 0 {
        return Ok(path);
    }
    match carry_out(step, &insn.op, union) {
        Err(Stop::NeedsLanes { .. }) => {
            let message = "a complete group of lanes is told to wait";
            return Err(Stop::internal(message));
        }
        outcome => outcome?,
    }
    for other in &mut step.warp.paths {
        if matches!(other.state, PathState::AtCollective { .. })
            && (other.frame, other.block, other.at) == place
        {
            other.state = PathState::Ready;
            other.at += 1;
        }
    }
    path.state = PathState::Ready;
    path.at += 1;
    Ok(path)
}

/// Wakes paths whose missing members have ended in the meantime. Gives whether
/// there were any.
pub(crate) fn wake_complete(warp: &mut Warp) -> bool {
    let snapshot = warp.paths.clone();
    let mut woken = false;
    for path in &mut warp.paths {
        let PathState::AtCollective { members } = path.state else {
            continue;
        };
        let here: u32 = snapshot
            .iter()
            .filter(|p| {
                matches!(p.state, PathState::AtCollective { .. })
                    && (p.frame, p.block, p.at) == (path.frame, path.block, path.at)
            })
            .fold(0, |mask, p| mask | p.mask);
        if members & warp.live & !here == 0 {
            path.state = PathState::Ready;
            woken = true;
            break;
        }
    }
    woken
}

//! Lanes of a warp that come to a warp-wide instruction along different paths, or
//! some of them not at all.
//!
//! Each path waits before the instruction until together they are complete: until
//! every lane that one of them names is there or has ended.

use super::context::Step;
use super::followed::followed;
use super::instruction::carry_out;
use crate::checks::observer::Observer;
use crate::context::LaunchContext;
use crate::program::Insn;
use crate::stop::Stop;
use crate::warp::{Path, PathState, Warp};

/// Some lanes of a path, those of `mask`, wait at a collective instruction. If that
/// completes its members, the instruction is carried out for all of them and they
/// may go on.
pub(super) fn gather<O: Observer>(
    step: &mut Step<'_, '_, O>,
    insn: &Insn,
    mut path: Path,
    (mask, members): (u32, u32),
) -> Result<Path, Stop> {
    leave_behind(step.warp, &mut path, mask);
    path.state = PathState::AtCollective { members };
    let group = Group::of(step.warp, &path);
    if !group.is_complete(step.warp) {
        return Ok(path);
    }
    match carry_out(step, &insn.op, group.here) {
        Err(Stop::NeedsLanes { .. }) => {
            let message = "a complete group of lanes is made to wait";
            return Err(Stop::internal(message));
        }
        Err(Stop::WaitsForWarps) => {
            // This path will execute it again, and gather the others.
            path.state = PathState::AtWarpgroup;
            return Ok(path);
        }
        outcome => outcome?,
    }
    if step.view.is_followed {
        followed(step, insn, group.here, true);
    }
    for other in &mut step.warp.paths {
        if other.mask & group.here != 0 {
            other.state = PathState::Ready;
            other.at += 1;
        }
    }
    path.state = PathState::Ready;
    path.at += 1;
    Ok(path)
}

/// The lanes of a path that an instruction's guard leaves out do not wait with the others,
/// which may be waiting for them. They go on alone, and meet the others where all meet
/// again.
fn leave_behind(warp: &mut Warp, path: &mut Path, mask: u32) {
    let left_out = path.mask & !mask;
    if left_out == 0 {
        return;
    }
    warp.paths.push(Path {
        mask: left_out,
        at: path.at + 1,
        state: PathState::Ready,
        ..*path
    });
    path.mask = mask;
}

/// Lanes at one instruction that wait for each other.
struct Group {
    here: u32,
    /// Those that they wait for, themselves included.
    needed: u32,
}

impl Group {
    /// The group of a waiting path: the path, and all paths at the same place that wait for
    /// its lanes or that it waits for, and so on.
    fn of(warp: &Warp, path: &Path) -> Self {
        let mut group = Self { here: 0, needed: 0 };
        let place = |p: &Path| (p.frame, p.block, p.at);
        group.add(path);
        let mut grows = true;
        while grows {
            grows = false;
            for other in &warp.paths {
                if place(other) == place(path) && other.mask & !group.here != 0 {
                    grows |= group.add_if_related(other);
                }
            }
        }
        group
    }

    fn add(&mut self, path: &Path) {
        if let PathState::AtCollective { members } = path.state {
            self.here |= path.mask;
            self.needed |= members;
        }
    }

    fn add_if_related(&mut self, path: &Path) -> bool {
        let PathState::AtCollective { members } = path.state else {
            return false;
        };
        let is_related = path.mask & self.needed != 0 || members & self.here != 0;
        if is_related {
            self.add(path);
        }
        is_related
    }

    /// Whether all lanes that have not ended are here.
    fn is_complete(&self, warp: &Warp) -> bool {
        self.needed & warp.live & !self.here == 0
    }
}

/// Wakes a path whose missing members have ended in the meantime, as a GPU does; for a
/// launch that looks for mistakes, their absence from a warp-wide instruction is one. Gives
/// whether there was one.
pub(crate) fn wake_complete(launch: &LaunchContext<'_>, warp: &mut Warp) -> bool {
    let is_complete = |path: &Path| {
        path.is_gathering()
            && (!launch.checks || launch.is_at_end(warp, path))
            && Group::of(warp, path).is_complete(warp)
    };
    let Some(woken) = warp.paths.iter().position(is_complete) else {
        return false;
    };
    warp.paths[woken].state = PathState::Ready;
    true
}

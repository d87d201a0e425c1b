//! A report of what a block's lanes do when its fuel is used up.

use std::collections::VecDeque;

use super::LaunchContext;
use crate::diagnostics::{Asks, Doing, FuelLimit, LanesDo, LaunchError, Lines, OutOfFuel, Place};
use crate::program::{Block, BlockId, Function, MbarrierKind, Op, Order, Terminator};
use crate::warp::{FrameId, Path, PathState, Warp};

impl LaunchContext<'_> {
    /// The launch's error: no fuel is left; in this block, warp `last` ran last.
    #[cold]
    pub fn out_of_fuel(
        &self,
        limit: FuelLimit,
        ctaid: [u32; 3],
        warps: &[Warp],
        last: usize,
    ) -> Box<LaunchError> {
        let mut doing: Vec<LanesDo> = Vec::new();
        for warp in warps.iter().filter(|warp| warp.live != 0) {
            for (lanes, what) in self.doing(warp) {
                let is_whole_warp = lanes == warp.live;
                let same = doing.iter_mut().find(|all| {
                    all.what == what
                        && (all.lanes == lanes || is_whole_warp)
                        && all.is_whole_warp == is_whole_warp
                });
                match same {
                    Some(same) => same.warps.push(warp.index),
                    None => doing.push(LanesDo {
                        warps: vec![warp.index],
                        lanes,
                        is_whole_warp,
                        what,
                    }),
                }
            }
        }
        // The warp that ran last may have ended meanwhile.
        let runs = |path: &&Path| path.state == PathState::Ready;
        let running = |warp: &Warp| warp.paths.iter().rev().find(runs).copied();
        let (before, after) = warps.split_at(last);
        let found = after
            .iter()
            .chain(before)
            .find(|warp| running(warp).is_some());
        let warp = found.unwrap_or(&warps[last]);
        let path = running(warp);
        let place = match &path {
            Some(path) => {
                let (frame, at) = self.asks_at(warp, path);
                self.place_in_calls(warp, frame, at)
            }
            None => self.place(self.kernel, u32::MAX),
        };
        let lanes = path.map_or(warp.live.max(1), |path| path.mask);
        Box::new(LaunchError::OutOfFuel(Box::new(OutOfFuel {
            limit,
            place,
            thread: self.thread_place(ctaid, warp.index, lanes.trailing_zeros()),
            doing,
            barriers: Vec::new(),
            in_cluster: Vec::new(),
            elsewhere: Vec::new(),
            n_not_begun: 0,
            most_resident: self.most_resident,
        })))
    }

    /// What the lanes of a warp do.
    fn doing(&self, warp: &Warp) -> Vec<(u32, Doing)> {
        let mut all: Vec<(u32, Doing)> = Vec::new();
        for path in &warp.paths {
            let function = warp.frames[path.frame as usize].function;
            let waits_at = || {
                let ptx = self.waiting_at(function, path.block, path.at);
                self.lines(function, ptx..ptx + 1)
            };
            let what = match path.state {
                PathState::Ready => self.runs(warp, path),
                PathState::AtBarrier => Doing::WaitAtBarrier(waits_at()),
                PathState::AtCluster => Doing::WaitAtCluster(waits_at()),
                PathState::AtCollective { .. } => Doing::WaitAtWarpWide(waits_at()),
                PathState::AtWarpgroup => Doing::WaitForWarps(waits_at()),
            };
            all.push((path.mask, what));
        }
        let waiting = warp.joins.iter().filter(|join| join.expected != 0);
        let waiting = waiting.fold(0, |lanes, join| lanes | join.arrived);
        if waiting != 0 {
            all.push((waiting, Doing::WaitForLanes));
        }
        all
    }

    /// The loop that a path runs in: in its own call, or in one that led there.
    fn loop_of(&self, warp: &Warp, path: &Path) -> Option<(FrameId, Vec<BlockId>)> {
        let (mut frame, mut block) = (path.frame, path.block);
        loop {
            let called = &warp.frames[frame as usize];
            let cycle = shortest_cycle(self.function(called.function), block);
            if !cycle.is_empty() {
                return Some((frame, cycle));
            }
            (frame, block) = called.caller?;
        }
    }

    fn runs(&self, warp: &Warp, path: &Path) -> Doing {
        let Some((frame, cycle)) = self.loop_of(warp, path) else {
            let function = warp.frames[path.frame as usize].function;
            let ptx = self.function(function).blocks[path.block as usize].ptx_first;
            let at = self.lines(function, ptx..ptx + 1);
            return Doing::Run {
                at,
                is_loop: false,
                asks: Asks::Nothing,
            };
        };
        let index = warp.frames[frame as usize].function;
        let function = self.function(index);
        let blocks = cycle.iter().map(|&block| &function.blocks[block as usize]);
        let asks = blocks.clone().map(|block| asks(function, block).0);
        Doing::Run {
            is_loop: true,
            asks: asks
                .max_by_key(|&asks| asks as u32)
                .unwrap_or(Asks::Nothing),
            at: self.lines(
                index,
                blocks.flat_map(|block| block.ptx_first..block.ptx_end),
            ),
        }
    }

    /// The instruction by which a path's loop asks for what it waits for: its call, and
    /// its number in the function.
    fn asks_at(&self, warp: &Warp, path: &Path) -> (FrameId, u32) {
        let of = |frame: FrameId, block: BlockId| {
            let function = self.function(warp.frames[frame as usize].function);
            (function, &function.blocks[block as usize])
        };
        let (_, here) = of(path.frame, path.block);
        let Some((frame, cycle)) = self.loop_of(warp, path) else {
            return (path.frame, here.ptx_first);
        };
        let all = cycle.iter().map(|&block| {
            let (function, block) = of(frame, block);
            asks(function, block)
        });
        let most = all.max_by_key(|&(asks, _)| asks as u32);
        let first = of(frame, cycle[0]).1.ptx_first;
        (frame, most.map_or(first, |(_, ptx)| ptx))
    }

    /// The lines of instructions of a function.
    fn lines(&self, function: usize, instructions: impl Iterator<Item = u32>) -> Lines {
        let places: Vec<Place> = instructions.map(|ptx| self.place(function, ptx)).collect();
        let lines = places.iter().map(|place| place.ptx_line);
        let mut sources: Vec<_> = places.iter().filter_map(|p| p.source.as_ref()).collect();
        let file = sources.first().map(|source| &source.file);
        let file = file.cloned().unwrap_or_default();
        sources.retain(|source| source.file == file);
        let first = sources
            .iter()
            .min_by_key(|source| (source.line, source.column));
        let last = sources.iter().map(|source| source.line).max();
        Lines {
            ptx: (
                lines.clone().min().unwrap_or_default(),
                lines.max().unwrap_or_default(),
            ),
            source: first.map(|&first| (first.clone(), last.unwrap_or(first.line))),
        }
    }
}

/// What a block of a loop asks memory for, and by which PTX instruction.
fn asks(function: &Function, block: &Block) -> (Asks, u32) {
    let code = &function.code[block.first as usize..block.end as usize];
    let asked = code.iter().map(|insn| {
        let asks = match &insn.op {
            Op::Mbarrier(op) if matches!(op.kind, MbarrierKind::Wait { .. }) => Asks::Mbarrier,
            Op::Atomic(_) => Asks::Atomic,
            Op::Load(op) if op.order != Order::Weak => Asks::Flag,
            Op::LoadParts(op) if op.whole.order != Order::Weak => Asks::Flag,
            Op::Load(_) | Op::LoadParts(_) => Asks::Loads,
            _ => Asks::Nothing,
        };
        (asks, insn.ptx)
    });
    let most = asked.rev().max_by_key(|&(asks, _)| asks as u32);
    most.unwrap_or((Asks::Nothing, block.ptx_first))
}

/// The blocks of the shortest way from a block back to itself, that block first; none
/// if there is no way.
fn shortest_cycle(function: &Function, start: BlockId) -> Vec<BlockId> {
    let mut from: Vec<Option<BlockId>> = vec![None; function.blocks.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(block) = queue.pop_front() {
        for next in successors(&function.blocks[block as usize]) {
            if from[next as usize].is_some() {
                continue;
            }
            from[next as usize] = Some(block);
            if next == start {
                let back = std::iter::successors(from[start as usize], |&block| {
                    (block != start).then(|| from[block as usize])?
                });
                let mut cycle: Vec<BlockId> = back.collect();
                cycle.reverse();
                return cycle;
            }
            queue.push_back(next);
        }
    }
    Vec::new()
}

/// Where the lanes of a block can go, past its call or barrier.
fn successors(block: &Block) -> Vec<BlockId> {
    match &block.terminator {
        Terminator::Jump(next) => vec![*next],
        Terminator::Branch { taken, other, .. } => vec![*taken, *other],
        Terminator::Switch { targets, .. } => targets.clone(),
        Terminator::Call(call) => call.next.into_iter().collect(),
        Terminator::Barrier(barrier) => vec![barrier.next],
        Terminator::ClusterBarrier(barrier) => vec![barrier.next],
        Terminator::Return | Terminator::Exit | Terminator::Trap => Vec::new(),
    }
}

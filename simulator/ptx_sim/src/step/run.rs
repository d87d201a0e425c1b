//! The interpreter's loop.

use super::context::{Env, PathView, Step};
use super::followed::{branching, followed};
use super::instruction::carry_out_in_loop;
use super::next::Next;
use super::{control, gather};
use crate::checks::observer::{Now, Observer};
use crate::diagnostics::LaunchError;
use crate::lanes::LaneOp;
use crate::program::{Block, Insn, Terminator};
use crate::registers::FramePtr;
use crate::schedule::Choices;
use crate::stop::Stop;
use crate::warp::{Path, PathState, Warp};

/// Why a path stopped running.
pub(crate) enum PathEnd {
    /// Its lanes wait at a join or have ended.
    Gone,
    /// It can go on when it is its turn, or when what it waits for has happened.
    Paused(Path),
}

/// Runs a path until it cannot go on or its slice ends.
#[inline(always)]
pub(crate) fn run_path<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    mut path: Path,
) -> Result<PathEnd, Box<LaunchError>> {
    'frame: loop {
        let frame = &warp.frames[path.frame as usize];
        let launch = env.launch;
        let function = launch.function(frame.function);
        let (first_instruction, first_block) = launch.numbers(frame.function);
        let view = PathView {
            function,
            regs: frame.registers.frame(),
            local_base: frame.local_base,
            first_instruction,
            first_block,
            is_followed: O::ON && launch.checks && launch.plan.shuffles,
        };
        let step = &mut Step {
            launch,
            env: &mut *env,
            frame: path.frame,
            function: frame.function,
            warp: &mut *warp,
            view,
            number: first_instruction,
        };
        loop {
            let block = &function.blocks[path.block as usize];
            if let Some(merged) = join(step.warp, &path, block) {
                match merged {
                    Some(merged) => {
                        path = merged;
                        continue;
                    }
                    None => return Ok(PathEnd::Gone),
                }
            }
            if path.at == 0 {
                if step.env.slice <= 0 {
                    return Ok(PathEnd::Paused(path));
                }
                step.env.slice -= i64::from(block.cost());
                if O::ON {
                    let number = first_block + path.block;
                    step.env.observer.block(number, path.mask);
                }
            }
            let mut code = &function.code[block.first as usize..block.end as usize];
            let mut is_whole = true;
            if path.at != 0 {
                code = rest(code, path.at);
            }
            if let Some(choices) = &mut step.env.choices {
                (code, is_whole) = cut(choices, code);
            }
            if let Err((done, mask, stop)) = straight(step, code, path.mask) {
                path.at += done as u32;
                return interrupted(step, path, mask, stop);
            }
            if !is_whole {
                path.at += code.len() as u32;
                return Ok(interleaved(step, path));
            }
            ask_at_end(step, &path, code, block)?;
            path.at = 0;
            branching(step, block, path.mask);
            match control::leave(step, &mut path, block) {
                Ok(Next::Block) => {}
                Ok(Next::Frame) => continue 'frame,
                Ok(Next::Gone) => return Ok(PathEnd::Gone),
                Ok(Next::Wait) => return Ok(PathEnd::Paused(path)),
                Err(stop) => {
                    let block = &function.blocks[path.block as usize];
                    return Err(ended(step, &path, block.last(), stop));
                }
            }
        }
    }
}

/// If a path reaches its join: the path that goes on from there, if all have come.
#[inline(always)]
fn join(warp: &mut Warp, path: &Path, block: &Block) -> Option<Option<Path>> {
    if block.is_join
        && path.at == 0
        && let Some(id) = path.join
        && warp.joins[id as usize].block == path.block
        && warp.joins[id as usize].frame == path.frame
    {
        return Some(warp.arrive(id, path.mask));
    }
    None
}

/// Executes instructions one after the other for the lanes of `path_mask`. If one stops:
/// its place, its lanes, and why.
#[inline(always)]
fn straight<O: Observer>(
    step: &mut Step<'_, '_, O>,
    code: &[Insn],
    path_mask: u32,
) -> Result<(), (usize, u32, Stop)> {
    let view = step.view;
    let mut done = 0;
    while let Some(insn) = code.get(done) {
        if insn.n_lanewise > 0 && !(O::ON && view.is_followed && step.env.observer.follows()) {
            // A schedule may have cut the code off.
            let mut n = (code.len() - done).min(insn.n_lanewise as usize);
            if O::STEPS {
                n = admitted(step, insn.ptx, (path_mask, path_mask), n, None);
                if n == 0 {
                    return Err((done, path_mask, Stop::Halted));
                }
            }
            let first = insn.lanewise as usize;
            lanewise(
                view.regs,
                &view.function.lanewise[first..first + n],
                path_mask,
            );
            done += n;
            continue;
        }
        let mut mask = path_mask;
        if let Some(guard) = insn.guard {
            // SAFETY: The frame is alive and the guard is a predicate.
            mask &= unsafe { view.regs.predicate(guard.slot) } ^ guard.flip;
            if O::ON {
                let number = view.first_instruction + insn.ptx;
                step.env.observer.guarded(number, mask, path_mask);
            }
        }
        if O::STEPS && admitted(step, insn.ptx, (path_mask, mask), 1, None) == 0 {
            return Err((done, mask, Stop::Halted));
        }
        if mask != 0 {
            step.number = view.first_instruction + insn.ptx;
            if O::ON && view.is_followed {
                followed(step, insn, mask, false);
            }
            if let Err(stop) = carry_out_in_loop(step, &insn.op, mask) {
                return Err((done, mask, stop));
            }
            if O::ON && view.is_followed {
                followed(step, insn, mask, true);
            }
        }
        done += 1;
    }
    Ok(())
}

/// How many of `n` instructions that a path has come to the observer lets it carry out; one, if it
/// ends a block.
#[inline(always)]
fn admitted<O: Observer>(
    step: &mut Step<'_, '_, O>,
    ptx: u32,
    (lanes, active): (u32, u32),
    n: usize,
    end: Option<&Terminator>,
) -> usize {
    let now = Now {
        warp: &*step.warp,
        shared: step.env.shared,
        block: step.env.block,
        frame: step.frame,
        function: step.function,
        ptx,
        lanes,
        active,
        end,
    };
    step.env.observer.admit(&now, n as u32) as usize
}

/// Asks the observer whether lanes may carry out the instruction that ends a block. Jumps are mostly
/// no instruction: no one is asked.
#[inline(always)]
fn ask_at_end<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: &Path,
    code: &[Insn],
    block: &Block,
) -> Result<(), Box<LaunchError>> {
    if !O::STEPS || matches!(block.terminator, Terminator::Jump(_)) {
        return Ok(());
    }
    let lanes = (path.mask, path.mask);
    if admitted(step, block.last(), lanes, 1, Some(&block.terminator)) != 0 {
        return Ok(());
    }
    // All that was left of the block is done.
    let at = path.at + code.len() as u32;
    Err(halted(step, Path { at, ..*path }, block.last()))
}

/// A debugger halts the launch; the path stays where it is.
#[cold]
fn halted<O: Observer>(step: &mut Step<'_, '_, O>, path: Path, ptx: u32) -> Box<LaunchError> {
    step.warp.paths.push(path);
    ended(step, &path, ptx, Stop::Halted)
}

/// Executes instructions that are all lane-wise, for the lanes of `mask`: nothing can stop
/// them, and no one watches.
#[inline(always)]
fn lanewise(registers: FramePtr, ops: &[LaneOp], mask: u32) {
    for op in ops {
        // SAFETY: The decoder checked the operands against the frame's layout, and no
        // reference into it is held here.
        unsafe { (op.run)(registers.0, op, mask) };
    }
}

/// The instructions after the first `n_done`.
#[cold]
fn rest(code: &[Insn], n_done: u32) -> &[Insn] {
    code.get(n_done as usize..).unwrap_or_default()
}

/// The instructions that a schedule allows before others go on, and whether those are all.
#[cold]
fn cut<'c>(choices: &mut Choices, code: &'c [Insn]) -> (&'c [Insn], bool) {
    let all = code.len() as u32;
    let n = choices.instructions(all);
    (&code[..n as usize], n == all)
}

/// A schedule lets others go on in the middle of a block.
#[cold]
fn interleaved<O: Observer>(step: &mut Step<'_, '_, O>, path: Path) -> PathEnd {
    let env = &mut *step.env;
    env.given_up += env.slice.max(0);
    env.slice = 0;
    PathEnd::Paused(path)
}

/// The instruction that a path has reached was not executed. If it waits for other lanes,
/// the path waits before it, or goes on after it if they were already there.
#[cold]
fn interrupted<O: Observer>(
    step: &mut Step<'_, '_, O>,
    path: Path,
    mask: u32,
    stop: Stop,
) -> Result<PathEnd, Box<LaunchError>> {
    let function = step.view.function;
    let block = &function.blocks[path.block as usize];
    let insn = &function.code[(block.first + path.at) as usize];
    let stop = match stop {
        Stop::NeedsLanes { members } => match gather::gather(step, insn, path, (mask, members)) {
            Ok(path) => return Ok(PathEnd::Paused(path)),
            Err(stop) => stop,
        },
        Stop::Halted => return Err(halted(step, path, insn.ptx)),
        Stop::WaitsForWarps => {
            let state = PathState::AtWarpgroup;
            return Ok(PathEnd::Paused(Path { state, ..path }));
        }
        stop => stop,
    };
    Err(ended(step, &path, insn.ptx, stop))
}

/// The launch's error, by an instruction of a path.
#[cold]
fn ended<O: Observer>(
    step: &Step<'_, '_, O>,
    path: &Path,
    ptx: u32,
    stop: Stop,
) -> Box<LaunchError> {
    step.launch
        .stopped(step.env.ctaid, step.warp, (path.frame, ptx), stop)
}

//! Carrying out instructions.
//!
//! [`run_path`] is the interpreter's loop: it runs the lanes of one path, block
//! after block, until they end, wait, meet others or use up their time slice.
//! [`step`] carries out one instruction; each kind has its own file.

pub(crate) mod access;
pub(crate) mod atomic;
pub(crate) mod collective;
pub(crate) mod control;
pub(crate) mod external;
pub(crate) mod matrix;
pub(crate) mod mbarrier;
pub(crate) mod predicate;
mod printf;

use crate::block::BlockBarriers;
use crate::checks::access::Lanes;
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::launch::LaunchContext;
use crate::memory::shared::SharedMemory;
use crate::program::{BlockId, Function, Insn, Op};
use crate::registers::FramePtr;
use crate::warp::{FrameId, IDLE_POLLS, Path, PathState, Warp};

/// What the instructions of one block's warps work on, beside the warp.
pub(crate) struct Env<'a, O: Observer> {
    /// What is the same for the whole launch.
    pub launch: &'a LaunchContext<'a>,
    /// The block's shared memory.
    pub shared: &'a SharedMemory,
    /// The block's barriers.
    pub barriers: &'a mut BlockBarriers,
    /// `%ctaid`
    pub ctaid: [u32; 3],
    /// The block's number in the grid.
    pub block: u64,
    /// Warp instructions until the slice ends.
    pub slice: i64,
    /// Warp instructions of the slice that the warp did not want.
    pub given_up: i64,
    /// What watches.
    pub observer: &'a mut O,
}

impl<O: Observer> Env<'_, O> {
    /// Lanes of a warp, as observers are told of them.
    pub fn lanes(&self, warp: &Warp, mask: u32) -> Lanes {
        Lanes {
            block: self.block,
            warp: warp.index,
            mask,
        }
    }
}

/// Notes that a warp looks as if it waits, and lets others go first once it
/// has done so for long enough.
#[inline]
pub(crate) fn poll<O: Observer>(env: &mut Env<'_, O>, warp: &mut Warp, weight: u32) {
    warp.idle_polls = warp.idle_polls.saturating_add(weight);
    if warp.looks_idle() && env.slice > 0 {
        env.given_up += env.slice;
        env.slice = 0;
    }
}

/// Why an instruction could not be carried out.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The kernel's fault, by this lane.
    Fault { lane: u32, kind: FaultKind },
    /// Not known.
    Unsupported { opcode: String, reason: String },
    /// Ours.
    Internal(String),
}

/// An instruction's outcome.
pub(crate) enum Stop {
    /// It waits for other lanes of the warp.
    NeedsLanes { members: u32 },
    /// It cannot be carried out.
    Trouble(Box<Trouble>),
}

impl From<Trouble> for Stop {
    #[cold]
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(Box::new(trouble))
    }
}

/// A fault by the lowest lane of a mask.
#[cold]
pub(crate) fn fault(mask: u32, kind: FaultKind) -> Trouble {
    Trouble::Fault {
        lane: mask.trailing_zeros().min(31),
        kind,
    }
}

/// Where in a function an instruction in trouble is.
#[derive(Clone, Copy)]
pub(crate) enum StuckAt {
    /// The instruction's number in the function.
    Instruction(u32),
    /// What a path waits for that has done `at` instructions of a block.
    Waiting {
        /// The block.
        block: BlockId,
        /// The instructions done.
        at: u32,
    },
}

/// An instruction in trouble: where it is, and what it is.
pub(crate) struct Stuck {
    /// The call.
    pub frame: FrameId,
    /// The instruction.
    pub place: StuckAt,
    /// What is wrong.
    pub trouble: Box<Trouble>,
}

/// The state that the instructions of a path see.
pub(crate) struct PathView<'a> {
    /// The function.
    pub function: &'a Function,
    /// Its registers.
    pub regs: FramePtr,
    /// Where its local memory starts.
    pub local_base: u32,
    /// What observers call its first instruction and its first block.
    pub first_instruction: u32,
    pub first_block: u32,
}

/// Why a path stopped running.
pub(crate) enum PathEnd {
    /// Its lanes wait at a join or have ended.
    Gone,
    /// It can go on when it is its turn, or when what it waits for is there.
    Paused(Path),
}

/// Runs a path until it cannot go on or its slice ends.
#[inline(always)]
pub(crate) fn run_path<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    mut path: Path,
) -> Result<PathEnd, Stuck> {
    'frame: loop {
        let frame = &warp.frames[path.frame];
        let launch = env.launch;
        let function = launch.function(frame.function);
        let (first_instruction, first_block) = launch.numbers(frame.function);
        let view = PathView {
            first_instruction,
            first_block,
            function,
            regs: frame.registers.frame(),
            local_base: frame.local_base,
        };
        loop {
            let block = &function.blocks[path.block as usize];
            if block.is_join
                && path.at == 0
                && let Some(id) = path.join
                && warp.joins[id].block == path.block
                && warp.joins[id].frame == path.frame
            {
                match warp.arrive(id, path.mask) {
                    Some(merged) => {
                        path = merged;
                        continue;
                    }
                    None => return Ok(PathEnd::Gone),
                }
            }
            if path.at == 0 {
                if env.slice <= 0 {
                    return Ok(PathEnd::Paused(path));
                }
                env.slice -= i64::from(block.ptx_end - block.ptx_first).max(1);
                if O::ON {
                    env.observer.block(view.first_block + path.block, path.mask);
                }
            }
            let first = block.first.saturating_add(path.at).min(block.end);
            let code = &function.code[first as usize..block.end as usize];
            for (done, insn) in code.iter().enumerate() {
                let mut mask = path.mask;
                if let Some(guard) = insn.guard {
                    // SAFETY: The frame is alive and the guard is a predicate.
                    mask &= unsafe { view.regs.predicate(guard.slot) } ^ guard.flip;
                    if O::ON {
                        let number = view.first_instruction + insn.ptx;
                        env.observer.guarded(number, mask, path.mask);
                    }
                    if mask == 0 {
                        continue;
                    }
                }
                if let Op::Lanes(op) = &insn.op {
                    // SAFETY: The decoder checked the operands against the
                    // frame's layout, and no reference into it is held here.
                    unsafe { (op.run)(view.regs.0, op, mask) };
                    continue;
                }
                match step(env, warp, &view, insn, mask) {
                    Ok(()) => {}
                    Err(Stop::NeedsLanes { members }) => {
                        path.at += done as u32;
                        path.state = PathState::AtCollective { members };
                        return match collective::gather(env, warp, &view, insn, path, mask) {
                            Ok(path) => Ok(PathEnd::Paused(path)),
                            Err(trouble) => Err(Stuck {
                                frame: path.frame,
                                place: StuckAt::Instruction(insn.ptx),
                                trouble,
                            }),
                        };
                    }
                    Err(Stop::Trouble(trouble)) => {
                        return Err(Stuck {
                            frame: path.frame,
                            place: StuckAt::Instruction(insn.ptx),
                            trouble,
                        });
                    }
                }
            }
            path.at = 0;
            match control::leave(env, warp, &view, &mut path) {
                Ok(control::Next::Block) => {}
                Ok(control::Next::Frame) => continue 'frame,
                Ok(control::Next::Gone) => return Ok(PathEnd::Gone),
                Ok(control::Next::Wait) => return Ok(PathEnd::Paused(path)),
                Err(trouble) => {
                    let block = &function.blocks[path.block as usize];
                    let place = StuckAt::Instruction(block.ptx_end.saturating_sub(1));
                    return Err(Stuck {
                        frame: path.frame,
                        place,
                        trouble,
                    });
                }
            }
        }
    }
}

/// Carries out one instruction for the lanes of `mask`.
#[inline]
pub(crate) fn step<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    insn: &Insn,
    mask: u32,
) -> Result<(), Stop> {
    match &insn.op {
        Op::Lanes(op) => {
            // SAFETY: The decoder checked the operands against the frame.
            unsafe { (op.run)(view.regs.0, op, mask) };
            Ok(())
        }
        Op::Predicate(op) => {
            predicate::combine(view, *op, mask);
            Ok(())
        }
        Op::Convert(op) => {
            predicate::convert(view, op, mask);
            Ok(())
        }
        Op::Transfer(op) => {
            predicate::transfer(view, op, mask);
            Ok(())
        }
        Op::Load(op) => access::load(env, warp, view, insn.ptx, op, mask),
        Op::Store(op) => access::store(env, warp, view, insn.ptx, op, mask),
        Op::Atomic(op) => atomic::atomic(env, warp, view, insn.ptx, op, mask),
        Op::Shuffle(op) => collective::shuffle(env, warp, view, insn.ptx, op, mask),
        Op::Collective(op) => collective::collective(env, warp, view, insn.ptx, op, mask),
        Op::Clock(op) => {
            control::read_clock(env, view, *op, mask);
            Ok(())
        }
        Op::Fence(scope) => {
            if O::ON {
                let lanes = env.lanes(warp, mask);
                env.observer.fence(lanes, *scope);
            }
            Ok(())
        }
        Op::Nothing => Ok(()),
        Op::Yield => {
            poll(env, warp, IDLE_POLLS);
            Ok(())
        }
        Op::Matrix(op) => matrix::matrix(env, warp, view, insn.ptx, op, mask),
        Op::Mbarrier(op) => mbarrier::mbarrier(env, warp, view, insn.ptx, op, mask),
        Op::Unsupported(what) => {
            let (opcode, reason) = (what.opcode.clone(), what.reason.clone());
            Err(Trouble::Unsupported { opcode, reason }.into())
        }
    }
}

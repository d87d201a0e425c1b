//! What the interpreter's memory safety rests on: every slot that an instruction
//! names lies in the frame, and is as wide as the instruction takes it to be.
//!
//! Decoders check the types that a kernel's author wrote, and say what is wrong with
//! them. Here everything that comes out is checked once more, so that a decoder
//! that forgot a check refuses a program in place of writing past a register.

use super::frame::FrameBuilder;
use crate::lanes::{LaneFn, LaneOp, PREDICATE, Width};
use crate::program::{
    Argument, Atomic, BarrierKind, CallTarget, Collective, CollectiveKind, Fragment, Guard,
    MatrixOp, Mbarrier, MbarrierKind, Op, Slot, TensorKind, Terminator, Transfer, WmmaMove,
};

/// The operands of a lane-wise loop.
pub(super) fn lane_operands(run: &LaneFn, op: &LaneOp) -> impl Iterator<Item = (Slot, Width)> {
    let sources = [op.a, op.b, op.c, op.e];
    let sources = sources.into_iter().zip(run.widths.sources);
    let known = sources.filter_map(|(slot, width)| Some((slot, width?)));
    known.chain([(op.d, run.widths.d)])
}

/// What is wrong with a slot, if anything.
pub(super) fn check(frame: &FrameBuilder<'_>, slot: Slot, width: Width) -> Result<(), String> {
    if frame.holds(slot, width) {
        return Ok(());
    }
    Err(match width {
        PREDICATE => "a register stands where a predicate is needed".to_owned(),
        width => format!("an operand does not have {} bits", 8 * width),
    })
}

/// Calls `f` with every slot of an operation, and the width that it must have.
/// Those of lane-wise loops are known to their loops only.
pub(super) fn operands(op: &Op, f: &mut impl FnMut(Slot, Width)) {
    match op {
        Op::Lanes(_) | Op::Fence(_) | Op::Nothing | Op::Yield | Op::Unsupported(_) => {}
        Op::Predicate(op) => [op.d, op.a, op.b]
            .into_iter()
            .for_each(|slot| f(slot, PREDICATE)),
        Op::Divide(divide) => {
            let op = divide.op;
            [op.d, op.a, op.b]
                .into_iter()
                .for_each(|slot| f(slot, divide.bytes));
        }
        Op::Video(op) => [op.d, op.a, op.b, op.c]
            .into_iter()
            .for_each(|slot| f(slot, 4)),
        Op::Convert(op) => {
            f(op.d, op.d_bytes);
            f(op.a, op.a_bytes);
        }
        Op::Transfer(op) => transfer(op, f),
        Op::Load(op) | Op::Store(op) => {
            f(op.address.slot, op.address.width());
            for &slot in op.registers.iter().flatten() {
                f(slot, op.register_bytes);
            }
        }
        Op::Atomic(op) => atomic(op, f),
        Op::Shuffle(op) => {
            let words = [op.a, op.b, op.c, op.members];
            words.into_iter().chain(op.d).for_each(|slot| f(slot, 4));
            op.in_range.into_iter().for_each(|slot| f(slot, PREDICATE));
        }
        Op::Collective(op) => collective(op, f),
        Op::Clock(op) => f(op.d, op.bytes),
        Op::Matrix(op) => matrix(op, f),
        Op::Mbarrier(op) => mbarrier(op, f),
    }
}

fn transfer(op: &Transfer, f: &mut impl FnMut(Slot, Width)) {
    match op {
        Transfer::Pack {
            d,
            bytes,
            parts,
            part_bytes,
        } => {
            f(*d, *bytes);
            parts.iter().for_each(|&slot| f(slot, *part_bytes));
        }
        Transfer::Unpack {
            a,
            bytes,
            parts,
            part_bytes,
        } => {
            f(*a, *bytes);
            parts
                .iter()
                .flatten()
                .for_each(|&slot| f(slot, *part_bytes));
        }
        Transfer::FromPredicate { d, a } => {
            f(*d, 4);
            f(*a, PREDICATE);
        }
    }
}

fn atomic(op: &Atomic, f: &mut impl FnMut(Slot, Width)) {
    f(op.address.slot, op.address.width());
    let words = op.old.iter().flatten().chain(&op.value).chain(&op.swap);
    words.for_each(|&slot| f(slot, op.bytes));
}

fn collective(op: &Collective, f: &mut impl FnMut(Slot, Width)) {
    let (d, a) = match op.kind {
        CollectiveKind::All | CollectiveKind::Any | CollectiveKind::Uniform => {
            (PREDICATE, PREDICATE)
        }
        CollectiveKind::Ballot => (4, PREDICATE),
        CollectiveKind::MatchAny { bytes } | CollectiveKind::MatchAll { bytes } => (4, bytes),
        CollectiveKind::Reduce(_)
        | CollectiveKind::ActiveMask
        | CollectiveKind::Elect
        | CollectiveKind::Converge => (4, 4),
    };
    op.d.into_iter().for_each(|slot| f(slot, d));
    op.a.into_iter().for_each(|slot| f(slot, a));
    op.p.into_iter().for_each(|slot| f(slot, PREDICATE));
    op.members.into_iter().for_each(|slot| f(slot, 4));
}

fn matrix(op: &MatrixOp, f: &mut impl FnMut(Slot, Width)) {
    match op {
        MatrixOp::Load(tile) | MatrixOp::Store(tile) => {
            f(tile.address.slot, tile.address.width());
            tile.registers.iter().for_each(|&slot| f(slot, 4));
        }
        MatrixOp::Multiply(op) => {
            let words = op.d.iter().chain(&op.a).chain(&op.b).chain(&op.c);
            words.for_each(|&slot| f(slot, 4));
        }
        MatrixOp::Tensor(op) => {
            let width = match op.kind {
                TensorKind::Double => 8,
                _ => 4,
            };
            let words = op.d.iter().chain(&op.a).chain(&op.b).chain(&op.c);
            words.for_each(|&slot| f(slot, width));
        }
        MatrixOp::WmmaLoad(op) | MatrixOp::WmmaStore(op) => wmma_move(op, f),
        MatrixOp::WmmaMultiply(op) => {
            let fragments = [&op.a, &op.b, &op.c, &op.d];
            fragments.into_iter().for_each(|part| fragment(part, f));
        }
        MatrixOp::Copy(op) => {
            f(op.to.slot, op.to.width());
            f(op.from.slot, op.from.width());
            op.source_bytes.into_iter().for_each(|slot| f(slot, 4));
        }
        MatrixOp::Commit | MatrixOp::WaitGroup(_) | MatrixOp::WaitAll => {}
    }
}

fn wmma_move(op: &WmmaMove, f: &mut impl FnMut(Slot, Width)) {
    f(op.address.slot, op.address.width());
    op.stride.into_iter().for_each(|slot| f(slot, 4));
    fragment(&op.fragment, f);
}

/// Registers of 64 bits hold an `f64` each, all others are of 32.
fn fragment(fragment: &Fragment, f: &mut impl FnMut(Slot, Width)) {
    let width = if fragment.element_bytes == 8 { 8 } else { 4 };
    fragment.registers.iter().for_each(|&slot| f(slot, width));
}

fn mbarrier(op: &Mbarrier, f: &mut impl FnMut(Slot, Width)) {
    f(op.address.slot, op.address.width());
    let (d, operand) = match op.kind {
        MbarrierKind::Wait { by_parity, .. } => (PREDICATE, if by_parity { 4 } else { 8 }),
        _ => (8, 4),
    };
    op.d.into_iter().for_each(|slot| f(slot, d));
    op.operand.into_iter().for_each(|slot| f(slot, operand));
}

/// As [`operands`], of how a block ends.
pub(super) fn terminator_operands(terminator: &Terminator, f: &mut impl FnMut(Slot, Width)) {
    match terminator {
        Terminator::Jump(_) | Terminator::Return | Terminator::Exit | Terminator::Trap => {}
        Terminator::Branch { guard, .. } => f(guard.slot, PREDICATE),
        Terminator::Switch { index, .. } => f(*index, 4),
        Terminator::Call(call) => {
            if let CallTarget::Pointer(slot) = call.target {
                f(slot, 8);
            }
            for argument in call.arguments.iter().chain(&call.returns) {
                if let Argument::Register { slot, bytes } = *argument {
                    f(slot, bytes);
                }
            }
        }
        Terminator::Barrier(barrier) => {
            f(barrier.id, 4);
            barrier.threads.into_iter().for_each(|slot| f(slot, 4));
            let guards = barrier.source.into_iter();
            guards.for_each(|Guard { slot, .. }| f(slot, PREDICATE));
            let d = match barrier.kind {
                BarrierKind::PopCount => 4,
                _ => PREDICATE,
            };
            barrier.d.into_iter().for_each(|slot| f(slot, d));
        }
    }
}

//! The verifier, on which the interpreter's memory safety rests: every slot that an instruction
//! names lies in the frame, and is as wide as the instruction takes it to be.
//!
//! Decoders check the types that a kernel's author wrote, and say what is wrong with
//! them. Here the whole result is checked once more, so that a program is refused, rather
//! than writing past a register, if a decoder forgot a check.

use super::frame::FrameBuilder;
use crate::lanes::{LaneFn, LaneOp, PREDICATE, Width};
use crate::program::{
    Access, Argument, Atomic, BarrierKind, BulkOp, CallTarget, Collective, CollectiveKind,
    Fragment, Guard, LeftOperand, MatrixOp, Mbarrier, MbarrierKind, Op, Slot, TensorKind,
    Terminator, Transfer, Update, WarpgroupOp, Wgmma, WmmaMove,
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
    // Others, a byte for one, would round up to the lines of a wider register.
    let is_known = matches!(width, PREDICATE | 2 | 4 | 8 | 16);
    if is_known && frame.holds(slot, width) {
        return Ok(());
    }
    Err(match width {
        PREDICATE => "a register stands where a predicate is needed".to_owned(),
        width => format!("an operand does not have {} bits", 8 * width),
    })
}

/// What is wrong with the first of some slots that does not fit, if one does not: `each`
/// calls its function with every slot, and the width that it must have.
pub(super) fn check_all(
    frame: &FrameBuilder<'_>,
    each: impl FnOnce(&mut dyn FnMut(Slot, Width)),
) -> Result<(), String> {
    let mut fits = Ok(());
    each(&mut |slot, width| {
        if fits.is_ok() {
            fits = check(frame, slot, width);
        }
    });
    fits
}

/// Calls `f` with every slot of an operation, and the width that it must have.
/// Those of lane-wise loops are known only to their loops.
pub(super) fn operands(op: &Op, f: &mut impl FnMut(Slot, Width)) {
    match op {
        Op::Lanes(_)
        | Op::Fence(_)
        | Op::ProxyFence
        | Op::Nothing
        | Op::Yield
        | Op::Unsupported(_) => {}
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
        Op::Load(op) | Op::Store(op) => access(op, f),
        Op::LoadParts(op) => {
            f(op.whole.address.slot, op.whole.address.width());
            for (_, part) in &op.parts {
                let slots = part.registers.iter().flatten();
                slots.for_each(|&slot| f(slot, part.register_bytes));
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
        Op::Bulk(op) => bulk(op, f),
        Op::AsyncStore(op) => {
            match &op.update {
                Update::Store(store) => access(store, f),
                Update::Reduce(reduce) => atomic(reduce, f),
            }
            mbarrier(&op.complete, f);
        }
        Op::Warpgroup(op) => warpgroup(op, f),
    }
}

fn access(op: &Access, f: &mut impl FnMut(Slot, Width)) {
    f(op.address.slot, op.address.width());
    for &slot in op.registers.iter().flatten() {
        f(slot, op.register_bytes);
    }
}

fn bulk(op: &BulkOp, f: &mut impl FnMut(Slot, Width)) {
    let mut addresses = Vec::new();
    let signal = match op {
        BulkOp::Copy(op) => {
            addresses.extend([op.to, op.from]);
            f(op.bytes, 4);
            op.signal
        }
        BulkOp::Tile(op) => {
            addresses.extend([op.shared, op.map]);
            op.coordinates.iter().for_each(|&slot| f(slot, 4));
            op.signal
        }
        BulkOp::Prefetch { map, .. } => {
            addresses.push(*map);
            None
        }
        BulkOp::Zero { address, bytes } => {
            addresses.push(*address);
            f(*bytes, 4);
            None
        }
        BulkOp::Commit | BulkOp::Wait { .. } => None,
    };
    if let Some(signal) = signal {
        addresses.push(signal.barrier);
        signal.multicast.into_iter().for_each(|slot| f(slot, 2));
    }
    addresses
        .iter()
        .for_each(|address| f(address.slot, address.width()));
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

fn warpgroup(op: &WarpgroupOp, f: &mut impl FnMut(Slot, Width)) {
    match op {
        WarpgroupOp::Multiply(op) => wgmma(op, f),
        WarpgroupOp::Carry { d, a } => [*d, *a].into_iter().for_each(|slot| f(slot, 4)),
        WarpgroupOp::Touch { reads, writes } => {
            reads.iter().chain(writes).for_each(|&slot| f(slot, 4));
        }
        WarpgroupOp::Fence
        | WarpgroupOp::Commit
        | WarpgroupOp::Wait(_)
        | WarpgroupOp::SetRegisters(_) => {}
    }
}

fn wgmma(op: &Wgmma, f: &mut impl FnMut(Slot, Width)) {
    op.d.iter().for_each(|&slot| f(slot, 4));
    match &op.a {
        LeftOperand::Memory(descriptor) => f(*descriptor, 8),
        LeftOperand::Registers(slots) => slots.iter().for_each(|&slot| f(slot, 4)),
    }
    f(op.b, 8);
    f(op.keeps.slot, PREDICATE);
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

/// As [`operands`], for the terminator of a block.
pub(super) fn terminator_operands(terminator: &Terminator, f: &mut impl FnMut(Slot, Width)) {
    match terminator {
        Terminator::Jump(_)
        | Terminator::Return
        | Terminator::Exit
        | Terminator::Trap
        | Terminator::ClusterBarrier(_) => {}
        Terminator::Branch { guard, .. } => f(guard.slot, PREDICATE),
        Terminator::Switch { index, .. } => f(*index, 4),
        Terminator::Call(call) => {
            if let CallTarget::Pointer(slot) = call.target {
                f(slot, 8);
            }
            for argument in call.arguments.iter().chain(&call.returns) {
                match *argument {
                    Argument::Register { slot, bytes } => f(slot, bytes),
                    Argument::Number { slot } => f(slot, 8),
                    Argument::Memory { .. } => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::liveness::Liveness;
    use crate::lanes::binary;
    use crate::numeric::convert::{Conversion, Number};
    use crate::numeric::{Rounding, soft};
    use crate::program::{
        AddressOperand, Barrier, Call, ClockRead, Convert, Divide, PredicateOp, Shuffle,
        ShuffleMode,
    };
    use ptx::ir::{self, FuncId};

    const TEXT: &str = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }";

    /// Slots of registers of each kind, in a frame that has nothing else.
    struct Slots<'a> {
        frame: FrameBuilder<'a>,
        p: Slot,
        h: Slot,
        r: Slot,
        d: Slot,
        q: Slot,
    }

    impl<'a> Slots<'a> {
        fn new(function: &'a ir::Function) -> Self {
            let body = function.body.as_deref().expect("a body");
            let mut frame = FrameBuilder::new(function, &Liveness::of(function, body));
            let [p, h, r, d, q] = [PREDICATE, 2, 4, 8, 16].map(|bytes| frame.permanent(bytes));
            Self {
                frame,
                p,
                h,
                r,
                d,
                q,
            }
        }

        fn accepts(&self, op: Op) -> bool {
            let mut fits = true;
            operands(&op, &mut |slot, width| {
                fits &= check(&self.frame, slot, width).is_ok();
            });
            fits
        }

        fn accepts_end(&self, terminator: Terminator) -> bool {
            let mut fits = true;
            terminator_operands(&terminator, &mut |slot, width| {
                fits &= check(&self.frame, slot, width).is_ok();
            });
            fits
        }
    }

    fn with_slots(test: impl Fn(Slots<'_>)) {
        let module = ptx::parse::parse(TEXT).expect("well-formed");
        test(Slots::new(&module.functions[0]));
    }

    #[test]
    fn a_slot_has_its_own_width_only() {
        with_slots(|slots| {
            let Slots { p, h, r, d, q, .. } = slots;
            let registers = [(p, PREDICATE), (h, 2), (r, 4), (d, 8), (q, 16)];
            for (slot, width) in registers {
                for asked in 0..=33 {
                    let fits = check(&slots.frame, slot, asked).is_ok();
                    assert_eq!(fits, asked == width, "{asked} bytes in one of {width}");
                }
                let inside = if width == PREDICATE { 2 } else { 4 };
                assert!(check(&slots.frame, slot + inside, width).is_err());
                for nowhere in [slots.frame.size(), Slot::MAX, Slot::MAX - 63] {
                    assert!(check(&slots.frame, nowhere, width).is_err());
                }
            }
            assert!(check(&slots.frame, d + 64, 2).is_err(), "within a register");
        });
    }

    #[test]
    fn wrong_operands_of_operations_are_refused() {
        with_slots(|slots| {
            let Slots { p, h, r, d, .. } = slots;
            let predicate = |d, b| {
                Op::Predicate(PredicateOp {
                    d,
                    a: p,
                    b,
                    table: 6,
                })
            };
            assert!(slots.accepts(predicate(p, p)));
            assert!(!slots.accepts(predicate(r, p)));
            assert!(!slots.accepts(predicate(p, r)));
            let clock = |bytes| {
                Op::Clock(ClockRead {
                    d: r,
                    bytes,
                    shift: 0,
                })
            };
            assert!(slots.accepts(clock(4)));
            assert!(!slots.accepts(clock(8)));
            let convert = |a_bytes| {
                Op::Convert(Box::new(Convert {
                    conversion: Conversion {
                        from: Number::Float(soft::F16),
                        to: Number::Float(soft::F64),
                        rounding: Rounding::NearestEven,
                        to_integral: false,
                        ftz: false,
                        saturate: false,
                        relu: false,
                        finite: false,
                    },
                    d,
                    d_bytes: 8,
                    a: h,
                    a_bytes,
                }))
            };
            assert!(slots.accepts(convert(2)));
            assert!(!slots.accepts(convert(1)), "no register has bytes");
            assert!(!slots.accepts(convert(4)));
            let unpack = |part| {
                Op::Transfer(Box::new(Transfer::Unpack {
                    a: d,
                    bytes: 8,
                    parts: vec![None, Some(part)],
                    part_bytes: 4,
                }))
            };
            assert!(slots.accepts(unpack(r)));
            assert!(!slots.accepts(unpack(h)));
            let shuffle = |members, in_range| {
                Op::Shuffle(Box::new(Shuffle {
                    mode: ShuffleMode::Up,
                    d: Some(r),
                    in_range,
                    a: r,
                    b: r,
                    c: r,
                    members,
                }))
            };
            assert!(slots.accepts(shuffle(r, Some(p))));
            assert!(!slots.accepts(shuffle(d, Some(p))));
            assert!(!slots.accepts(shuffle(r, Some(r))));
            let address = |slot, wide| AddressOperand {
                slot,
                wide,
                offset: 0,
            };
            assert_eq!(address(r, false).width(), 4);
            assert!(check(&slots.frame, r, address(r, true).width()).is_err());
        });
    }

    #[test]
    fn wrong_operands_of_lane_loops_are_refused() {
        with_slots(|slots| {
            let Slots { r, d, .. } = slots;
            let run = binary(|a: u32, b: u64| a ^ b as u32);
            let fits = |to: Slot, a, b| {
                let op = LaneOp {
                    run: run.run,
                    d: to,
                    a,
                    b,
                    // Not looked at.
                    c: Slot::MAX,
                    e: Slot::MAX,
                };
                lane_operands(&run, &op)
                    .all(|(slot, width)| check(&slots.frame, slot, width).is_ok())
            };
            assert!(fits(r, r, d));
            assert!(!fits(d, r, d));
            assert!(!fits(r, d, d));
            assert!(!fits(r, r, r));
            let op = LaneOp {
                run: run.run,
                d: r,
                a: r,
                b: r,
                c: r,
                e: r,
            };
            let divide = |bytes| Op::Divide(Box::new(Divide { op, bytes }));
            assert!(slots.accepts(divide(4)));
            assert!(!slots.accepts(divide(8)));
        });
    }

    #[test]
    fn wrong_operands_of_control_flow_are_refused() {
        with_slots(|slots| {
            let Slots { p, r, d, .. } = slots;
            let branch = |slot| Terminator::Branch {
                guard: Guard { slot, flip: 0 },
                taken: 0,
                other: 0,
                join: None,
            };
            assert!(slots.accepts_end(branch(p)));
            assert!(!slots.accepts_end(branch(r)));
            let switch = |index| Terminator::Switch {
                index,
                targets: vec![0],
                join: None,
            };
            assert!(slots.accepts_end(switch(r)));
            assert!(!slots.accepts_end(switch(d)));
            let call = |pointer: Option<Slot>, argument, result| {
                let target = match pointer {
                    Some(slot) => CallTarget::Pointer(slot),
                    None => CallTarget::Function(FuncId(0)),
                };
                Terminator::Call(Box::new(Call {
                    target,
                    arguments: vec![argument],
                    returns: vec![result],
                    next: Some(0),
                }))
            };
            let register = |slot, bytes| Argument::Register { slot, bytes };
            let number = |slot| Argument::Number { slot };
            assert!(slots.accepts_end(call(Some(d), register(r, 4), register(d, 8))));
            assert!(slots.accepts_end(call(None, number(d), register(d, 8))));
            assert!(!slots.accepts_end(call(Some(r), register(r, 4), register(d, 8))));
            assert!(!slots.accepts_end(call(None, register(r, 8), register(d, 8))));
            assert!(!slots.accepts_end(call(None, register(r, 4), register(d, 16))));
            assert!(!slots.accepts_end(call(None, number(r), register(d, 8))));
            let barrier = |kind, to, source| {
                Terminator::Barrier(Box::new(Barrier {
                    kind,
                    aligned: true,
                    id: r,
                    threads: Some(r),
                    source: Some(Guard {
                        slot: source,
                        flip: 0,
                    }),
                    d: Some(to),
                    next: 0,
                }))
            };
            assert!(slots.accepts_end(barrier(BarrierKind::PopCount, r, p)));
            assert!(slots.accepts_end(barrier(BarrierKind::And, p, p)));
            assert!(!slots.accepts_end(barrier(BarrierKind::PopCount, p, p)));
            assert!(!slots.accepts_end(barrier(BarrierKind::Or, r, p)));
            assert!(!slots.accepts_end(barrier(BarrierKind::And, p, r)));
        });
    }
}

//! The test of whether a kernel's blocks depend on the order in which they run, and whether it has to
//! do with the host meanwhile.

use std::collections::BTreeSet;

use crate::program::{
    Access, Atomic, AtomicKind, AtomicType, BulkOp, Direction, Op, Order, Program, Scope,
};
use ptx::ir::Space;

/// Whether, unless there is a race, no block can see what another does, and memory holds the
/// same in the end in whatever order they run: the only accesses to global memory that are
/// meant to meet others are sums and similar operations whose result is not used.
/// `reachable` are the functions that the kernel can reach.
pub(crate) fn is_order_independent(program: &Program, reachable: &BTreeSet<u32>) -> bool {
    let mut code = program.code_of(reachable);
    code.all(|insn| match &insn.op {
        Op::Load(access) | Op::Store(access) => cannot_meet_others(access),
        Op::Atomic(atomic) => atomic.space == Space::Shared || commutes(atomic),
        Op::Bulk(op) => reduction_of(op).is_none_or(reduction_commutes),
        // Different in any two runs.
        Op::Clock(_) => false,
        _ => true,
    })
}

/// Whether a kernel may have to do with the host while it runs: it can wait for what that writes, if only
/// by an atomic in a loop, or tell it something. Such a kernel cannot be run a second time.
pub(crate) fn may_meet_host(program: &Program, reachable: &BTreeSet<u32>, has_loops: bool) -> bool {
    let mut code = program.code_of(reachable);
    code.any(|insn| match &insn.op {
        Op::Load(access) | Op::Store(access) => !cannot_meet_others(access),
        Op::Atomic(atomic) if atomic.space == Space::Shared => false,
        Op::Atomic(atomic) => atomic.scope == Scope::System || has_loops && !atomic.is_reduction,
        _ => false,
    })
}

fn cannot_meet_others(access: &Access) -> bool {
    let is_own = !matches!(access.space, Space::Global | Space::Generic);
    is_own || access.order == Order::Weak
}

/// What a bulk copy does with what is in global memory, if it combines the two: with the
/// type of its elements, where the instruction says.
pub(crate) fn reduction_of(op: &BulkOp) -> Option<(AtomicKind, Option<AtomicType>)> {
    match op {
        BulkOp::Copy(copy) if copy.direction == Direction::SharedToGlobal => {
            let reduction = copy.reduction?;
            Some((reduction.kind, Some(reduction.ty)))
        }
        BulkOp::Tile(copy) => Some((copy.reduction?, None)),
        _ => None,
    }
}

/// As [`commutes`]; of elements whose type only a tensor map knows it is not certain.
fn reduction_commutes((kind, ty): (AtomicKind, Option<AtomicType>)) -> bool {
    let is_integer = matches!(ty, Some(AtomicType::Unsigned | AtomicType::Signed));
    let is_bitwise = matches!(kind, AtomicKind::And | AtomicKind::Or | AtomicKind::Xor);
    let is_sum = matches!(kind, AtomicKind::Add | AtomicKind::Min | AtomicKind::Max);
    is_bitwise || is_integer && is_sum
}

/// Whether the order of several of these does not matter.
fn commutes(atomic: &Atomic) -> bool {
    let is_commutative = matches!(
        atomic.kind,
        AtomicKind::Add
            | AtomicKind::And
            | AtomicKind::Or
            | AtomicKind::Xor
            | AtomicKind::Min
            | AtomicKind::Max
    );
    let is_integer = matches!(atomic.ty, AtomicType::Unsigned | AtomicType::Signed);
    atomic.is_reduction && is_commutative && is_integer
}

//! Instructions that let a kernel's result depend on the order of its threads, without a defect.

use std::collections::BTreeSet;

use super::order_dependence::reduction_of;
use crate::program::{Access, Atomic, AtomicKind, AtomicType, BulkOp, Op, Order, Program};
use ptx::ir::Space;

/// What lets a kernel's result depend on the order of its threads, and what it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Freedom {
    /// Types of floats that atomics may add up: sums are rounded in the order in which they
    /// are made.
    pub sums: BTreeSet<Float>,
    /// Whether it uses the values that atomics return: a place in a queue, a ticket.
    pub takes_values: bool,
    /// Whether it reads a clock.
    pub reads_clock: bool,
    /// Whether it loads from global memory what others may write meanwhile.
    pub polls: bool,
}

/// A type of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Float {
    F16,
    Bf16,
    F32,
    F64,
}

impl Freedom {
    /// For a kernel that can reach these functions.
    pub fn of(program: &Program, reachable: &BTreeSet<u32>) -> Self {
        let mut freedom = Self::default();
        for insn in program.code_of(reachable) {
            match &insn.op {
                Op::Load(access) => freedom.polls |= polls(access),
                Op::Atomic(atomic) => freedom.atomic(atomic),
                Op::Bulk(op) => freedom.bulk(op),
                Op::Clock(_) => freedom.reads_clock = true,
                _ => {}
            }
        }
        freedom
    }

    fn bulk(&mut self, op: &BulkOp) {
        let sums: &[Float] = match reduction_of(op) {
            Some((AtomicKind::Add, Some(AtomicType::F16))) => &[Float::F16],
            Some((AtomicKind::Add, Some(AtomicType::Bf16))) => &[Float::Bf16],
            Some((AtomicKind::Add, Some(AtomicType::F32))) => &[Float::F32],
            Some((AtomicKind::Add, Some(AtomicType::F64))) => &[Float::F64],
            // The tensor map says of what type.
            Some((AtomicKind::Add, None)) => &[Float::F16, Float::Bf16, Float::F32, Float::F64],
            _ => &[],
        };
        self.sums.extend(sums);
    }

    fn atomic(&mut self, atomic: &Atomic) {
        let gives = atomic.old.iter().any(Option::is_some);
        self.takes_values |= gives && !atomic.is_reduction && !atomic.is_increment;
        let sum = match (atomic.kind, atomic.ty, atomic.bytes) {
            (AtomicKind::Add, AtomicType::F16 | AtomicType::F16x2, _) => Float::F16,
            (AtomicKind::Add, AtomicType::Bf16 | AtomicType::Bf16x2, _) => Float::Bf16,
            (AtomicKind::Add, AtomicType::F32, _) => Float::F32,
            (AtomicKind::Add, AtomicType::F64, _) => Float::F64,
            // A sum made by retrying.
            (AtomicKind::CompareAndSwap, _, 4) => Float::F32,
            (AtomicKind::CompareAndSwap, _, 8) => Float::F64,
            _ => return,
        };
        self.sums.insert(sum);
    }
}

fn polls(access: &Access) -> bool {
    let is_global = matches!(access.space, Space::Global | Space::Generic);
    is_global && access.order != Order::Weak
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::order_dependence::may_meet_host;
    use crate::module::Module;

    fn module(body: &str) -> Module {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {{\n\
             .reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.reg .f32 %f<2>;\n\
             ld.param.u64 %rd1, [a];\n{body}\nret;\n}}"
        );
        Module::parse(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn freedom(body: &str) -> Freedom {
        Freedom::of(module(body).program(), &BTreeSet::from([0]))
    }

    /// What may be put back and done again although the host writes meanwhile.
    #[test]
    fn kernels_that_may_wait_for_the_host_or_tell_it_something() {
        let meets = |body: &str, has_loops| {
            may_meet_host(module(body).program(), &BTreeSet::from([0]), has_loops)
        };
        let ticket = "atom.global.add.u32 %r1, [%rd1], 1;\nst.global.u32 [%rd1+4], %r1;";
        assert!(!meets("red.global.add.f32 [%rd1], 0f3F800000;", true));
        assert!(!meets(
            "mov.u64 %rd2, %clock64;\nst.global.u64 [%rd1], %rd2;",
            true
        ));
        assert!(!meets(ticket, false));
        assert!(meets(ticket, true));
        assert!(meets("red.sys.global.add.u32 [%rd1], 1;", false));
        assert!(meets("ld.volatile.global.u32 %r1, [%rd1];", false));
        assert!(meets("st.release.sys.global.u32 [%rd1], 1;", false));
    }

    #[test]
    fn each_kind_is_seen() {
        assert_eq!(freedom("st.global.u32 [%rd1], 1;"), Freedom::default());
        assert_eq!(freedom("red.global.add.u32 [%rd1], 1;"), Freedom::default());
        let sum = freedom("red.global.add.f32 [%rd1], 0f3F800000;");
        assert_eq!(sum.sums, BTreeSet::from([Float::F32]));
        assert!(!sum.takes_values);
        let ticket = freedom("atom.global.add.u32 %r1, [%rd1], 1;\nst.global.u32 [%rd1+4], %r1;");
        assert!(ticket.takes_values && ticket.sums.is_empty());
        let swap = freedom("atom.global.cas.b64 %rd2, [%rd1], 1, 2;\nst.global.u64 [%rd1], %rd2;");
        assert_eq!(swap.sums, BTreeSet::from([Float::F64]));
        assert!(swap.takes_values);
        assert!(freedom("mov.u64 %rd2, %clock64;\nst.global.u64 [%rd1], %rd2;").reads_clock);
        assert!(freedom("ld.volatile.global.u32 %r1, [%rd1];").polls);
        assert!(freedom("ld.acquire.gpu.global.u32 %r1, [%rd1];").polls);
        assert!(!freedom("ld.global.u32 %r1, [%rd1];").polls);
    }
}

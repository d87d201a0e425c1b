//! Which values a function's registers hold, and for how long.
//!
//! Compilers write PTX with a register for every value, thousands in a function
//! of which some dozens are needed at a time. Registers that are not needed at the
//! same time may share a place in the frame, which then fits the nearest cache.
//!
//! A register is *live* where its value may still be read. Lanes that go
//! different ways have places of their own in every register, so that one lane's
//! ways through the function are all that matters.
//!
//! A register that is live where the function begins may be read before it is
//! written. What a correct program reads it has written before, but compilers
//! leave paths on which a value does not matter; so that a run never depends on
//! the one before, such registers start as zero.

use crate::ir::{Address, AddressBase, Function, Instruction, Operand, RegId};

/// A set of a function's registers.
#[derive(Clone, PartialEq)]
pub(crate) struct RegisterSet(Vec<u64>);

impl RegisterSet {
    fn empty(n_registers: usize) -> Self {
        Self(vec![0; n_registers.div_ceil(64)])
    }

    /// Whether the register is in it.
    pub fn contains(&self, register: RegId) -> bool {
        self.0[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0
    }

    fn insert(&mut self, register: RegId) {
        self.0[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    fn members(&self) -> impl Iterator<Item = RegId> + '_ {
        (0..).zip(&self.0).flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(RegId(64 * word + bit))
            })
        })
    }
}

/// The first and the last instruction between which a register is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub first: u32,
    pub last: u32,
}

/// What is known of a function's registers.
pub(crate) struct Liveness {
    /// Those that some instruction reads: a result in another one is none.
    pub read: RegisterSet,
    /// Those that may be read before they are written.
    pub at_entry: RegisterSet,
    /// When each is in use, by register; `None` for those that never are.
    pub intervals: Vec<Option<Interval>>,
}

/// Instructions that are carried out one after the other.
struct Stretch {
    first: u32,
    /// Behind the last.
    end: u32,
    /// Where lanes go from there, by the instruction that a stretch starts at.
    next: Vec<u32>,
    /// Read before they are written in it.
    used: RegisterSet,
    /// Written for certain.
    written: RegisterSet,
    live_in: RegisterSet,
    live_out: RegisterSet,
}

impl Liveness {
    /// Of a function.
    pub fn of(function: &Function, body: &[Instruction]) -> Self {
        let n_registers = function.registers.len();
        let mut read = RegisterSet::empty(n_registers);
        let mut intervals: Vec<Option<Interval>> = vec![None; n_registers];
        let mut extend = |register: RegId, to: u32| {
            let interval = intervals[register.0 as usize].get_or_insert(Interval {
                first: to,
                last: to,
            });
            interval.first = interval.first.min(to);
            interval.last = interval.last.max(to);
        };
        for (i, instruction) in (0..).zip(body) {
            visit(instruction, |register, is_write| {
                extend(register, i);
                if !is_write {
                    read.insert(register);
                }
            });
        }
        let mut stretches = stretches(function, body);
        settle(&mut stretches);
        for stretch in &stretches {
            for register in stretch.live_in.members() {
                extend(register, stretch.first);
            }
            for register in stretch.live_out.members() {
                extend(register, stretch.end - 1);
            }
        }
        let at_entry = match stretches.first() {
            Some(entry) => entry.live_in.clone(),
            None => RegisterSet::empty(n_registers),
        };
        Self {
            read,
            at_entry,
            intervals,
        }
    }
}

/// A function's stretches, in order; liveness not yet known.
fn stretches(function: &Function, body: &[Instruction]) -> Vec<Stretch> {
    let n = body.len() as u32;
    let mut is_start = vec![false; body.len() + 1];
    is_start[0] = true;
    for label in &function.labels {
        is_start[label.target.min(n) as usize] = true;
    }
    for (i, instruction) in body.iter().enumerate() {
        if !targets(function, instruction).is_empty() || ends_way(instruction) {
            is_start[i + 1] = true;
        }
    }
    let starts: Vec<u32> = (0..n).filter(|&i| is_start[i as usize]).collect();
    let ends = starts.iter().skip(1).copied().chain([n]);
    let n_registers = function.registers.len();
    starts
        .iter()
        .zip(ends)
        .map(|(&first, end)| {
            let mut used = RegisterSet::empty(n_registers);
            let mut written = RegisterSet::empty(n_registers);
            for instruction in &body[first as usize..end as usize] {
                visit(instruction, |register, is_write| {
                    if !is_write && !written.contains(register) {
                        used.insert(register);
                    }
                });
                if instruction.guard.is_none() {
                    visit(instruction, |register, is_write| {
                        if is_write {
                            written.insert(register);
                        }
                    });
                }
            }
            let last = &body[end as usize - 1];
            let mut next = targets(function, last);
            if !ends_way(last) || last.guard.is_some() {
                next.push(end);
            }
            next.retain(|&target| target < n);
            Stretch {
                first,
                end,
                next,
                used,
                written,
                live_in: RegisterSet::empty(n_registers),
                live_out: RegisterSet::empty(n_registers),
            }
        })
        .collect()
}

/// Works out what is live, from the end to the start until nothing changes.
fn settle(stretches: &mut [Stretch]) {
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..stretches.len()).rev() {
            let mut live_out = stretches[i].live_out.clone();
            for &next in &stretches[i].next {
                let at = stretches.partition_point(|other| other.first < next);
                for (mine, theirs) in live_out.0.iter_mut().zip(&stretches[at].live_in.0) {
                    *mine |= theirs;
                }
            }
            let stretch = &mut stretches[i];
            let live_in = RegisterSet(
                live_out
                    .0
                    .iter()
                    .zip(&stretch.written.0)
                    .zip(&stretch.used.0)
                    .map(|((out, written), used)| out & !written | used)
                    .collect(),
            );
            changed |= live_in != stretch.live_in;
            stretch.live_in = live_in;
            stretch.live_out = live_out;
        }
    }
}

/// The instructions that an instruction may jump to.
fn targets(function: &Function, instruction: &Instruction) -> Vec<u32> {
    let target = |label: &crate::ir::LabelId| function.labels[label.0 as usize].target;
    let mut targets = Vec::new();
    for operand in &instruction.operands {
        match operand {
            Operand::Label(label) => targets.push(target(label)),
            Operand::BranchTargets(list) => {
                targets.extend(function.branch_targets[*list as usize].iter().map(target));
            }
            _ => {}
        }
    }
    targets
}

/// Whether lanes whose guard holds do not go on to the next instruction.
fn ends_way(instruction: &Instruction) -> bool {
    matches!(name(instruction), "bra" | "brx" | "ret" | "exit" | "trap")
}

/// The opcode up to its first dot.
fn name(instruction: &Instruction) -> &str {
    instruction.opcode.split('.').next().unwrap_or("")
}

/// Calls `f` with each register of an instruction, and whether it is written.
/// Where that is not clear, the register counts as read.
fn visit(instruction: &Instruction, mut f: impl FnMut(RegId, bool)) {
    if let Some(guard) = instruction.guard {
        f(guard.register, false);
    }
    let name = name(instruction);
    let has_destination = !matches!(
        name,
        "st" | "red" | "bra" | "brx" | "bar" | "barrier" | "nanosleep" | "stackrestore" | "wgmma"
    );
    for (i, operand) in instruction.operands.iter().enumerate() {
        let is_write = i == 0
            && has_destination
            && (name != "call" || matches!(operand, Operand::List(_)))
            && !matches!(operand, Operand::Address(_));
        registers(operand, is_write, &mut f);
    }
}

fn registers(operand: &Operand, is_write: bool, f: &mut impl FnMut(RegId, bool)) {
    match operand {
        Operand::Reg(register) => f(*register, is_write),
        Operand::NotReg(register) | Operand::Component(register, _) => f(*register, false),
        Operand::Pair(a, b) => {
            registers(a, is_write, f);
            registers(b, is_write, f);
        }
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| registers(part, is_write, f));
        }
        Operand::Address(address) => base(address, f),
        Operand::IndexedAddress(address, parts) => {
            base(address, f);
            parts.iter().for_each(|part| registers(part, false, f));
        }
        _ => {}
    }
}

fn base(address: &Address, f: &mut impl FnMut(RegId, bool)) {
    if let AddressBase::Reg(register) = address.base {
        f(register, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{Interval, Liveness};
    use crate::decode::frame::FrameBuilder;
    use crate::ir::{Function, RegId};

    /// Interval, and whether it is live at entry, of each register of a body.
    struct Known(Function, Liveness);

    impl Known {
        fn of(body: &str) -> Self {
            let text = format!(
                ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {{\n\
                 .reg .b32 %r<8>; .reg .b64 %d<3>; .reg .pred %p<3>;\n{body}\n}}"
            );
            let mut module = crate::parse::parse(&text).expect("well-formed");
            let function = module.functions.remove(0);
            let liveness = Liveness::of(&function, function.body.as_deref().expect("a body"));
            Self(function, liveness)
        }

        fn register(&self, name: &str) -> RegId {
            let mut registers = self.0.registers.iter();
            RegId(registers.position(|r| r.name == name).expect("declared") as u32)
        }

        fn interval(&self, name: &str) -> (u32, u32) {
            let interval = self.1.intervals[self.register(name).0 as usize];
            let Interval { first, last } = interval.expect("in use");
            (first, last)
        }

        fn share(&self, a: &str, b: &str) -> bool {
            let mut frame = FrameBuilder::new(&self.0, &self.1);
            frame.register(self.register(a)) == frame.register(self.register(b))
        }
    }

    #[test]
    fn a_place_is_free_after_the_last_read() {
        let known = Known::of(
            "mov.u32 %r1, 1; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, 1; st.u32 [%d1], %r3; ret;",
        );
        assert_eq!(known.interval("%r1"), (0, 1));
        assert_eq!(known.interval("%r2"), (1, 2));
        // Not while the instruction that writes one still reads the other.
        assert!(!known.share("%r1", "%r2"));
        assert!(known.share("%r1", "%r3"));
        // Of another size.
        assert!(!known.share("%r3", "%d1"));
        assert!(known.1.at_entry.contains(known.register("%d1")));
        assert!(!known.1.at_entry.contains(known.register("%r1")));
    }

    #[test]
    fn what_the_next_turn_reads_lives_through_the_loop() {
        let known = Known::of(
            "mov.u32 %r1, 0;\n\
             LOOP: mov.u32 %r2, 5; add.u32 %r1, %r1, %r2; mov.u32 %r3, 7;\n\
             setp.lt.u32 %p1, %r1, %r3; @%p1 bra LOOP;\n\
             ret;",
        );
        assert_eq!(known.interval("%r1"), (0, 5));
        assert_eq!(known.interval("%r2"), (1, 2));
        assert!(!known.share("%r1", "%r2"));
        assert!(known.share("%r2", "%r3"));
    }

    #[test]
    fn a_write_of_some_lanes_leaves_the_others_their_value() {
        let known = Known::of(
            "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 2;\n\
             @%p1 mov.u32 %r2, 3; st.u32 [%d1], %r2; @%p1 mov.u32 %r3, 4; st.u32 [%d1], %r3; ret;",
        );
        assert_eq!(known.interval("%r2"), (2, 4));
        assert!(!known.1.at_entry.contains(known.register("%r2")));
        // Never written for certain: it starts as zero, and nothing else is there.
        assert!(known.1.at_entry.contains(known.register("%r3")));
        assert_eq!(known.interval("%r3"), (0, 6));
        assert!(!known.share("%r2", "%r3"));
    }

    #[test]
    fn either_side_of_a_branch_may_read() {
        let known = Known::of(
            "mov.u32 %r1, 1; mov.u32 %r2, 2; setp.eq.u32 %p1, %r1, 0; @%p1 bra SIDE;\n\
             st.u32 [%d1], %r1; bra END;\n\
             SIDE: st.u32 [%d1], %r2;\n\
             END: ret;",
        );
        assert_eq!(known.interval("%r1"), (0, 4));
        assert_eq!(known.interval("%r2"), (1, 6));
    }
}

//! Liveness: which values a function's registers hold, and for how long.
//!
//! Compilers write PTX with a register for every value, thousands in a function that needs
//! a few dozen at a time. Registers that are not needed at the same time may share a place
//! in the frame, which then fits the nearest cache.
//!
//! A register is *live* where its value may still be read. Diverged lanes have places of
//! their own in every register, so that only one lane's paths through the function matter.
//!
//! A register that is live where the function begins may be read before it is
//! written. A correct program has written what it reads, but compilers leave paths on which
//! a value does not matter; such registers start as zero, so that a run never depends on
//! the one before.

use ptx::ir::{Address, AddressBase, Function, Instruction, Operand, RegId, Type};

/// A set of a function's registers.
#[derive(Clone, PartialEq)]
pub(crate) struct RegisterSet(Vec<u64>);

impl RegisterSet {
    /// Of this many registers, none.
    pub fn empty(n_registers: usize) -> Self {
        Self(vec![0; n_registers.div_ceil(64)])
    }

    /// Whether the register is in it.
    pub fn contains(&self, register: RegId) -> bool {
        self.0[register.0 as usize / 64] >> (register.0 % 64) & 1 != 0
    }

    /// Adds a register.
    pub fn insert(&mut self, register: RegId) {
        self.0[register.0 as usize / 64] |= 1 << (register.0 % 64);
    }

    /// Keeps only those that are in another set, too; gives whether there were others.
    pub fn keep_common(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            changed |= *own & !other != 0;
            *own &= other;
        }
        changed
    }

    fn remove(&mut self, register: RegId) {
        self.0[register.0 as usize / 64] &= !(1 << (register.0 % 64));
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
    /// Those that some instruction reads: a result in any other is unused.
    pub read: RegisterSet,
    /// Those that may be read before they are written.
    pub at_entry: RegisterSet,
    /// Those that one instruction writes, and no other.
    pub written_once: RegisterSet,
    /// When each is in use, by register; `None` for those that never are.
    pub intervals: Vec<Option<Interval>>,
}

/// Instructions that are executed one after the other.
struct Stretch {
    first: u32,
    /// Just past the last.
    end: u32,
    /// The stretches where lanes go from there.
    next: Vec<usize>,
}

impl Liveness {
    /// Of a function.
    pub fn of(function: &Function, body: &[Instruction]) -> Self {
        let n_registers = function.registers.len();
        let mut known = Self {
            read: RegisterSet::empty(n_registers),
            at_entry: RegisterSet::empty(n_registers),
            written_once: RegisterSet::empty(n_registers),
            intervals: vec![None; n_registers],
        };
        let mut written_again = RegisterSet::empty(n_registers);
        for (i, instruction) in (0..).zip(body) {
            let may_write = writes_what_it_reads(instruction);
            visit(instruction, |register, is_write| {
                known.extend(register, i);
                if !is_write {
                    known.read.insert(register);
                }
                if is_write || may_write {
                    if known.written_once.contains(register) {
                        written_again.insert(register);
                    }
                    known.written_once.insert(register);
                }
            });
        }
        for register in written_again.members() {
            known.written_once.remove(register);
        }
        let stretches = stretches(function, body);
        let shared = Shared::of(n_registers, &stretches, body);
        let Some(flow) = Flow::of(&shared, &stretches, body) else {
            for &register in &shared.registers {
                known.extend(register, 0);
                known.extend(register, body.len() as u32 - 1);
                known.at_entry.insert(register);
            }
            return known;
        };
        for (i, stretch) in stretches.iter().enumerate() {
            for register in shared.members(&flow.live_in[i]) {
                known.extend(register, stretch.first);
                if i == 0 {
                    known.at_entry.insert(register);
                }
            }
            for register in shared.members(&flow.live_out(i, &stretches)) {
                known.extend(register, stretch.end - 1);
            }
        }
        known
    }

    /// By register, the instruction that gives it its only value, before any other names it.
    pub fn set_once(&self) -> Vec<Option<u32>> {
        let intervals = (0..).zip(&self.intervals);
        let set_at = |(i, interval): (u32, &Option<Interval>)| {
            let register = RegId(i);
            let is_once = self.written_once.contains(register) && !self.at_entry.contains(register);
            interval.filter(|_| is_once).map(|interval| interval.first)
        };
        intervals.map(set_at).collect()
    }

    /// A register is in use at an instruction.
    fn extend(&mut self, register: RegId, at: u32) {
        let interval = self.intervals[register.0 as usize].get_or_insert(Interval {
            first: at,
            last: at,
        });
        interval.first = interval.first.min(at);
        interval.last = interval.last.max(at);
    }
}

/// Room that liveness may take: stretches times words of a set of registers. In a function
/// that needs more, the registers that several stretches share count as in use throughout,
/// so that decoding takes time proportional to a function's length; running it then takes
/// more memory.
const MOST_WORDS: usize = 1 << 22;
/// How often every stretch may be looked at, in all of that room. Compilers' code needs
/// as often as its loops are deep.
const MOST_ROUNDS: usize = 16;

/// A function's stretches, in order.
fn stretches(function: &Function, body: &[Instruction]) -> Vec<Stretch> {
    let n = body.len() as u32;
    let mut is_start = vec![false; body.len() + 1];
    is_start[0] = true;
    for (i, instruction) in body.iter().enumerate() {
        let targets = targets(function, instruction);
        if ends_way(instruction) || !targets.is_empty() {
            is_start[i + 1] = true;
        }
        for target in targets {
            is_start[target.min(n) as usize] = true;
        }
    }
    let starts: Vec<u32> = (0..n).filter(|&i| is_start[i as usize]).collect();
    let ends = starts.iter().skip(1).copied().chain([n]);
    let stretch_at = |target: u32| starts.partition_point(|&first| first < target);
    starts
        .iter()
        .zip(ends)
        .map(|(&first, end)| {
            let last = &body[end as usize - 1];
            let mut next = targets(function, last);
            if !ends_way(last) || last.guard.is_some() {
                next.push(end);
            }
            next.retain(|&target| target < n);
            Stretch {
                first,
                end,
                next: next.into_iter().map(stretch_at).collect(),
            }
        })
        .collect()
}

/// Calls `f` with the stretches' registers: the stretch, the register, and whether it is
/// certainly written or read before that.
fn exposed(
    n_registers: usize,
    stretches: &[Stretch],
    body: &[Instruction],
    mut f: impl FnMut(usize, RegId, bool),
) {
    // The stretch in which a register was last certainly written.
    let mut written = vec![usize::MAX; n_registers];
    for (i, stretch) in stretches.iter().enumerate() {
        for instruction in &body[stretch.first as usize..stretch.end as usize] {
            visit(instruction, |register, is_write| {
                if !is_write && written[register.0 as usize] != i {
                    f(i, register, false);
                }
            });
            if instruction.guard.is_none() {
                visit(instruction, |register, is_write| {
                    if is_write {
                        written[register.0 as usize] = i;
                        f(i, register, true);
                    }
                });
            }
        }
    }
}

/// The registers that some stretch reads before it writes them: all others are in use
/// in single stretches only.
struct Shared {
    registers: Vec<RegId>,
    /// By register, its place in `registers`.
    places: Vec<Option<u32>>,
}

impl Shared {
    fn of(n_registers: usize, stretches: &[Stretch], body: &[Instruction]) -> Self {
        let mut shared = Self {
            registers: Vec::new(),
            places: vec![None; n_registers],
        };
        exposed(n_registers, stretches, body, |_, register, is_write| {
            let place = &mut shared.places[register.0 as usize];
            if !is_write && place.is_none() {
                *place = Some(shared.registers.len() as u32);
                shared.registers.push(register);
            }
        });
        shared
    }

    fn members<'a>(&'a self, set: &'a RegisterSet) -> impl Iterator<Item = RegId> + 'a {
        let places = set.members();
        places.map(|place| self.registers[place.0 as usize])
    }
}

/// What is live where stretches begin, as sets of places in [`Shared::registers`].
struct Flow {
    live_in: Vec<RegisterSet>,
}

impl Flow {
    /// `None` if that is too much work.
    fn of(shared: &Shared, stretches: &[Stretch], body: &[Instruction]) -> Option<Self> {
        let n_words = shared.registers.len().div_ceil(64) * stretches.len();
        if n_words > MOST_WORDS {
            return None;
        }
        let empty = RegisterSet::empty(shared.registers.len());
        let (mut used, mut written) = (
            vec![empty.clone(); stretches.len()],
            vec![empty.clone(); stretches.len()],
        );
        exposed(
            shared.places.len(),
            stretches,
            body,
            |stretch, register, is_write| {
                if let Some(place) = shared.places[register.0 as usize] {
                    let sets = if is_write { &mut written } else { &mut used };
                    sets[stretch].insert(RegId(place));
                }
            },
        );
        let mut flow = Self {
            live_in: vec![empty; stretches.len()],
        };
        let n_rounds = MOST_ROUNDS * MOST_WORDS / n_words.max(1);
        (0..n_rounds)
            .any(|_| !flow.settle(stretches, &used, &written))
            .then_some(flow)
    }

    /// Works out what is live, from the end to the start. Gives whether it is more than
    /// was known.
    fn settle(
        &mut self,
        stretches: &[Stretch],
        used: &[RegisterSet],
        written: &[RegisterSet],
    ) -> bool {
        let mut changed = false;
        for i in (0..stretches.len()).rev() {
            let mut live = self.live_out(i, stretches);
            let sets = live.0.iter_mut().zip(&written[i].0).zip(&used[i].0);
            for ((live, written), used) in sets {
                *live = *live & !written | used;
            }
            changed |= live != self.live_in[i];
            self.live_in[i] = live;
        }
        changed
    }

    /// What is live where a stretch ends.
    fn live_out(&self, stretch: usize, stretches: &[Stretch]) -> RegisterSet {
        let mut live = RegisterSet(vec![0; self.live_in[stretch].0.len()]);
        for &next in &stretches[stretch].next {
            for (mine, theirs) in live.0.iter_mut().zip(&self.live_in[next].0) {
                *mine |= theirs;
            }
        }
        live
    }
}

/// The most 32-bit registers of a function that hold values at once; predicates, which
/// have registers of their own, left out. Of a function too large to look at, the most
/// there can be.
pub(crate) fn most_live(function: &Function, body: &[Instruction]) -> u32 {
    let stretches = stretches(function, body);
    let shared = Shared::of(function.registers.len(), &stretches, body);
    let Some(flow) = Flow::of(&shared, &stretches, body) else {
        return u32::MAX;
    };
    let mut live = Live {
        function,
        members: RegisterSet::empty(function.registers.len()),
        added: Vec::new(),
        n_words: 0,
        most: 0,
    };
    for (i, stretch) in stretches.iter().enumerate() {
        for register in shared.members(&flow.live_out(i, &stretches)) {
            live.add(register);
        }
        let instructions = &body[stretch.first as usize..stretch.end as usize];
        for instruction in instructions.iter().rev() {
            live.before(instruction);
        }
        live.clear();
    }
    live.most
}

/// The registers that are live at a place, from the end of a stretch to its start.
struct Live<'a> {
    function: &'a Function,
    members: RegisterSet,
    /// Those that have been members in this stretch.
    added: Vec<RegId>,
    /// Their 32-bit registers, and the most of them at any place.
    n_words: u32,
    most: u32,
}

impl Live<'_> {
    /// Goes back over an instruction.
    fn before(&mut self, instruction: &Instruction) {
        // What it writes needs a place in addition to what is needed after it.
        visit(instruction, |register, is_write| {
            if is_write {
                self.add(register);
            }
        });
        if instruction.guard.is_none() {
            visit(instruction, |register, is_write| {
                if is_write {
                    self.remove(register);
                }
            });
        }
        visit(instruction, |register, is_write| {
            if !is_write {
                self.add(register);
            }
        });
    }

    fn words(&self, register: RegId) -> u32 {
        match self.function.registers[register.0 as usize].ty {
            Type::Pred => 0,
            ty => ty.size_bytes().div_ceil(4),
        }
    }

    fn add(&mut self, register: RegId) {
        if !self.members.contains(register) {
            self.members.insert(register);
            self.added.push(register);
            self.n_words += self.words(register);
            self.most = self.most.max(self.n_words);
        }
    }

    fn remove(&mut self, register: RegId) {
        if self.members.contains(register) {
            self.members.remove(register);
            self.n_words -= self.words(register);
        }
    }

    fn clear(&mut self) {
        for register in std::mem::take(&mut self.added) {
            self.remove(register);
        }
    }
}

/// The instructions that an instruction may jump to.
pub(super) fn targets(function: &Function, instruction: &Instruction) -> Vec<u32> {
    let target = |label: &ptx::ir::LabelId| function.labels[label.0 as usize].target;
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

/// Whether lanes whose guard holds do not continue with the next instruction.
fn ends_way(instruction: &Instruction) -> bool {
    matches!(name(instruction), "bra" | "brx" | "ret" | "exit" | "trap")
}

/// The opcode up to its first dot.
fn name(instruction: &Instruction) -> &str {
    instruction.opcode.split('.').next().unwrap_or("")
}

/// Whether an instruction may write registers that [`visit`] counts as read.
fn writes_what_it_reads(instruction: &Instruction) -> bool {
    matches!(name(instruction), "wgmma" | "call")
}

/// Calls `f` with each register of an instruction, and whether it is written.
/// Where that is not clear, the register counts as read.
pub(crate) fn visit(instruction: &Instruction, mut f: impl FnMut(RegId, bool)) {
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
    use ptx::ir::{Function, RegId};

    /// Interval, and whether it is live at entry, of each register of a body.
    struct Known(Function, Liveness);

    impl Known {
        fn of(body: &str) -> Self {
            let text = format!(
                ".version 7.0\n.target sm_70\n.address_size 64\n.entry k(.param .u64 p) {{\n\
                 .reg .b32 %r<8>; .reg .b64 %d<3>; .reg .pred %p<3>;\n{body}\n}}"
            );
            let mut module = ptx::parse::parse(&text).expect("well-formed");
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
        // Never certainly written: it starts as zero, and nothing shares its place.
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

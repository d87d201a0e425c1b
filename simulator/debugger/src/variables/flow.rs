//! Registers that still hold, or no longer hold, the value that DWARF says they hold.
//!
//! PTX registers are written more than once only where control flow meets: a loop's counter, say. Two
//! habits of compilers then make DWARF wrong, and this file finds both:
//!
//! - LLVM states a variable's register again at the start of each block that it reaches. It does not
//!   notice that the register was overwritten in the block before. A range that starts with a
//!   block is believed if it does not repeat anything (some block before ends without the claim),
//!   or if the register is believed at the end of each block before.
//! - nvcc's ranges go on with the text, through blocks that are reached from elsewhere. In the middle
//!   of such a range, a block is believed only if all blocks before it are.
//!
//! A register that is not written on every path to an instruction is never believed. One with a
//! single write outside of loops has one value, which is all that LLVM's ranges can mean; and one
//! with a single write that is a variable's only place needs no more either.
//!
//! Left out: writes inside of functions that are called; PTX registers belong to one function.

use ptx::ir::{Function, Instruction, Operand, RegId};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// How ranges go on from one block to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ranges {
    /// Every block that they cover states them again, and so does what follows a write.
    Restated,
    /// With the text.
    ByText,
}

/// A block: instructions that run one after the other.
#[derive(Debug)]
struct Block {
    instructions: Range<usize>,
    before: Vec<usize>,
}

/// The control flow of a function, and the writes to its registers.
#[derive(Debug)]
pub(super) struct Flow {
    blocks: Vec<Block>,
    /// By register, the instructions that write it, in order.
    writes: HashMap<RegId, Vec<usize>>,
}

/// What DWARF says of a register and a piece of a variable.
#[derive(Debug, Default)]
pub(super) struct Claim {
    /// The instructions before which it is there, in order and apart.
    pub there: Vec<Range<usize>>,
    /// Those before which the piece is somewhere else.
    pub elsewhere: Vec<Range<usize>>,
}

/// A register in its function.
pub(super) struct RegisterFlow<'a> {
    flow: &'a Flow,
    ranges: Ranges,
    writes: &'a [usize],
}

impl Flow {
    pub fn of(function: &Function) -> Self {
        let body = function.body.as_deref().unwrap_or_default();
        let mut writes: HashMap<RegId, Vec<usize>> = HashMap::new();
        for (index, instruction) in body.iter().enumerate() {
            each_written(instruction, |register| {
                writes.entry(register).or_default().push(index);
            });
        }
        Self {
            blocks: blocks(function, body),
            writes,
        }
    }

    /// A register of it, with the compiler's habit.
    pub fn of_register(&self, register: RegId, ranges: Ranges) -> RegisterFlow<'_> {
        RegisterFlow {
            flow: self,
            ranges,
            writes: self.writes.get(&register).map_or(&[], Vec::as_slice),
        }
    }

    /// Whether an instruction may run more than once.
    fn is_in_loop(&self, index: usize) -> bool {
        let start = self.block(index);
        let mut waiting = vec![start];
        let mut seen = vec![false; self.blocks.len()];
        while let Some(block) = waiting.pop() {
            for &before in &self.blocks[block].before {
                if before == start {
                    return true;
                }
                if !std::mem::replace(&mut seen[before], true) {
                    waiting.push(before);
                }
            }
        }
        false
    }

    /// The block that an instruction is in.
    fn block(&self, index: usize) -> usize {
        let after = |block: &Block| block.instructions.start <= index;
        self.blocks.partition_point(after).saturating_sub(1)
    }

    /// Finds out what holds where control flow meets only if it holds on all ways there. `step` is
    /// given a block, what holds at its start (`None`: nothing comes before it) and an instruction
    /// in it or its end, and returns what holds before that. The result says it for an instruction.
    fn settle<'a>(
        &'a self,
        step: impl Fn(&Range<usize>, Option<bool>, usize) -> bool + 'a,
    ) -> impl Fn(usize) -> bool + 'a {
        let mut ends = vec![true; self.blocks.len()];
        let meet = |ends: &[bool], block: usize| {
            let before = &self.blocks[block].before;
            // The function's start is a way to its first block.
            let reached = block != 0 && !before.is_empty();
            reached.then(|| before.iter().all(|&before| ends[before]))
        };
        loop {
            let mut is_settled = true;
            for (index, block) in self.blocks.iter().enumerate() {
                let lines = &block.instructions;
                let end = step(lines, meet(&ends, index), lines.end);
                is_settled &= end == ends[index];
                ends[index] = end;
            }
            if is_settled {
                break;
            }
        }
        move |index| {
            let block = self.block(index);
            let Some(found) = self.blocks.get(block) else {
                return false;
            };
            step(&found.instructions, meet(&ends, block), index)
        }
    }
}

impl RegisterFlow<'_> {
    /// Whether it has been written before the instruction at `index`, whatever way led there.
    pub fn is_assigned(&self, index: usize) -> bool {
        let assigned = self.flow.settle(|block, before, until| {
            let mut writes = self.writes.iter();
            before.unwrap_or(false) || writes.any(|&at| (block.start..until).contains(&at))
        });
        assigned(index)
    }

    /// Whether it has one value only, as far as a variable is concerned, and needs no other check.
    pub fn has_one_value(&self, is_only_place: bool) -> bool {
        let [write] = self.writes else {
            return false;
        };
        is_only_place || (self.ranges == Ranges::Restated && !self.flow.is_in_loop(*write))
    }

    fn is_written(&self, at: usize) -> bool {
        self.writes.binary_search(&at).is_ok()
    }

    /// Whether a claim holds before the instruction at `index`, which it covers.
    pub fn holds(&self, claim: &Claim, index: usize) -> bool {
        let there = |at: usize| claim.there.iter().any(|range| range.contains(&at));
        let starts = |at: usize| claim.there.iter().any(|range| range.start == at);
        let blocks = &self.flow.blocks;
        let goes_on: Vec<bool> = blocks
            .iter()
            .map(|block| claim.goes_on(&block.instructions, |at| self.is_written(at)))
            .collect();
        let repeats = |at: usize| {
            let before = &blocks[self.flow.block(at)].before;
            !before.is_empty() && before.iter().all(|&before| goes_on[before])
        };
        let is_restated = self.ranges == Ranges::Restated;
        let believed = self.flow.settle(|block, before, until| {
            let first = block.start;
            let is_new = (is_restated || starts(first)) && !repeats(first);
            let mut holds = there(first) && (is_new || before.unwrap_or(false));
            for at in first..until {
                let is_last = at + 1 == block.end;
                // A range that ends with its block may end with the write.
                holds &= !self.is_written(at) || (is_restated && !is_last);
                if !is_last {
                    holds = there(at + 1) && (holds || starts(at + 1));
                }
            }
            holds
        });
        believed(index)
    }
}

impl Claim {
    /// Whether a compiler that does not notice writes thinks that the claim holds at a block's end.
    fn goes_on(&self, block: &Range<usize>, is_written: impl Fn(usize) -> bool) -> bool {
        let within = |range: &Range<usize>| range.start.max(block.start)..range.end.min(block.end);
        let last = self
            .there
            .iter()
            .map(within)
            .rfind(|range| !range.is_empty());
        let Some(last) = last else {
            return false;
        };
        let is_after = |range: &Range<usize>| {
            let range = within(range);
            !range.is_empty() && range.end > last.end
        };
        let is_moved = self.elsewhere.iter().any(is_after);
        last.end == block.end || (is_written(last.end - 1) && !is_moved)
    }
}

/// Instructions whose first operand is read.
const READERS: [&str; 12] = [
    "st",
    "bra",
    "brx",
    "bar",
    "barrier",
    "red",
    "ret",
    "exit",
    "trap",
    "nanosleep",
    "prefetch",
    "setmaxnreg",
];

fn first_word(instruction: &Instruction) -> &str {
    let opcode = instruction.opcode.as_str();
    opcode.split_once('.').map_or(opcode, |(word, _)| word)
}

/// Calls `take` for each register that an instruction writes.
fn each_written(instruction: &Instruction, mut take: impl FnMut(RegId)) {
    fn registers(operand: &Operand, take: &mut impl FnMut(RegId)) {
        match operand {
            Operand::Reg(register) | Operand::Component(register, _) => take(*register),
            Operand::Pair(first, second) => {
                registers(first, take);
                registers(second, take);
            }
            Operand::Vector(parts) | Operand::List(parts) => {
                parts.iter().for_each(|part| registers(part, take));
            }
            _ => {}
        }
    }
    if READERS.contains(&first_word(instruction)) {
        return;
    }
    if let Some(first) = instruction.operands.first() {
        registers(first, &mut take);
    }
}

/// Where control goes after an instruction: to the next one, and to labels.
fn next(function: &Function, instruction: &Instruction) -> (bool, Vec<usize>) {
    let target = |label: ptx::ir::LabelId| {
        let label = function.labels.get(label.0 as usize)?;
        Some(label.target as usize)
    };
    let mut targets = Vec::new();
    for operand in &instruction.operands {
        match operand {
            Operand::Label(label) => targets.extend(target(*label)),
            Operand::BranchTargets(list) => {
                let list = function.branch_targets.get(*list as usize);
                targets.extend(
                    list.into_iter()
                        .flatten()
                        .filter_map(|&label| target(label)),
                );
            }
            _ => {}
        }
    }
    let leaves = matches!(
        first_word(instruction),
        "bra" | "brx" | "ret" | "exit" | "trap"
    );
    (!leaves || instruction.guard.is_some(), targets)
}

fn blocks(function: &Function, body: &[Instruction]) -> Vec<Block> {
    let mut starts = BTreeSet::from([0]);
    // From an instruction to another one, except to the next one within a block.
    let mut ways = Vec::new();
    for (index, instruction) in body.iter().enumerate() {
        let (goes_on, targets) = next(function, instruction);
        if !goes_on || !targets.is_empty() {
            starts.insert(index + 1);
        }
        starts.extend(&targets);
        ways.extend(targets.into_iter().map(|target| (index, target)));
        if goes_on {
            ways.push((index, index + 1));
        }
    }
    let starts: Vec<usize> = starts.into_iter().filter(|&at| at < body.len()).collect();
    let ends = starts.iter().skip(1).copied().chain([body.len()]);
    let mut blocks: Vec<Block> = starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| Block {
            instructions: start..end,
            before: Vec::new(),
        })
        .collect();
    for (from, to) in ways {
        let block_of = |at: usize| starts.partition_point(|&start| start <= at) - 1;
        if let Ok(target) = starts.binary_search(&to) {
            blocks[target].before.push(block_of(from));
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::{Claim, Flow, Ranges, RegisterFlow};
    use std::ops::Range;

    /// The flow of a body, and one of its registers.
    fn check(body: &str, name: &str, ranges: Ranges, then: impl FnOnce(RegisterFlow<'_>)) {
        let text = format!(
            ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n\
             .reg .pred %p<3>;\n.reg .b32 %r<5>;\n{body}\n}}\n"
        );
        let module = ptx::parse::parse(&text).unwrap();
        let function = &module.functions[0];
        let mut registers = (0..).map(ptx::ir::RegId).zip(&function.registers);
        let (register, _) = registers.find(|(_, known)| known.name == name).unwrap();
        then(Flow::of(function).of_register(register, ranges));
    }

    fn claim(there: &[Range<usize>]) -> Claim {
        Claim {
            there: there.to_vec(),
            elsewhere: Vec::new(),
        }
    }

    const LOOP: &str = "\
        mov.u32 %r1, 0;
        LOOP:
        add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 8;
        @%p1 bra LOOP;
        mov.u32 %r2, %r1;
        ret;";

    #[test]
    fn a_claim_that_is_repeated_after_a_write_is_not_believed() {
        check(LOOP, "%r1", Ranges::Restated, |flow| {
            let claim = claim(&[1..2, 4..6]);
            assert!(flow.holds(&claim, 1), "the claim is made here");
            assert!(!flow.holds(&claim, 4), "it ended with the addition");
        });
    }

    #[test]
    fn a_claim_that_is_made_again_after_a_write_is_believed() {
        check(LOOP, "%r1", Ranges::Restated, |flow| {
            let claim = claim(std::slice::from_ref(&(1..6)));
            assert!((1..6).all(|at| flow.holds(&claim, at)));
        });
    }

    const JOIN: &str = "\
        setp.eq.u32 %p1, 0, 0;
        @%p1 bra ELSE;
        mov.u32 %r2, 1;
        bra JOIN;
        ELSE:
        mov.u32 %r3, 2;
        JOIN:
        ret;";

    #[test]
    fn a_range_by_text_ends_where_control_comes_from_elsewhere() {
        check(JOIN, "%r2", Ranges::ByText, |flow| {
            let claim = claim(std::slice::from_ref(&(3..6)));
            assert!(flow.holds(&claim, 3));
            assert!(!flow.holds(&claim, 4));
            assert!(!flow.holds(&claim, 5));
            assert!(flow.is_assigned(3));
            assert!(!flow.is_assigned(5), "not if the branch is taken");
        });
    }

    #[test]
    fn a_single_write_outside_of_loops_is_one_value() {
        check(JOIN, "%r2", Ranges::Restated, |flow| {
            assert!(flow.has_one_value(false));
        });
        check(LOOP, "%r1", Ranges::Restated, |flow| {
            assert!(!flow.has_one_value(true), "two writes");
        });
        let body = "LOOP: mov.u32 %r1, 0; bra LOOP;";
        check(body, "%r1", Ranges::Restated, |flow| {
            assert!(!flow.has_one_value(false), "a write per turn");
            assert!(flow.has_one_value(true));
        });
    }

    #[test]
    fn what_is_written_last_is_not_there_before() {
        check("mov.u32 %r1, 0; ret;", "%r1", Ranges::ByText, |flow| {
            assert!(!flow.is_assigned(0));
            assert!(flow.is_assigned(1));
        });
    }
}

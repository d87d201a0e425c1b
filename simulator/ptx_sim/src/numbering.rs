//! The numbers by which observers know a launch's instructions and blocks, and which of the loads
//! are only stored again.
//!
//! A module can hold hundreds of kernels, of which a launch runs one and what it calls.
//! Observers keep a record for each instruction, so only those that can be reached are
//! numbered.

use std::collections::{BTreeMap, BTreeSet};

use crate::decode::liveness::visit;
use crate::program::Program;
use ptx::ir::{Instruction, Module, Operand, RegId};

/// Consecutive numbers for the instructions and blocks of some functions.
pub(crate) struct Numbering {
    /// By function: the numbers of its first instruction and first block.
    bases: Vec<Option<(u32, u32)>>,
    /// Instructions numbered.
    pub n_instructions: u32,
    /// Blocks numbered.
    pub n_blocks: u32,
}

impl Numbering {
    /// Numbers the functions that can be reached.
    pub fn new(program: &Program, reachable: &BTreeSet<u32>) -> Self {
        let mut bases = vec![None; program.functions.len()];
        let (mut n_instructions, mut n_blocks) = (0, 0);
        for &index in reachable {
            if let Some(function) = &program.functions[index as usize] {
                bases[index as usize] = Some((n_instructions, n_blocks));
                n_instructions += function.n_instructions;
                n_blocks += function.blocks.len() as u32;
            }
        }
        Self {
            bases,
            n_instructions,
            n_blocks,
        }
    }

    /// The numbers of a function's first instruction and first block, if it
    /// is numbered.
    pub fn of_function(&self, index: usize) -> Option<(u32, u32)> {
        self.bases.get(index).copied().flatten()
    }

    /// The function, and the instruction in it, that a number stands for.
    pub fn instruction(&self, number: u32) -> Option<(usize, u32)> {
        let bases = self.bases.iter().enumerate();
        let starts = bases.filter_map(|(i, base)| Some((i, (*base)?.0)));
        starts
            .filter(|(_, first)| *first <= number)
            .max_by_key(|(_, first)| *first)
            .map(|(i, first)| (i, number - first))
    }
}

/// The loads of a kernel whose values are only stored again, and where that is.
#[derive(Default)]
pub(crate) struct Routes {
    /// By load, whether others may see the value.
    pub loads: BTreeMap<u32, bool>,
    /// By store, what it has from loads.
    pub stores: BTreeMap<u32, Vec<Part>>,
}

/// A part of a stored value, which is one of a loaded value.
pub(crate) struct Part {
    /// Which part, of how many.
    pub of_store: (u32, u32),
    pub load: u32,
    pub of_load: (u32, u32),
}

/// What a function does with a register.
#[derive(Clone, Default)]
struct Uses {
    n_writes: usize,
    n_reads: usize,
    /// The stores of its value, and which part it is of how many.
    stores: Vec<(u32, (u32, u32))>,
    /// Whether others may see any of them.
    leaves: bool,
}

impl Routes {
    /// Of a kernel.
    pub fn of(module: &Module, numbering: &Numbering) -> Self {
        let mut routes = Self::default();
        for (index, function) in module.functions.iter().enumerate() {
            if let (Some(body), Some((first, _))) = (&function.body, numbering.of_function(index)) {
                routes.add(first, body, &uses(body, function.registers.len()));
            }
        }
        routes
    }

    /// Adds a function's loads, whose numbers begin with `first`.
    fn add(&mut self, first: u32, body: &[Instruction], uses: &[Uses]) {
        for (number, load) in (first..).zip(body) {
            if !load.opcode.starts_with("ld.") || load.used_bytes.is_some() {
                continue;
            }
            let loaded: Vec<_> = values(load.operands.first()).collect();
            let known = || loaded.iter().map(|(id, _)| &uses[id.0 as usize]);
            let is_used = |uses: &Uses| uses.n_reads > uses.stores.len();
            if known().any(is_used) || known().all(|uses| uses.n_reads == 0) {
                continue;
            }
            self.loads.insert(number, known().any(|uses| uses.leaves));
            for (uses, (_, of_load)) in known().zip(&loaded).filter(|(u, _)| u.n_writes == 1) {
                for &(store, of_store) in &uses.stores {
                    self.stores.entry(first + store).or_default().push(Part {
                        of_store,
                        load: number,
                        of_load: *of_load,
                    });
                }
            }
        }
    }
}

/// By register, what a function does with it.
fn uses(body: &[Instruction], n_registers: usize) -> Vec<Uses> {
    let mut all = vec![Uses::default(); n_registers];
    for (number, instruction) in (0..).zip(body) {
        visit(instruction, |register, is_write| {
            let uses = &mut all[register.0 as usize];
            uses.n_writes += usize::from(is_write);
            uses.n_reads += usize::from(!is_write);
        });
        let is = |what: &str| instruction.opcode.contains(what);
        if !instruction.opcode.starts_with("st.") || is(".async") || is(".bulk") {
            continue;
        }
        for (register, part) in values(instruction.operands.get(1)) {
            let uses = &mut all[register.0 as usize];
            uses.stores.push((number, part));
            uses.leaves |= is(".global") || is(".shared") || is(".volatile");
        }
    }
    all
}

/// The registers of a value, each with its place among the value's parts.
fn values(value: Option<&Operand>) -> impl Iterator<Item = (RegId, (u32, u32))> {
    let parts = match value {
        Some(Operand::Vector(parts)) => &parts[..],
        one => one.map_or(&[][..], std::slice::from_ref),
    };
    let registers = (0..).zip(parts).filter_map(|(i, part)| match part {
        Operand::Reg(register) => Some((i, *register)),
        _ => None,
    });
    registers.map(|(i, register)| (register, (i, parts.len() as u32)))
}

//! The numbers by which observers know a launch's instructions and blocks.
//!
//! A module can hold hundreds of kernels, of which a launch runs one and what it calls.
//! Observers keep a record for each instruction, so only those that can be reached are
//! numbered.

use std::collections::BTreeSet;

use crate::program::Program;

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

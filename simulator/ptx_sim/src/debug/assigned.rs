//! The registers that have certainly been written when an instruction is reached.
//!
//! A register that has not may show what another one left in its place. So only those are shown
//! that every path through the function has written, or that begin with zero.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::decode::liveness::{RegisterSet, visit};
use crate::program::{Function, Terminator};
use ptx::ir::{self, RegId};

/// What is known of functions, by number.
#[derive(Default)]
pub(crate) struct Knowledge(Mutex<HashMap<usize, Arc<Assigned>>>);

impl Knowledge {
    /// What is known of a function.
    pub fn of(&self, index: usize, ir: &ir::Function, function: &Function) -> Arc<Assigned> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Assigned::of(ir, function));
        Arc::clone(known.entry(index).or_insert_with(new))
    }
}

/// By block of a function, the registers that have been written where it begins.
pub(crate) struct Assigned(Vec<RegisterSet>);

impl Assigned {
    fn of(ir: &ir::Function, function: &Function) -> Self {
        let n_registers = ir.registers.len();
        let body = ir.body.as_deref().unwrap_or_default();
        let mut all = RegisterSet::empty(n_registers);
        (0..n_registers as u32).for_each(|i| all.insert(RegId(i)));
        let mut at_start = vec![all; function.blocks.len()];
        if let Some(entry) = at_start.first_mut() {
            *entry = at_entry(n_registers, function);
        }
        let mut left: Vec<usize> = (0..function.blocks.len()).collect();
        while let Some(index) = left.pop() {
            let block = &function.blocks[index];
            let mut now = at_start[index].clone();
            let end = block.ptx_end as usize;
            for instruction in &body[block.ptx_first as usize..end.min(body.len())] {
                add_written(&mut now, instruction);
            }
            for next in successors(&block.terminator) {
                if at_start[next].keep_common(&now) && !left.contains(&next) {
                    left.push(next);
                }
            }
        }
        Self(at_start)
    }

    /// Whether a register has been written when an instruction of a function is reached.
    pub fn has(&self, ir: &ir::Function, function: &Function, register: RegId, at: u32) -> bool {
        let body = ir.body.as_deref().unwrap_or_default();
        let is_here = |b: &crate::program::Block| (b.ptx_first..b.ptx_end.max(1)).contains(&at);
        let Some(index) = function.blocks.iter().position(is_here) else {
            return false;
        };
        if self.0[index].contains(register) {
            return true;
        }
        let first = function.blocks[index].ptx_first as usize;
        let before = body.get(first..at as usize).unwrap_or_default();
        before.iter().any(|instruction| {
            let mut is_written = false;
            if instruction.guard.is_none() {
                visit(instruction, |r, is_write| {
                    is_written |= is_write && r == register
                });
            }
            is_written
        })
    }
}

/// The registers that begin with zero.
fn at_entry(n_registers: usize, function: &Function) -> RegisterSet {
    let mut set = RegisterSet::empty(n_registers);
    let homes = (0..).zip(&function.homes);
    for (i, home) in homes.filter_map(|(i, home)| Some((i, (*home)?))) {
        let is_zeroed = function.zeroed.iter().any(|&(slot, _)| slot == home.slot);
        if home.first == 0 && is_zeroed {
            set.insert(RegId(i));
        }
    }
    set
}

fn add_written(set: &mut RegisterSet, instruction: &ir::Instruction) {
    if instruction.guard.is_none() {
        visit(instruction, |register, is_write| {
            if is_write {
                set.insert(register);
            }
        });
    }
}

fn successors(terminator: &Terminator) -> Vec<usize> {
    let next: Vec<u32> = match terminator {
        Terminator::Jump(next) => vec![*next],
        Terminator::Branch { taken, other, .. } => vec![*taken, *other],
        Terminator::Switch { targets, .. } => targets.clone(),
        Terminator::Return | Terminator::Exit | Terminator::Trap => Vec::new(),
        Terminator::Call(call) => call.next.into_iter().collect(),
        Terminator::Barrier(barrier) => vec![barrier.next],
        Terminator::ClusterBarrier(barrier) => vec![barrier.next],
    };
    next.into_iter().map(|next| next as usize).collect()
}

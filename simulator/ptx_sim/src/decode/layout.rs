//! The layout of a kernel's shared variables.

use std::collections::BTreeSet;

use crate::program::{CallTarget, Function, Init, Program, Terminator};
use ptx::ir::{FuncId, Module, Relocation, RelocationTarget, Space, VarId};

/// The functions that a kernel can reach, itself included.
pub(crate) fn reachable(module: &Module, program: &Program, kernel: FuncId) -> BTreeSet<u32> {
    let mut reached = BTreeSet::from([kernel.0]);
    let mut to_visit = vec![kernel.0];
    while let Some(index) = to_visit.pop() {
        let Some(function) = &program.functions[index as usize] else {
            continue;
        };
        // Functions can also be reached through tables of their addresses, and through a
        // pointer that another kernel of the module has left.
        let tables = function
            .variables
            .iter()
            .map(|v| &module.variables[v.0 as usize]);
        let through_tables = tables.flat_map(|variable| addressed(&variable.relocations));
        let mut callees: Vec<FuncId> = function.callees.clone();
        callees.extend(through_tables);
        if calls_by_pointer(function) {
            callees.extend(all_addressed(module, program));
        }
        for callee in callees {
            if reached.insert(callee.0) {
                to_visit.push(callee.0);
            }
        }
    }
    reached
}

/// The functions whose addresses are in an initialiser.
fn addressed(relocations: &[Relocation]) -> impl Iterator<Item = FuncId> {
    relocations.iter().filter_map(|r| match r.target {
        RelocationTarget::Function(id) => Some(id),
        RelocationTarget::Variable(_) => None,
    })
}

/// The functions whose addresses the module has anywhere.
fn all_addressed(module: &Module, program: &Program) -> impl Iterator<Item = FuncId> {
    let variables = module.variables.iter();
    let in_tables = variables.flat_map(|variable| addressed(&variable.relocations));
    let inits = program.functions.iter().flatten().flat_map(|f| &f.inits);
    let in_code = inits.filter_map(|(_, init)| match *init {
        Init::Function { id, .. } => Some(id),
        _ => None,
    });
    in_tables.chain(in_code)
}

/// Whether a function has a call through a pointer.
fn calls_by_pointer(function: &Function) -> bool {
    function.blocks.iter().any(|block| match &block.terminator {
        Terminator::Call(call) => matches!(call.target, CallTarget::Pointer(_)),
        _ => false,
    })
}

/// A block's shared memory: the static variables that the kernel and what it
/// calls name, in order of declaration, then the dynamic memory.
pub(crate) struct SharedLayout {
    /// Offsets, static variables first.
    pub placed: Vec<(VarId, u32)>,
    /// Bytes of the static variables.
    pub static_bytes: u32,
    /// Where dynamic memory starts.
    dynamic_start: u32,
    /// Whether dynamic memory is named.
    pub is_dynamic: bool,
}

impl SharedLayout {
    /// The layout for a kernel.
    pub fn of(module: &Module, program: &Program, kernel: FuncId) -> Self {
        let reached = reachable(module, program, kernel);
        let functions = reached
            .iter()
            .filter_map(|&f| program.functions[f as usize].as_ref());
        let named: BTreeSet<u32> = functions
            .flat_map(|f| f.variables.iter().map(|v| v.0))
            .collect();
        let mut layout = Self {
            placed: Vec::new(),
            static_bytes: 0,
            dynamic_start: 0,
            is_dynamic: false,
        };
        let mut dynamic = Vec::new();
        let mut end = 0u64;
        let mut dynamic_align = 16;
        for index in named {
            let variable = &module.variables[index as usize];
            if variable.space != Space::Shared {
                continue;
            }
            let align = variable.align.max(1);
            if variable.is_open() {
                dynamic.push(VarId(index));
                dynamic_align = dynamic_align.max(align);
            } else {
                end = end.next_multiple_of(u64::from(align));
                layout.placed.push((VarId(index), saturated(end)));
                end = end
                    .saturating_add(variable.size_bytes)
                    .min(u64::from(u32::MAX) + 1);
            }
        }
        layout.static_bytes = saturated(end);
        layout.dynamic_start = saturated(end.next_multiple_of(u64::from(dynamic_align)));
        layout.is_dynamic = !dynamic.is_empty();
        let start = layout.dynamic_start;
        layout
            .placed
            .extend(dynamic.into_iter().map(|id| (id, start)));
        layout
    }

    /// A variable's offset.
    pub fn offset(&self, id: VarId) -> u32 {
        self.placed
            .iter()
            .find(|(v, _)| *v == id)
            .map_or(0, |(_, offset)| *offset)
    }

    /// Bytes of a block's shared memory.
    pub fn static_bytes_with_padding(&self, dynamic_bytes: u32) -> u32 {
        if dynamic_bytes == 0 {
            self.static_bytes
        } else {
            self.dynamic_start.saturating_add(dynamic_bytes)
        }
    }
}

/// Bytes of shared memory; more than there are addresses for is too much in any case.
fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

//! The layout of a function's register frame.
//!
//! Predicates come first, four bytes each; then everything else in cache
//! lines: constants and special values (one slot for each distinct one), and
//! registers that the function uses, as they are met.

use crate::ir::{Function, RegId, Type};
use crate::program::{Init, Slot};

/// The widest register, in bytes for all lanes.
const LINE: u32 = 64;

/// A frame's layout while it grows.
pub(crate) struct FrameBuilder<'a> {
    function: &'a Function,
    /// Slots by register.
    registers: Vec<Option<Slot>>,
    /// Values to put in place.
    pub inits: Vec<(Slot, Init)>,
    n_predicates: u32,
    predicate_end: u32,
    end: u32,
}

/// Bytes that one lane of a register takes; 0 for predicates.
pub(crate) fn lane_bytes(ty: Type) -> u32 {
    match ty {
        Type::Pred => 0,
        other => other.size_bytes().max(2),
    }
}

impl<'a> FrameBuilder<'a> {
    /// An empty frame.
    pub fn new(function: &'a Function, n_instructions: usize) -> Self {
        // Room for every declared predicate, and for what single
        // instructions need on the way: at most four each.
        let declared = function
            .registers
            .iter()
            .filter(|r| r.ty == Type::Pred)
            .count();
        let predicate_end = (4 * (declared + 4 * n_instructions + 8) as u32).next_multiple_of(LINE);
        Self {
            function,
            registers: vec![None; function.registers.len()],
            inits: Vec::new(),
            n_predicates: 0,
            predicate_end,
            end: predicate_end,
        }
    }

    /// A register's type.
    pub fn type_of(&self, register: RegId) -> Type {
        self.function.registers[register.0 as usize].ty
    }

    /// A register's slot.
    pub fn register(&mut self, register: RegId) -> Slot {
        if let Some(slot) = self.registers[register.0 as usize] {
            return slot;
        }
        let slot = self.fresh(lane_bytes(self.type_of(register)));
        self.registers[register.0 as usize] = Some(slot);
        slot
    }

    /// Every register that has a slot, with the bytes of all its lanes.
    pub fn used(&self) -> impl Iterator<Item = (RegId, Slot, u32)> + '_ {
        self.registers.iter().enumerate().filter_map(|(i, slot)| {
            let bytes = lane_bytes(self.function.registers[i].ty);
            Some((
                RegId(i as u32),
                (*slot)?,
                if bytes == 0 { 4 } else { 32 * bytes },
            ))
        })
    }

    /// A slot for lanes of `bytes`; for a predicate if 0.
    pub fn fresh(&mut self, bytes: u32) -> Slot {
        if bytes == 0 {
            let slot = 4 * self.n_predicates;
            if slot < self.predicate_end {
                self.n_predicates += 1;
                return slot;
            }
            let slot = self.end;
            self.end += LINE;
            return slot;
        }
        let slot = self.end;
        self.end += (32 * bytes).next_multiple_of(LINE);
        slot
    }

    /// The slot of a value that is there from the start.
    pub fn value(&mut self, init: Init) -> Slot {
        if let Some((slot, _)) = self.inits.iter().find(|(_, known)| *known == init) {
            return *slot;
        }
        let slot = self.fresh(init.bytes());
        self.inits.push((slot, init));
        slot
    }

    /// The frame's size.
    pub fn size(&self) -> u32 {
        self.end
    }
}

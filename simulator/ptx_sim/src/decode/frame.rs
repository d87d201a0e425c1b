//! The layout of a function's register frame.
//!
//! A frame is made of cache lines: for constants and special values, one slot for
//! each distinct one; for registers, where those that are not needed at the same
//! time share a slot; and for intermediate values of single instructions. Predicates, four
//! bytes each, share lines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use super::liveness::{Interval, Liveness};
use crate::program::{Home, Init, Slot};
use ptx::ir::{Function, RegId, Special, Type};

/// A cache line, in bytes.
const LINE: u32 = 64;
/// Bytes of a predicate for all lanes.
const PREDICATE_BYTES: u32 = 4;
/// Largest frame.
const MAX_BYTES: u32 = 1 << 30;
/// The slot of what does not fit in a frame: not a slot, and no operand may name it.
const NOWHERE: Slot = Slot::MAX;

/// A frame's layout while it grows.
pub(crate) struct FrameBuilder<'a> {
    function: &'a Function,
    /// Slots by register.
    registers: Vec<Option<Slot>>,
    /// Values to put in place.
    pub inits: Vec<(Slot, Init)>,
    /// Their slots.
    values: HashMap<Init, Slot>,
    value_slots: HashSet<Slot>,
    /// Temporaries of the instruction being decoded: slots and their sizes.
    in_hand: Vec<(Slot, u32)>,
    /// Those of earlier ones, by size.
    spare: BTreeMap<u32, Vec<Slot>>,
    space: Space,
}

/// A frame's memory, as far as it is assigned.
#[derive(Default)]
struct Space {
    end: u32,
    /// What is left of a line of predicates.
    predicates: std::ops::Range<u32>,
    /// By line: bytes of the slot that starts there, [`PREDICATE_BYTES`] in a line of
    /// predicates; 0 inside a slot.
    slots: Vec<u32>,
}

impl Space {
    /// A slot of [`slot_bytes`].
    fn take(&mut self, bytes: u32) -> Slot {
        if bytes != PREDICATE_BYTES {
            return self.lines(bytes, bytes);
        }
        if self.predicates.is_empty() {
            let start = self.lines(LINE, PREDICATE_BYTES);
            if start == NOWHERE {
                return NOWHERE;
            }
            self.predicates = start..start + LINE;
        }
        let slot = self.predicates.start;
        self.predicates.start += PREDICATE_BYTES;
        slot
    }

    /// Lines for slots of `slot_bytes`; where they start.
    fn lines(&mut self, bytes: u32, slot_bytes: u32) -> Slot {
        if MAX_BYTES - self.end < bytes {
            return NOWHERE;
        }
        self.slots.push(slot_bytes);
        self.slots
            .resize(self.slots.len() - 1 + (bytes / LINE) as usize, 0);
        self.end += bytes;
        self.end - bytes
    }

    /// Whether a slot of [`slot_bytes`] has been taken there.
    fn has(&self, slot: Slot, bytes: u32) -> bool {
        let line = self.slots.get((slot / LINE) as usize);
        let place = if bytes == PREDICATE_BYTES {
            slot.is_multiple_of(PREDICATE_BYTES)
        } else {
            slot.is_multiple_of(LINE)
        };
        place && line == Some(&bytes)
    }
}

/// Bytes that one lane of a register takes; 0 for predicates.
pub(crate) fn lane_bytes(ty: Type) -> u32 {
    match ty {
        Type::Pred => 0,
        other => other.size_bytes().max(2),
    }
}

/// Bytes of the slot of a register whose lanes take this many; 0 for a predicate.
fn slot_bytes(lane_bytes: u32) -> u32 {
    match lane_bytes {
        0 => PREDICATE_BYTES,
        bytes => (32 * bytes).next_multiple_of(LINE),
    }
}

impl<'a> FrameBuilder<'a> {
    /// A frame with the registers that the function uses.
    pub fn new(function: &'a Function, liveness: &Liveness) -> Self {
        let mut space = Space::default();
        Self {
            function,
            registers: share(function, &liveness.intervals, &mut space),
            inits: Vec::new(),
            values: HashMap::new(),
            value_slots: HashSet::new(),
            in_hand: Vec::new(),
            spare: BTreeMap::new(),
            space,
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
        let slot = self.permanent(lane_bytes(self.type_of(register)));
        self.registers[register.0 as usize] = Some(slot);
        slot
    }

    /// The registers with a slot that are wanted, as (slot, bytes of all lanes).
    pub fn slots_of(&self, is_wanted: impl Fn(RegId) -> bool) -> Vec<(Slot, u32)> {
        let slot_of = |(i, slot): (usize, &Option<Slot>)| {
            let register = RegId(i as u32);
            let slot = slot.filter(|&slot| slot != NOWHERE && is_wanted(register))?;
            Some((slot, slot_bytes(lane_bytes(self.type_of(register)))))
        };
        let slots = self.registers.iter().enumerate();
        slots.filter_map(slot_of).collect()
    }

    /// Where registers' values are, and for how long. One that stands for a value that is present
    /// from the start keeps it.
    pub fn homes(&self, intervals: &[Option<Interval>]) -> Vec<Option<Home>> {
        let home = |(slot, interval): (&Option<Slot>, &Option<Interval>)| {
            let slot = slot.filter(|&slot| slot != NOWHERE)?;
            let Interval { first, last } = (*interval)?;
            let last = match self.value_slots.contains(&slot) {
                true => u32::MAX,
                false => last,
            };
            Some(Home { slot, first, last })
        };
        self.registers.iter().zip(intervals).map(home).collect()
    }

    /// A slot for lanes of `bytes` that is used for nothing else; for a predicate if 0.
    pub fn permanent(&mut self, bytes: u32) -> Slot {
        self.space.take(slot_bytes(bytes))
    }

    /// A slot as [`FrameBuilder::permanent`], but only for the instruction being decoded.
    pub fn temporary(&mut self, bytes: u32) -> Slot {
        let bytes = slot_bytes(bytes);
        let spare = self.spare.get_mut(&bytes).and_then(Vec::pop);
        let slot = spare.unwrap_or_else(|| self.space.take(bytes));
        self.in_hand.push((slot, bytes));
        slot
    }

    /// Decoding goes on to the next instruction.
    pub fn next_instruction(&mut self) {
        for (slot, bytes) in self.in_hand.drain(..) {
            self.spare.entry(bytes).or_default().push(slot);
        }
    }

    /// A constant in lanes of this many bytes.
    pub fn constant(&mut self, bits: u64, bytes: u32) -> Slot {
        self.value(Init::Constant { bits, bytes })
    }

    /// The slot of a value that is present from the start: a constant predicate, or a value
    /// of 2, 4, 8 or 16 bytes. Others have none.
    pub fn value(&mut self, init: Init) -> Slot {
        let is_predicate = match init {
            Init::Predicate(_) => true,
            Init::Special { register, bytes } => {
                register == Special::IsExplicitCluster && bytes == 0
            }
            _ => false,
        };
        if !is_predicate && !matches!(init.bytes(), 2 | 4 | 8 | 16) {
            return NOWHERE;
        }
        if let Some(&slot) = self.values.get(&init) {
            return slot;
        }
        let slot = self.permanent(init.bytes());
        if slot != NOWHERE {
            self.inits.push((slot, init));
            self.values.insert(init, slot);
            self.value_slots.insert(slot);
        }
        slot
    }

    /// Lets a register stand for a value that is present from the start, if that is what the
    /// slot holds, of the register's size; gives whether it does.
    pub fn let_stand_for(&mut self, register: RegId, slot: Slot) -> bool {
        let stands = self.value_slots.contains(&slot)
            && self.holds(slot, lane_bytes(self.type_of(register)));
        if stands {
            self.registers[register.0 as usize] = Some(slot);
        }
        stands
    }

    /// Whether a slot is one for lanes of `bytes`; for a predicate if 0.
    pub fn holds(&self, slot: Slot, bytes: u32) -> bool {
        self.space.has(slot, slot_bytes(bytes))
    }

    /// The frame's size.
    pub fn size(&self) -> u32 {
        self.space.end
    }
}

/// Gives slots to registers, in the order in which they come into use. A free slot goes to
/// the next register of its size, but not to one that an instruction writes while it still
/// reads from the slot, since not all instructions write last.
fn share(
    function: &Function,
    intervals: &[Option<Interval>],
    space: &mut Space,
) -> Vec<Option<Slot>> {
    let mut order: Vec<(Interval, usize)> = intervals
        .iter()
        .enumerate()
        .filter_map(|(register, interval)| Some(((*interval)?, register)))
        .collect();
    order.sort_unstable_by_key(|&(interval, register)| (interval.first, register));
    let mut slots = vec![None; intervals.len()];
    // Slots in use, by when that ends; those that are free, by size.
    let mut taken: BinaryHeap<Reverse<(u32, Slot, u32)>> = BinaryHeap::new();
    let mut free: BTreeMap<u32, Vec<Slot>> = BTreeMap::new();
    for (interval, register) in order {
        while let Some(&Reverse((last, slot, bytes))) = taken.peek()
            && last < interval.first
        {
            taken.pop();
            free.entry(bytes).or_default().push(slot);
        }
        let bytes = slot_bytes(lane_bytes(function.registers[register].ty));
        let slot = match free.get_mut(&bytes).and_then(Vec::pop) {
            Some(slot) => slot,
            None => space.take(bytes),
        };
        taken.push(Reverse((interval.last, slot, bytes)));
        slots[register] = Some(slot);
    }
    slots
}

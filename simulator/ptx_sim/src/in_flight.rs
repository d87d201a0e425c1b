//! Sums of `wgmma` of a warp that it has not waited for.
//!
//! An instruction computes at once, but its sums go to the registers when their group has
//! been waited for: a kernel that reads them too early always sees the old values.
//! (Hardware may show either, or a mixture.) Later products continue from the sums in
//! flight.

use std::collections::VecDeque;

use crate::numeric::tile::Register;
use crate::program::Slot;

/// A frame of the warp, by its number.
type FrameId = u32;
/// A register of a call: its frame, and the slot there.
type Place = (FrameId, Slot);

/// The sums of some instructions, one after the other, on the same registers.
#[derive(Clone, Hash)]
struct Tile {
    frame: FrameId,
    /// The function whose frame that is.
    function: usize,
    /// The registers, [`NOWHERE`] for those that have got another value since.
    slots: Vec<Slot>,
    sums: Vec<Register>,
    /// Registers that are copies of some: where, and of which.
    copies: Vec<(Slot, usize)>,
    /// The youngest group that adds to it.
    group: u32,
}

/// No slot.
const NOWHERE: Slot = Slot::MAX;

/// What a warp has in flight.
#[derive(Default, Clone, Hash)]
pub(crate) struct InFlight {
    tiles: Vec<Tile>,
    /// Memory of sums, to be reused.
    spare: Vec<Vec<Register>>,
    /// Groups that have been committed.
    n_groups: u32,
    /// By group of those that have not been waited for: how many products had been issued
    /// when it was committed.
    issued: VecDeque<u64>,
}

impl InFlight {
    /// Forgets everything, for the next block.
    pub fn reset(&mut self) {
        self.tiles.clear();
        self.issued.clear();
        self.n_groups = 0;
    }

    /// The sums of registers of a frame, to be added to by a product of the open group:
    /// those in flight or else (`read`) in the registers; zero where they are not kept.
    pub fn open(
        &mut self,
        (frame, function): (FrameId, usize),
        slots: &[Slot],
        keeps: bool,
        read: impl Fn(Slot) -> Register,
    ) -> &mut [Register] {
        let is_same = |tile: &Tile| tile.frame == frame && tile.slots == slots;
        let index = match self.tiles.iter().position(is_same) {
            Some(index) if self.tiles[index].copies.is_empty() => {
                if !keeps {
                    self.tiles[index].sums.fill([0; 32]);
                }
                index
            }
            _ => self.open_new((frame, function), slots, keeps, read),
        };
        let tile = &mut self.tiles[index];
        tile.group = self.n_groups;
        &mut tile.sums
    }

    fn open_new(
        &mut self,
        (frame, function): (FrameId, usize),
        slots: &[Slot],
        keeps: bool,
        read: impl Fn(Slot) -> Register,
    ) -> usize {
        let mut sums = self.spare.pop().unwrap_or_default();
        sums.clear();
        if keeps {
            let now = |&slot: &Slot| match self.find((frame, slot)) {
                Some((tile, index)) => self.tiles[tile].sums[index],
                None => read(slot),
            };
            sums.extend(slots.iter().map(now));
        } else {
            sums.resize(slots.len(), [0; 32]);
        }
        slots.iter().for_each(|&slot| self.forget((frame, slot)));
        self.tiles.push(Tile {
            frame,
            function,
            slots: slots.to_vec(),
            sums,
            copies: Vec::new(),
            group: 0,
        });
        self.tiles.len() - 1
    }

    /// Whether a sum goes to a register.
    pub fn is_for(&self, frame: FrameId, slot: Slot) -> bool {
        self.find((frame, slot)).is_some()
    }

    /// Whether nothing is in flight.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// The tile and the sum that go to a register.
    fn find(&self, (frame, slot): Place) -> Option<(usize, usize)> {
        let mut tiles = self.tiles.iter().enumerate().rev();
        tiles.find_map(|(number, tile)| {
            if tile.frame != frame {
                return None;
            }
            let index = tile.slots.iter().position(|&own| own == slot);
            let copied = || tile.copies.iter().find(|copy| copy.0 == slot);
            Some((number, index.or_else(|| Some(copied()?.1))?))
        })
    }

    /// A register gets another value: no sum goes there any more.
    pub fn forget(&mut self, (frame, slot): Place) {
        for tile in self.tiles.iter_mut().filter(|tile| tile.frame == frame) {
            for own in tile.slots.iter_mut().filter(|own| **own == slot) {
                *own = NOWHERE;
            }
            tile.copies.retain(|copy| copy.0 != slot);
        }
    }

    /// Register `d` becomes a copy of `a`: it gets the sum that goes there.
    pub fn carry(&mut self, frame: FrameId, d: Slot, a: Slot) {
        let found = self.find((frame, a));
        if d == a {
            return;
        }
        self.forget((frame, d));
        if let Some((tile, index)) = found {
            self.tiles[tile].copies.push((d, index));
        }
    }

    /// Closes the group, with which this many products have been issued.
    pub fn commit(&mut self, issued: u64) {
        self.n_groups += 1;
        self.issued.push_back(issued);
    }

    /// How many products must have been issued for the awaited groups to be done: all but
    /// the `n_left` youngest.
    pub fn needed(&self, n_left: u32) -> u64 {
        let n_done = self.issued.len().saturating_sub(n_left as usize);
        let last = n_done.checked_sub(1).and_then(|last| self.issued.get(last));
        last.copied().unwrap_or(0)
    }

    /// The sums of all groups but the `n_left` youngest are done: each is given to `arrive`,
    /// with its frame, the number of its function, and the register.
    pub fn complete(
        &mut self,
        n_left: u32,
        mut arrive: impl FnMut((FrameId, usize), Slot, &Register),
    ) {
        let n_done = self.issued.len().saturating_sub(n_left as usize);
        self.issued.drain(..n_done);
        let n_groups = self.n_groups;
        let spare = &mut self.spare;
        self.tiles.retain_mut(|tile| {
            if tile.group.saturating_add(n_left) >= n_groups {
                return true;
            }
            tile.arrive(&mut arrive);
            spare.push(std::mem::take(&mut tile.sums));
            false
        });
    }
}

impl Tile {
    fn arrive(&self, arrive: &mut impl FnMut((FrameId, usize), Slot, &Register)) {
        let own = self.slots.iter().copied().zip(&self.sums);
        let copies = self.copies.iter();
        let copies = copies.map(|&(slot, index)| (slot, &self.sums[index]));
        for (slot, sum) in own.chain(copies).filter(|(slot, _)| *slot != NOWHERE) {
            arrive((self.frame, self.function), slot, sum);
        }
    }
}

//! Atomic, volatile and ordered accesses to cells: kept only for the cells between the first
//! and the last that had any, so that all others are judged as if there were none.

/// In `how`: the bytes of the accesses.
const SIZE: u32 = 0xFF;
/// Whether any is for its block only.
const NARROW: u32 = 1 << 8;

/// Accesses to a cell that may meet each other.
#[derive(Clone, Copy, Default)]
pub(super) struct Synchronised {
    /// Who wrote it.
    pub write: u32,
    /// Who only read it.
    pub read: u32,
    /// By which instruction.
    pub instruction: u32,
    /// Bytes of the accesses.
    pub size: u8,
    /// Whether any is for its block only.
    pub is_narrow: bool,
}

/// Those of some neighbouring cells.
#[derive(Default)]
pub(super) struct Met {
    /// The first of the cells.
    first: usize,
    write: Vec<u32>,
    read: Vec<u32>,
    instruction: Vec<u32>,
    how: Vec<u32>,
}

/// The same of some of them, side by side.
pub(super) struct MetCells<'c> {
    pub write: &'c mut [u32],
    pub read: &'c mut [u32],
    instruction: &'c mut [u32],
    pub how: &'c mut [u32],
}

impl Met {
    pub fn is_empty(&self) -> bool {
        self.how.is_empty()
    }

    pub fn clear(&mut self) {
        for list in self.lists() {
            list.clear();
        }
    }

    fn lists(&mut self) -> [&mut Vec<u32>; 4] {
        [
            &mut self.write,
            &mut self.read,
            &mut self.instruction,
            &mut self.how,
        ]
    }

    /// Whether there may be any to these cells.
    #[inline(always)]
    pub fn touches(&self, first: usize, n: usize) -> bool {
        !self.is_empty() && first < self.first + self.how.len() && self.first < first + n
    }

    /// Those to a cell.
    #[inline]
    pub fn get(&self, at: usize) -> Synchronised {
        let at = at.wrapping_sub(self.first);
        let Some(&how) = self.how.get(at) else {
            return Synchronised::default();
        };
        Synchronised {
            write: self.write[at],
            read: self.read[at],
            instruction: self.instruction[at],
            size: (how & SIZE) as u8,
            is_narrow: how & NARROW != 0,
        }
    }

    /// Those to a cell are these now.
    pub fn set(&mut self, at: usize, met: Synchronised) {
        self.cover(at, 1);
        let at = at - self.first;
        self.write[at] = met.write;
        self.read[at] = met.read;
        self.instruction[at] = met.instruction;
        self.how[at] = how(met.size, !met.is_narrow);
    }

    /// Those to some cells, for which room is made.
    #[inline(always)]
    pub fn cells(&mut self, first: usize, n: usize) -> MetCells<'_> {
        self.cover(first, n);
        let cells = first - self.first..first - self.first + n;
        MetCells {
            write: &mut self.write[cells.clone()],
            read: &mut self.read[cells.clone()],
            instruction: &mut self.instruction[cells.clone()],
            how: &mut self.how[cells],
        }
    }

    #[inline(always)]
    fn cover(&mut self, first: usize, n: usize) {
        let is_covered = first >= self.first && first + n <= self.first + self.how.len();
        if !is_covered {
            self.grow(first, n);
        }
    }

    #[cold]
    fn grow(&mut self, first: usize, n: usize) {
        if self.is_empty() {
            self.first = first;
        }
        let n_before = self.first.saturating_sub(first);
        let past = (first + n).max(self.first + self.how.len());
        self.first -= n_before;
        let n_cells = past - self.first;
        for list in self.lists() {
            list.splice(0..0, std::iter::repeat_n(0, n_before));
            list.resize(n_cells, 0);
        }
    }

    /// What all cells say of who wrote and read them.
    pub fn all(&mut self) -> [&mut [u32]; 2] {
        [&mut self.write, &mut self.read]
    }

    /// Makes each cell this many.
    pub fn refine(&mut self, n: usize) {
        for list in self.lists() {
            *list = spread(list, n);
        }
        self.first *= n;
    }
}

/// Each cell as often as this.
pub(super) fn spread(cells: &[u32], n: usize) -> Vec<u32> {
    let mut spread = vec![0; n * cells.len()];
    for (to, &cell) in spread.chunks_exact_mut(n).zip(cells) {
        to.fill(cell);
    }
    spread
}

/// Whether any access has another size.
#[inline(always)]
pub(super) fn have_other_size(how: &[u32], size: u8) -> bool {
    let is_other = |&how: &u32| (how & SIZE != 0) & (how & SIZE != u32::from(size));
    how.iter().fold(false, |any, how| any | is_other(how))
}

/// Whether any access is for its block only.
#[inline(always)]
pub(super) fn have_narrow(how: &[u32]) -> bool {
    how.iter().fold(0, |all, how| all | how) & NARROW != 0
}

fn how(size: u8, is_wide: bool) -> u32 {
    u32::from(size) | if is_wide { 0 } else { NARROW }
}

impl MetCells<'_> {
    /// Whether any access is by another instruction.
    pub fn has_other_instruction(&self, instruction: u32) -> bool {
        let mut cells = self.how.iter().zip(&*self.instruction);
        cells.any(|(&how, &by)| how != 0 && by != instruction)
    }

    /// An access like this has been added.
    #[inline(always)]
    pub fn add(&mut self, instruction: u32, size: u8, is_wide: bool) {
        self.instruction.fill(instruction);
        for cell in &mut *self.how {
            *cell |= how(size, is_wide);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_is_covered() {
        let mut met = Met::default();
        assert!(!met.touches(0, 100));
        met.cells(40, 2).add(7, 4, true);
        met.cells(30, 1);
        met.cells(50, 3);
        assert_eq!((met.get(40).size, met.get(41).instruction), (4, 7));
        assert_eq!((met.get(29).size, met.get(60).size), (0, 0));
        assert!(met.touches(0, 31) && met.touches(52, 9));
        assert!(!met.touches(0, 30) && !met.touches(53, 9));
        let how = met.cells(38, 3).how.to_vec();
        assert!(have_other_size(&how, 8) && !have_other_size(&how, 4));
        met.refine(2);
        assert_eq!((met.get(82).size, met.get(83).size), (4, 4));
        assert!(met.touches(60, 1) && !met.touches(59, 1));
    }
}

//! Atomic, volatile and ordered accesses to cells: kept only for the cells between the first
//! and the last that had any, so that all others are judged as if there were none.

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
    list: Vec<Synchronised>,
}

impl Met {
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn clear(&mut self) {
        self.list.clear();
    }

    /// Whether there may be any to these cells.
    #[inline(always)]
    pub fn touches(&self, first: usize, n: usize) -> bool {
        !self.list.is_empty() && first < self.first + self.list.len() && self.first < first + n
    }

    /// Those to a cell.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Synchronised {
        let place = at.wrapping_sub(self.first);
        self.list.get(place).copied().unwrap_or_default()
    }

    /// Makes room for some cells.
    #[inline(always)]
    pub fn cover(&mut self, first: usize, n: usize) {
        let is_covered = first >= self.first && first + n <= self.first + self.list.len();
        if !is_covered {
            self.grow(first, n);
        }
    }

    #[cold]
    fn grow(&mut self, first: usize, n: usize) {
        if self.list.is_empty() {
            self.first = first;
        }
        if first < self.first {
            let n_more = self.first - first;
            let none = std::iter::repeat_n(Synchronised::default(), n_more);
            self.list.splice(0..0, none);
            self.first = first;
        }
        let n_cells = (first + n - self.first).max(self.list.len());
        self.list.resize(n_cells, Synchronised::default());
    }

    /// Those to a cell that is covered.
    #[inline(always)]
    pub fn at(&mut self, at: usize) -> &mut Synchronised {
        &mut self.list[at - self.first]
    }

    /// Of all cells that may have any: the first one's number, and what each has.
    pub fn all(&mut self) -> (usize, &mut [Synchronised]) {
        (self.first, &mut self.list)
    }

    /// Makes each cell this many.
    pub fn refine(&mut self, n: usize) {
        let list = self.list.iter();
        self.list = list.flat_map(|&met| std::iter::repeat_n(met, n)).collect();
        self.first *= n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_is_covered() {
        let mut met = Met::default();
        assert!(!met.touches(0, 100));
        met.cover(40, 2);
        met.at(41).size = 4;
        met.cover(30, 1);
        met.cover(50, 3);
        assert_eq!(met.get(41).size, 4);
        assert_eq!((met.get(29).size, met.get(60).size), (0, 0));
        assert!(met.touches(0, 31) && met.touches(52, 9));
        assert!(!met.touches(0, 30) && !met.touches(53, 9));
        met.refine(2);
        assert_eq!((met.get(82).size, met.get(83).size), (4, 4));
        assert!(met.touches(60, 1) && !met.touches(59, 1));
    }
}

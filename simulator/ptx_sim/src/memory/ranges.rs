//! Address space: which pages are free.

use std::collections::{BTreeMap, BTreeSet};

/// Free pages, as ranges that do not touch.
#[derive(Clone)]
pub struct Ranges {
    /// Number of pages, by first page.
    by_start: BTreeMap<u64, u64>,
    /// The same: number of pages, first page.
    by_length: BTreeSet<(u64, u64)>,
}

impl Ranges {
    /// All pages of a range.
    pub fn new(start: u64, n_pages: u64) -> Self {
        let mut ranges = Self {
            by_start: BTreeMap::new(),
            by_length: BTreeSet::new(),
        };
        ranges.insert(start, n_pages);
        ranges
    }

    fn insert(&mut self, start: u64, n_pages: u64) {
        if n_pages > 0 {
            self.by_start.insert(start, n_pages);
            self.by_length.insert((n_pages, start));
        }
    }

    fn remove(&mut self, start: u64, n_pages: u64) {
        self.by_start.remove(&start);
        self.by_length.remove(&(n_pages, start));
    }

    /// Takes pages from the shortest range that has this many; none if none has.
    pub fn take(&mut self, n_pages: u64) -> Option<u64> {
        let &(length, start) = self.by_length.range((n_pages, 0)..).next()?;
        self.remove(start, length);
        self.insert(start + n_pages, length - n_pages);
        Some(start)
    }

    /// Gives pages back.
    pub fn give(&mut self, mut start: u64, mut n_pages: u64) {
        let before = self.by_start.range(..start).next_back();
        if let Some((&before, &length)) = before.filter(|&(at, n)| at + n == start) {
            self.remove(before, length);
            start = before;
            n_pages += length;
        }
        if let Some(&length) = self.by_start.get(&(start + n_pages)) {
            self.remove(start + n_pages, length);
            n_pages += length;
        }
        self.insert(start, n_pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_whole_again() {
        let mut ranges = Ranges::new(100, 50);
        let taken: Vec<u64> = (0..5).map(|_| ranges.take(10).expect("room")).collect();
        assert_eq!(taken, [100, 110, 120, 130, 140]);
        assert_eq!(ranges.take(1), None);
        for start in [120, 100, 140, 110, 130] {
            ranges.give(start, 10);
        }
        assert_eq!(ranges.by_start, BTreeMap::from([(100, 50)]));
        assert_eq!(ranges.take(50), Some(100));
    }

    #[test]
    fn the_shortest_that_fits_is_taken() {
        let mut ranges = Ranges::new(0, 100);
        let [a, _, c, _] = [10, 1, 5, 1].map(|n| ranges.take(n).expect("room"));
        ranges.give(a, 10);
        ranges.give(c, 5);
        assert_eq!(ranges.take(4), Some(c));
        assert_eq!(ranges.take(10), Some(a));
        assert_eq!(ranges.take(2), Some(17));
    }
}

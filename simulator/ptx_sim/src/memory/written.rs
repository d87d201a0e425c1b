//! The bytes of an allocation that have been written, for the check that finds reads of
//! uninitialized memory.

use std::ops::Range;

/// The bytes of an allocation that have been written.
#[derive(Clone)]
pub struct Written {
    size_bytes: u64,
    state: State,
}

#[derive(Clone)]
enum State {
    /// All of them.
    All,
    /// These ranges, in order and apart: what a host does.
    Ranges(Vec<(u64, u64)>),
    /// One bit each: what a kernel does.
    Bits(Bits),
}

impl Written {
    /// Of a new allocation: none.
    pub fn none(size_bytes: u64) -> Self {
        Self {
            size_bytes,
            state: State::Ranges(Vec::new()),
        }
    }

    /// Bytes `start..end` are written.
    #[inline]
    pub fn mark(&mut self, start: u64, end: u64) {
        match &mut self.state {
            State::All => {}
            State::Bits(bits) => bits.set(start, end),
            State::Ranges(_) => self.mark_range(start, end),
        }
    }

    /// All bytes are.
    pub fn mark_all(&mut self) {
        self.state = State::All;
    }

    fn mark_range(&mut self, mut start: u64, mut end: u64) {
        let State::Ranges(ranges) = &mut self.state else {
            return;
        };
        if start >= end {
            return;
        }
        // Ranges that touch it are merged with it.
        let first = ranges.partition_point(|range| range.1 < start);
        let past = ranges.partition_point(|range| range.0 <= end);
        if first < past {
            start = start.min(ranges[first].0);
            end = end.max(ranges[past - 1].1);
        }
        if (start, end) == (0, self.size_bytes) {
            self.state = State::All;
        } else {
            ranges.splice(first..past, [(start, end)]);
        }
    }

    /// Bytes `start..end` count as not written.
    pub fn forget(&mut self, start: u64, end: u64) {
        let mut left = match &self.state {
            State::All => vec![(0, self.size_bytes)],
            State::Ranges(ranges) => ranges.clone(),
            State::Bits(_) => {
                if let State::Bits(bits) = &mut self.state {
                    bits.clear(start, end);
                }
                return;
            }
        };
        left = left
            .into_iter()
            .flat_map(|(a, b)| [(a, b.min(start)), (a.max(end), b)])
            .filter(|(a, b)| a < b)
            .collect();
        self.state = State::Ranges(left);
    }

    /// Gets ready for the many small writes of a kernel.
    pub fn watch(&mut self) {
        if let State::Ranges(ranges) = &self.state {
            let mut bits = Bits::new(self.size_bytes);
            for &(start, end) in ranges {
                bits.set(start, end);
            }
            self.state = State::Bits(bits);
        }
    }

    /// The ranges of `start..end` that are not written, in order and apart.
    pub fn missing(&self, start: u64, end: u64) -> Vec<Range<u64>> {
        let ranges = match &self.state {
            State::All => return Vec::new(),
            State::Bits(bits) => return bits.missing(start, end),
            State::Ranges(ranges) => ranges,
        };
        let starts = std::iter::once(start).chain(ranges.iter().map(|range| range.1));
        let ends = ranges.iter().map(|range| range.0).chain([end]);
        let between = starts.zip(ends).map(|(a, b)| a.max(start)..b.min(end));
        between.filter(|range| !range.is_empty()).collect()
    }

    /// Whether all bytes of `start..end` are written.
    #[inline]
    pub fn has(&self, start: u64, end: u64) -> bool {
        match &self.state {
            State::All => true,
            State::Bits(bits) => bits.has(start, end),
            State::Ranges(ranges) => {
                let place = ranges.partition_point(|range| range.1 < end);
                start >= end || ranges.get(place).is_some_and(|range| range.0 <= start)
            }
        }
    }
}

/// A bit for each of some bytes.
#[derive(Clone, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// None of them set.
    pub fn new(n: u64) -> Self {
        Self(vec![0; n.div_ceil(64) as usize])
    }

    /// As new.
    pub fn reset(&mut self, n: u64) {
        self.0.clear();
        self.0.resize(n.div_ceil(64) as usize, 0);
    }

    /// Calls `f` with each word that has bits of `start..end`, and those bits,
    /// until it returns `false`; gives whether it never did.
    #[inline]
    fn words(start: u64, end: u64, mut f: impl FnMut(usize, u64) -> bool) -> bool {
        let mut at = start;
        while at < end {
            let word = at / 64;
            let past = end.min(word * 64 + 64);
            let bits = u64::MAX >> (64 - (past - at)) << (at % 64);
            if !f(word as usize, bits) {
                return false;
            }
            at = past;
        }
        true
    }

    /// Sets those of `start..end`.
    #[inline]
    pub fn set(&mut self, start: u64, end: u64) {
        Self::words(start, end, |word, bits| {
            if let Some(word) = self.0.get_mut(word) {
                *word |= bits;
            }
            true
        });
    }

    /// Clears those of `start..end`.
    pub fn clear(&mut self, start: u64, end: u64) {
        Self::words(start, end, |word, bits| {
            if let Some(word) = self.0.get_mut(word) {
                *word &= !bits;
            }
            true
        });
    }

    /// The ranges of `start..end` that are not set, in order and apart.
    fn missing(&self, start: u64, end: u64) -> Vec<Range<u64>> {
        let mut missing: Vec<Range<u64>> = Vec::new();
        Self::words(start, end, |word, bits| {
            let mut absent = bits & !self.0.get(word).copied().unwrap_or(0);
            while absent != 0 {
                let first = absent.trailing_zeros();
                let n = (absent >> first).trailing_ones();
                absent &= !(u64::MAX >> (64 - n) << first);
                let first = word as u64 * 64 + u64::from(first);
                match missing.last_mut().filter(|last| last.end == first) {
                    Some(last) => last.end += u64::from(n),
                    None => missing.push(first..first + u64::from(n)),
                }
            }
            true
        });
        missing
    }

    /// Whether all of `start..end` are set.
    #[inline]
    pub fn has(&self, start: u64, end: u64) -> bool {
        Self::words(start, end, |word, bits| {
            self.0.get(word).is_some_and(|word| word & bits == bits)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(written: &Written) -> Vec<(u64, u64)> {
        match &written.state {
            State::Ranges(ranges) => ranges.clone(),
            State::All => vec![(0, written.size_bytes)],
            State::Bits(_) => panic!("no kernel was there"),
        }
    }

    #[test]
    fn ranges_grow_together() {
        let mut written = Written::none(100);
        written.mark(10, 20);
        written.mark(30, 40);
        assert_eq!(ranges(&written), [(10, 20), (30, 40)]);
        assert!(written.has(12, 20) && !written.has(12, 21) && written.has(50, 50));
        written.mark(20, 30);
        assert_eq!(ranges(&written), [(10, 40)]);
        written.mark(0, 60);
        written.mark(60, 100);
        assert!(matches!(written.state, State::All));
    }

    #[test]
    fn what_is_forgotten_leaves_a_hole() {
        let mut written = Written::none(100);
        written.mark(0, 100);
        written.forget(40, 60);
        assert_eq!(ranges(&written), [(0, 40), (60, 100)]);
        written.watch();
        assert!(written.has(0, 40) && !written.has(39, 41) && written.has(60, 100));
        written.mark(40, 60);
        assert!(written.has(0, 100));
        written.forget(99, 100);
        assert!(!written.has(98, 100));
    }

    #[test]
    fn what_is_missing_is_listed() {
        let mut written = Written::none(300);
        let all = written.missing(10, 20);
        assert_eq!((all.len(), &all[0]), (1, &(10..20)));
        for (start, end) in [(10, 60), (100, 130), (200, 300)] {
            written.mark(start, end);
        }
        let missing = [5..10, 60..100, 130..200];
        for _ in 0..2 {
            assert_eq!(written.missing(5, 300), missing);
            assert_eq!(written.missing(70, 140), [70..100, 130..140]);
            assert_eq!(written.missing(20, 60), []);
            // Now bit by bit.
            written.watch();
        }
        written.mark_all();
        assert_eq!(written.missing(0, 300), []);
    }

    #[test]
    fn bits_reach_over_words() {
        let mut bits = Bits::new(300);
        bits.set(60, 200);
        assert!(bits.has(60, 200) && !bits.has(59, 61) && !bits.has(199, 201));
        bits.clear(64, 128);
        assert!(bits.has(60, 64) && !bits.has(60, 65) && bits.has(128, 200));
        assert!(!bits.has(299, 1000), "what is not there is not set");
    }
}

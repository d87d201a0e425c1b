//! The pattern in which the threads of a launch store: the address as a linear function of the
//! block's and the thread's coordinates.
//!
//! It says which thread an element belongs to that nobody has stored. All stores of the instruction
//! have to fit: with one that does not, there is no pattern.
//!
//! Left out: stores in loops, where a thread has several addresses; patterns that run backwards, or
//! in which a thread's elements overlap another's.

use std::collections::VecDeque;

/// Coordinates of a thread: of its block in the grid, then its own in the block.
pub(crate) type At = [u32; 6];

/// Where one store instruction stores, by thread.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Bytes of a store.
    bytes: u32,
    /// The first store.
    first: (At, u64),
    /// By coordinate, bytes from one thread's address to the next one's; `None` as long as no
    /// two stores have told.
    steps: [Option<i64>; 6],
    /// Stores that tell of several coordinates at once.
    open: VecDeque<(At, u64)>,
    n_stores: u64,
    is_broken: bool,
}

/// Stores that may tell of several coordinates at once.
const MOST_OPEN: usize = 64;
/// Stores that make a pattern.
const LEAST: u64 = 8;

impl Pattern {
    /// With its first store.
    pub fn new(bytes: u32, at: At, address: u64) -> Self {
        Self {
            bytes,
            first: (at, address),
            steps: [None; 6],
            open: VecDeque::new(),
            n_stores: 1,
            is_broken: false,
        }
    }

    /// Whether there is none.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// The address of the first store.
    pub fn address(&self) -> u64 {
        self.first.1
    }

    /// Adds a store.
    pub fn add(&mut self, at: At, address: u64) {
        self.n_stores += 1;
        if self.take(at, address) {
            self.settle();
        }
    }

    /// Counts further stores, which are known to fit if the others do.
    pub fn count(&mut self, n_stores: u32) {
        self.n_stores += u64::from(n_stores);
    }

    /// Adds what was seen elsewhere of the same instruction.
    pub fn join(&mut self, other: Self) {
        self.is_broken |= other.is_broken || other.bytes != self.bytes;
        for (mine, theirs) in self.steps.iter_mut().zip(other.steps) {
            match (*mine, theirs) {
                (Some(mine), Some(theirs)) => self.is_broken |= mine != theirs,
                (None, _) => *mine = theirs,
                (Some(_), None) => {}
            }
        }
        self.n_stores += other.n_stores;
        self.open.push_back(other.first);
        self.open.extend(other.open);
        self.settle();
    }

    /// Tries the stores again that told of several coordinates.
    fn settle(&mut self) {
        for _ in 0..self.open.len() {
            if let Some((at, address)) = self.open.pop_front()
                && self.take(at, address)
            {
                return self.settle();
            }
        }
    }

    /// Compares a store with the pattern; whether it has told a step.
    fn take(&mut self, at: At, address: u64) -> bool {
        let (first, start) = self.first;
        let mut rest = address.wrapping_sub(start) as i64;
        let mut unknown = None;
        for (i, step) in self.steps.iter().enumerate() {
            let n = i64::from(at[i]) - i64::from(first[i]);
            match step {
                _ if n == 0 => {}
                Some(step) => rest = rest.wrapping_sub(n.wrapping_mul(*step)),
                None if unknown.is_some() => {
                    self.open.push_back((at, address));
                    self.is_broken |= self.open.len() > MOST_OPEN;
                    return false;
                }
                None => unknown = Some((i, n)),
            }
        }
        match unknown {
            Some((i, n)) if rest % n == 0 => self.steps[i] = Some(rest / n),
            None if rest == 0 => {}
            _ => self.is_broken = true,
        }
        unknown.is_some()
    }

    /// The thread whose element this address is in, in a grid that may be larger than the one of
    /// the launch; `None` if the pattern does not tell.
    pub fn thread_for(&self, address: u64, grid: [u32; 3], block: [u32; 3]) -> Option<At> {
        if self.is_broken || !self.open.is_empty() || self.n_stores < LEAST {
            return None;
        }
        let mut steps = self.steps;
        for axis in 0..3 {
            // Of a single block nothing tells where the next one's elements are: threads are taken
            // to go on from block to block.
            if let (1, Some(step)) = (grid[axis], steps[3 + axis]) {
                steps[axis] = step.checked_mul(i64::from(block[axis]));
            }
        }
        let (first, start) = self.first;
        let mut at = first;
        let mut rest = i128::from(address) - i128::from(start);
        let mut order: Vec<(i64, usize)> = Vec::new();
        for (i, step) in steps.iter().enumerate() {
            let Some(step) = *step else { continue };
            if step < i64::from(self.bytes) {
                return None;
            }
            rest += i128::from(first[i]) * i128::from(step);
            order.push((step, i));
        }
        order.sort_unstable();
        for (step, i) in order.into_iter().rev() {
            let n = rest.div_euclid(i128::from(step));
            rest = rest.rem_euclid(i128::from(step));
            at[i] = u32::try_from(n).ok()?;
            if i >= 3 && at[i] >= block[i - 3] {
                return None;
            }
        }
        (rest < i128::from(self.bytes)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: [u32; 3] = [4, 3, 1];
    const BLOCK: [u32; 3] = [8, 4, 1];

    /// All threads, in the order in which they run.
    fn threads() -> impl Iterator<Item = At> {
        let blocks = (0..12).map(|b| [b % 4, b / 4, 0]);
        blocks.flat_map(|[bx, by, _]| (0..32).map(move |t| [bx, by, 0, t % 8, t / 8, 0]))
    }

    /// The pattern of stores of words, where these threads store.
    fn pattern(address: impl Fn(At) -> Option<u64>) -> Pattern {
        let stores = threads().filter_map(|at| Some((at, address(at)?)));
        let mut pattern = None;
        for (at, address) in stores {
            match &mut pattern {
                None => pattern = Some(Pattern::new(4, at, address)),
                Some(pattern) => pattern.add(at, address),
            }
        }
        pattern.unwrap()
    }

    /// Row-major, 36 words a row: the grid reaches to column 32.
    fn row_major([bx, by, _, tx, ty, _]: At) -> u64 {
        u64::from(0x1000 + 4 * ((by * 4 + ty) * 36 + bx * 8 + tx))
    }

    #[test]
    fn a_missing_block_or_thread_is_named() {
        let all = pattern(|at| Some(row_major(at)));
        let of = |row: u64, column: u64| {
            let address = 0x1000 + 4 * (row * 36 + column);
            all.thread_for(address, GRID, BLOCK)
        };
        assert_eq!(
            of(0, 32),
            Some([4, 0, 0, 0, 0, 0]),
            "a column of blocks more"
        );
        assert_eq!(of(11, 35), Some([4, 2, 0, 3, 3, 0]));
        assert_eq!(of(12, 0), Some([0, 3, 0, 0, 0, 0]), "a row of blocks more");
        let skips = |at: &At| at[3] == 7 && at[4] == 2;
        let guarded = pattern(|at| (!skips(&at)).then(|| row_major(at)));
        let left_out = [1, 1, 0, 7, 2, 0];
        assert_eq!(
            guarded.thread_for(row_major(left_out) + 3, GRID, BLOCK),
            Some(left_out)
        );
        assert_eq!(all.thread_for(0xFFC, GRID, BLOCK), None, "before the first");
    }

    #[test]
    fn a_single_block_goes_on() {
        let mut one = Pattern::new(4, [0; 6], 0x1000);
        for x in 1..100 {
            one.add([0, 0, 0, x, 0, 0], 0x1000 + 4 * u64::from(x));
        }
        let next = one.thread_for(0x1000 + 4 * 100, [1; 3], [100, 1, 1]);
        assert_eq!(next, Some([1, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn transposed_and_strided_stores_are_patterns_too() {
        // Column-major by blocks: threads next to each other store a column apart.
        let transposed =
            |[bx, by, _, tx, ty, _]: At| u64::from(0x1000 + 4 * ((bx * 8 + tx) * 12 + by * 4 + ty));
        let all = pattern(|at| Some(transposed(at)));
        let beyond = [4, 0, 0, 0, 1, 0];
        assert_eq!(
            all.thread_for(transposed(beyond), GRID, BLOCK),
            Some(beyond)
        );
        // One thread a block.
        let sums = pattern(|at| {
            let is_first = at[3..] == [0, 0, 0];
            is_first.then(|| u64::from(0x1000 + 8 * (at[1] * 4 + at[0])))
        });
        assert_eq!(
            sums.thread_for(0x1000 + 8 * 12, GRID, BLOCK),
            Some([0, 3, 0, 0, 0, 0])
        );
        assert_eq!(sums.thread_for(0x1004, GRID, BLOCK), None, "between two");
    }

    #[test]
    fn what_fits_no_line_is_no_pattern() {
        let squares = pattern(|at| Some(u64::from(0x1000 + 4 * at[3] * at[3])));
        assert!(squares.is_broken());
        let mut rounds = pattern(|at| Some(row_major(at)));
        rounds.add([0; 6], row_major([0, 3, 0, 0, 0, 0]));
        assert!(rounds.is_broken(), "a thread that stores twice");
        let same = pattern(|at| Some(u64::from(0x1000 + 4 * at[3])));
        assert_eq!(
            same.thread_for(0x1000 + 32, GRID, BLOCK),
            None,
            "all blocks alike"
        );
        let few = Pattern::new(4, [0; 6], 0x1000);
        assert_eq!(few.thread_for(0x1000, GRID, BLOCK), None);
    }

    #[test]
    fn workers_see_one_pattern_together() {
        // Of two blocks nothing tells until a third has told one of both coordinates.
        let mut parts: Vec<Pattern> = [[0, 0], [1, 1], [2, 1], [0, 2]]
            .map(|[bx, by]| {
                let at = |t: u32| [bx, by, 0, t % 8, t / 8, 0];
                let mut part = Pattern::new(4, at(0), row_major(at(0)));
                (1..32).for_each(|t| part.add(at(t), row_major(at(t))));
                part
            })
            .into();
        let mut all = parts.remove(0);
        parts.into_iter().for_each(|part| all.join(part));
        let beyond = [4, 0, 0, 0, 0, 0];
        assert_eq!(all.thread_for(row_major(beyond), GRID, BLOCK), Some(beyond));
        let mut other = pattern(|at| Some(row_major(at)));
        other.join(pattern(|at| Some(row_major(at) + 4)));
        assert!(other.is_broken());
    }
}

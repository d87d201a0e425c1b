//! Shadow memory: who last wrote and read each word.
//!
//! Memory is remembered by lines of 128 bytes. Where whole warps access whole lines, with
//! neighbouring words to neighbouring lanes or as in swizzled tiles, a line keeps one record for
//! each access; a line that is accessed otherwise is split into words, with records of their own,
//! until a whole warp writes all of it again. Records refer to [`Site`]s, which say what they have
//! in common.
//!
//! What it forgets:
//! - of more than two readers (or two writers of different bytes) of a word, only
//!   two are remembered;
//! - of global memory, at most [`MAX_SPLIT_LINES`] lines are split: what is
//!   accessed irregularly beyond them is not remembered;
//! - after [`MAX_SITES`] sites nothing new is remembered.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use super::finding::Side;

/// Words of a line.
pub(crate) const LINE_WORDS: usize = 32;
/// Bytes of a line.
pub(crate) const LINE_BYTES: u64 = 128;
/// Lines of global memory that are remembered word by word, at most (about 1300
/// bytes each).
pub(crate) const MAX_SPLIT_LINES: usize = 1 << 18;
/// Sites, at most (16 bytes each).
pub(crate) const MAX_SITES: u32 = 1 << 24;
/// The clock of an engine's accesses that are not done: no thread knows of them.
pub(crate) const IN_FLIGHT: u32 = u32::MAX;
/// Lines of a page of the table of global memory.
const PAGE_LINES: u64 = 256;

/// An instruction carried out by a warp at one point of its order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Site {
    /// The instruction's number.
    pub instruction: u32,
    /// The block's number.
    pub block: u32,
    /// The warp's clock ([`super::order`]).
    pub clock: u32,
    /// The warp's number in the block.
    pub warp: u8,
    /// Bytes of a lane's access.
    pub size: u8,
    /// What it does.
    pub flags: u8,
    /// The device, of those that run together.
    pub device: u8,
}

impl Site {
    /// It writes.
    pub const WRITES: u8 = 1;
    /// It is atomic, volatile or ordered.
    pub const SYNCHRONISES: u8 = 2;
    /// It does so for other blocks too.
    pub const WIDE: u8 = 4;
    /// It reads and writes.
    pub const ATOMIC: u8 = 8;
    /// It is an asynchronous copy.
    pub const COPIES: u8 = 16;
    /// It relies on nothing writing there while the kernel runs.
    pub const CONSTANT: u8 = 32;
    /// It is by a product of a warpgroup.
    pub const PRODUCT: u8 = 64;
    /// It synchronises with other devices too.
    pub const SYSTEM: u8 = 128;

    /// Whether all of these are set.
    pub fn has(&self, flags: u8) -> bool {
        self.flags & flags == flags
    }
}

/// The sites of some memory; number 0 is none.
pub(crate) struct Sites {
    list: Vec<Site>,
    /// Sites that were asked for recently.
    recent: [u32; 256],
    /// By site of a bulk copy, the thread that started it.
    starters: HashMap<u32, Side, BuildHasherDefault<Mix>>,
}

impl Default for Sites {
    fn default() -> Self {
        Self {
            list: vec![Site::default()],
            recent: [0; 256],
            starters: HashMap::default(),
        }
    }
}

impl Sites {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.list.truncate(1);
        self.recent = [0; 256];
        self.starters.clear();
    }

    /// The number of a site of a bulk copy, which this thread started.
    pub fn number_of_copy(&mut self, site: Site, starter: Side) -> u32 {
        let number = self.number(site);
        if number != 0 {
            self.starters.insert(number, starter);
        }
        number
    }

    /// The thread that started the bulk copy of a site, if it is one's.
    pub fn starter_of(&self, number: u32) -> Option<Side> {
        self.starters.get(&number).copied()
    }

    /// The site's number.
    pub fn number(&mut self, site: Site) -> u32 {
        let place = (site.instruction * 33 + u32::from(site.warp)) as usize % self.recent.len();
        let recent = self.recent[place];
        if recent != 0 && self.list[recent as usize] == site {
            return recent;
        }
        let number = self.list.len() as u32;
        if number >= MAX_SITES {
            // Nothing is remembered of it.
            return 0;
        }
        self.list.push(site);
        self.recent[place] = number;
        number
    }

    /// The site of a number.
    #[inline]
    pub fn get(&self, number: u32) -> &Site {
        &self.list[number as usize]
    }
}

/// An access to a word: its site, the bytes, the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The site in the low 28 bits, the bytes of the word in the others.
    site_and_bytes: u32,
    /// All lanes that accessed all of these bytes.
    pub lanes: u32,
}

impl Mark {
    /// Where the bytes begin.
    const BYTES_SHIFT: u32 = 28;
    /// No access.
    pub const NONE: Self = Self {
        site_and_bytes: 0,
        lanes: 0,
    };

    pub fn new(site: u32, bytes: u32, lanes: u32) -> Self {
        Self {
            site_and_bytes: site | bytes << Self::BYTES_SHIFT,
            lanes,
        }
    }

    #[inline]
    pub fn site(self) -> u32 {
        self.site_and_bytes & ((1 << Self::BYTES_SHIFT) - 1)
    }

    #[inline]
    pub fn bytes(self) -> u32 {
        self.site_and_bytes >> Self::BYTES_SHIFT
    }

    fn without_bytes(self, bytes: u32) -> Self {
        match self.bytes() & !bytes {
            0 => Self::NONE,
            left => Self::new(self.site(), left, self.lanes),
        }
    }
}

/// What is remembered of a word.
#[derive(Clone, Copy, Default)]
pub(crate) struct Word {
    /// The last ordinary writes.
    pub writes: [Mark; 2],
    /// The last write that synchronises.
    pub synchronised: Mark,
    /// The last reads.
    pub reads: [Mark; 2],
}

impl Word {
    /// Keeps an access for later ones to be compared with. Everything that it conflicts
    /// with comes before it.
    pub fn remember(&mut self, this: Mark, site: &Site, sites: &Sites) {
        let writes = site.has(Site::WRITES);
        if writes && site.has(Site::SYNCHRONISES) {
            // What an atomic reads is covered by what it writes.
            match self.synchronised {
                same if same.site_and_bytes == this.site_and_bytes => {
                    self.synchronised.lanes |= this.lanes;
                }
                _ => self.synchronised = this,
            }
        } else if writes {
            place(&mut self.writes, this, |other| {
                other.bytes() & !this.bytes() == 0
            });
        } else {
            let by = |site: &Site| (site.block, site.warp);
            place(&mut self.reads, this, |other| {
                other.bytes() & !this.bytes() == 0
                    && other.lanes & !this.lanes == 0
                    && by(sites.get(other.site())) == by(site)
            });
        }
        if writes {
            for read in &mut self.reads {
                *read = read.without_bytes(this.bytes());
            }
        }
    }
}

/// Puts a mark in a free place, in the place of one that it `covers`, or of the oldest.
fn place(list: &mut [Mark; 2], this: Mark, covers: impl Fn(&Mark) -> bool) {
    for mark in list.iter_mut() {
        if mark.site_and_bytes == this.site_and_bytes {
            mark.lanes |= this.lanes;
            return;
        }
    }
    let at = list
        .iter()
        .position(|mark| mark.site() == 0 || covers(mark))
        .unwrap_or(usize::from(list[1].site() < list[0].site()));
    list[at] = this;
}

/// An access by a whole warp to all words of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    /// The site; 0 is none.
    pub site: u32,
    /// Which lane accesses which word.
    pub pattern: Pattern,
}

/// Neighbouring words by neighbouring lanes, or by those that differ from them in some
/// bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The first of the lanes.
    pub first_lane: u8,
    /// Binary logarithm of the words of a lane.
    pub shift: u8,
    /// The bits in which the lanes' numbers, from the first on, differ from those of
    /// their places in the line.
    pub flips: u8,
}

impl Pattern {
    /// As a shift: one lane accesses all words.
    pub const ONE_LANE: u8 = 5;

    /// The lanes that access the line, and maybe others.
    pub fn lanes(self) -> u32 {
        match self.shift {
            Self::ONE_LANE => 1 << (self.first_lane & 31),
            _ => u32::MAX,
        }
    }
}

impl Whole {
    /// The access to one word.
    pub fn mark(self, word: usize) -> Mark {
        if self.site == 0 {
            return Mark::NONE;
        }
        let Pattern {
            first_lane,
            shift,
            flips,
        } = self.pattern;
        let lane = u32::from(first_lane) + (word as u32 >> shift ^ u32::from(flips));
        Mark::new(self.site, 0xF, 1 << (lane & 31))
    }
}

/// What is remembered of a line.
#[derive(Default)]
pub(crate) struct Line {
    /// The last write of all of it, unless it is split.
    pub write: Whole,
    /// The last reads of all of it, unless it is split.
    pub reads: [Whole; 2],
    /// Its words, if it is split.
    pub words: Option<Box<[Word; LINE_WORDS]>>,
}

impl Line {
    /// A copy of one word.
    #[inline]
    pub fn word(&self, index: usize) -> Word {
        match &self.words {
            Some(words) => words[index],
            None => Word {
                writes: [self.write.mark(index), Mark::NONE],
                synchronised: Mark::NONE,
                reads: self.reads.map(|read| read.mark(index)),
            },
        }
    }

    /// Its words, to be changed.
    pub fn split(&mut self) -> &mut [Word; LINE_WORDS] {
        if self.words.is_none() {
            let words = Box::new(std::array::from_fn(|index| self.word(index)));
            (self.write, self.reads) = Default::default();
            self.words = Some(words);
        }
        self.words.as_mut().expect("split just now")
    }
}

/// Lines of some memory.
pub(crate) trait Lines {
    /// The line of this number, if it is there.
    fn line(&mut self, number: u64) -> Option<&mut Line>;
    /// Whether one more line may be split.
    fn may_split(&mut self) -> bool;
    /// A line is no longer split.
    fn joined(&mut self) {}

    /// The words of a line, which is split if it may be.
    fn words(&mut self, number: u64) -> Option<&mut [Word; LINE_WORDS]> {
        let is_split = self.line(number)?.words.is_some();
        if !is_split && !self.may_split() {
            return None;
        }
        Some(self.line(number)?.split())
    }
}

/// The lines of a block's shared memory.
#[derive(Default)]
pub(crate) struct SharedLines(Vec<Line>);

impl SharedLines {
    /// Resets them, for a block with this much shared memory.
    pub fn reset(&mut self, bytes: u32) {
        self.0.clear();
        let n_lines = u64::from(bytes).div_ceil(LINE_BYTES) as usize;
        self.0.resize_with(n_lines, Line::default);
    }
}

impl Lines for SharedLines {
    #[inline]
    fn line(&mut self, number: u64) -> Option<&mut Line> {
        self.0.get_mut(usize::try_from(number).ok()?)
    }

    fn may_split(&mut self) -> bool {
        true
    }
}

/// The lines of global memory, as far as they were accessed.
#[derive(Default)]
pub(crate) struct GlobalLines {
    pages: Vec<Box<[Line; PAGE_LINES as usize]>>,
    numbers: HashMap<u64, usize, BuildHasherDefault<Mix>>,
    /// The last page that was asked for, and where it is.
    last: Option<(u64, usize)>,
    n_split: usize,
}

impl GlobalLines {
    /// Forgets what was done to these bytes, whole words of them.
    pub fn forget(&mut self, range: Range<u64>) {
        let mut at = range.start;
        while at < range.end {
            let (number, start) = (at / LINE_BYTES, at % LINE_BYTES / 4);
            let past = range.end.min((number + 1) * LINE_BYTES);
            let end = start + (past - at).div_ceil(4);
            at = past;
            if !self.numbers.contains_key(&(number / PAGE_LINES)) {
                continue;
            }
            if let Some(words) = self.words(number) {
                words[start as usize..end as usize].fill(Word::default());
            }
        }
    }
}

impl Lines for GlobalLines {
    #[inline]
    fn line(&mut self, number: u64) -> Option<&mut Line> {
        let page = number / PAGE_LINES;
        let at = match self.last {
            Some((last, at)) if last == page => at,
            _ => {
                let pages = &mut self.pages;
                let at = *self.numbers.entry(page).or_insert_with(|| {
                    pages.push(Box::new(std::array::from_fn(|_| Line::default())));
                    pages.len() - 1
                });
                self.last = Some((page, at));
                at
            }
        };
        Some(&mut self.pages[at][(number % PAGE_LINES) as usize])
    }

    fn may_split(&mut self) -> bool {
        let may = self.n_split < MAX_SPLIT_LINES;
        self.n_split += usize::from(may);
        may
    }

    fn joined(&mut self) {
        self.n_split -= 1;
    }
}

/// A quick hash for numbers that no adversary chooses.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_line_remembers_the_same() {
        let mut line = Line {
            write: Whole {
                site: 7,
                pattern: Pattern {
                    first_lane: 8,
                    shift: 2,
                    flips: 3,
                },
            },
            ..Line::default()
        };
        let before = line.word(5);
        assert_eq!(before.writes[0], Mark::new(7, 0xF, 1 << 10));
        let after = line.split()[5];
        assert_eq!(after.writes, before.writes);
        assert_eq!(line.write.site, 0);
    }

    #[test]
    fn broadcast_readers_share_a_mark() {
        let mut sites = Sites::default();
        let site = Site {
            instruction: 3,
            ..Site::default()
        };
        let number = sites.number(site);
        assert_eq!(sites.number(site), number);
        let mut word = Word::default();
        word.remember(Mark::new(number, 0xF, 0xFF), &site, &sites);
        word.remember(Mark::new(number, 0xF, 0xFF00), &site, &sites);
        assert_eq!(word.reads[0], Mark::new(number, 0xF, 0xFFFF));
        assert_eq!(word.reads[1], Mark::NONE);
    }

    #[test]
    fn a_write_forgets_the_reads_of_its_bytes() {
        let mut sites = Sites::default();
        let read = Site::default();
        let write = Site {
            flags: Site::WRITES,
            ..Site::default()
        };
        let (r, w) = (sites.number(Site { clock: 1, ..read }), sites.number(write));
        let mut word = Word::default();
        word.remember(Mark::new(r, 0b0011, 1), &read, &sites);
        word.remember(Mark::new(w, 0b0001, 1), &write, &sites);
        assert_eq!(word.reads[0], Mark::new(r, 0b0010, 1));
    }
}

//! Work on global memory that has begun and that a launch does not come after.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of global memory that a [`Footprint`] keeps together.
const PAGE_BYTES: u64 = 4096;

/// Work on memory by others, such as a copy in another stream, that may still go on while a launch
/// runs. With [`LaunchOptions::check`](crate::LaunchOptions::check) a kernel that uses that memory is
/// reported.
#[derive(Clone, Debug)]
pub struct Pending {
    /// What it does to memory.
    pub touches: Touches,
    /// What it is, and where it was begun.
    pub what: String,
}

/// What some work does to global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touches {
    /// It uses all of these addresses.
    All(Range<u64>, Usage),
    /// It uses these, each in its way: what a launch has done.
    Parts(Arc<Footprint>),
}

impl Touches {
    /// Bytes of host memory that it takes to know the parts.
    pub fn size_bytes(&self) -> usize {
        match self {
            Self::All(..) => 0,
            Self::Parts(footprint) => footprint.pages.len() * size_of::<Page>(),
        }
    }
}

/// Remembers work, and forgets the oldest if it is too much: 4,096 pieces, or 256 MiB of host memory,
/// of which `size_bytes` says how many one takes. A piece that takes more than that alone is not
/// remembered.
pub fn remember<T>(
    works: &mut Vec<T>,
    new: impl Iterator<Item = T>,
    size_bytes: impl Fn(&T) -> usize,
) {
    const MOST_WORKS: usize = 4096;
    const MOST_BYTES: usize = 256 << 20;
    works.extend(new.filter(|work| size_bytes(work) <= MOST_BYTES));
    let mut n_left = works.len();
    let mut n_bytes = works.iter().map(&size_bytes).sum::<usize>();
    works.retain(|work| {
        let is_kept = n_left <= MOST_WORKS && n_bytes <= MOST_BYTES;
        if !is_kept {
            n_left -= 1;
            n_bytes -= size_bytes(work);
        }
        is_kept
    });
}

/// How memory is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Whether it is written; if it is only read, others may read it, too.
    pub writes: bool,
    /// Whether others that synchronise may use it meanwhile: by atomic, volatile and ordered accesses
    /// that are not of a block alone.
    pub synchronises: bool,
}

impl Usage {
    /// It is only read.
    pub const READ: Self = Self::plain(false);
    /// It is written.
    pub const WRITE: Self = Self::plain(true);

    const fn plain(writes: bool) -> Self {
        Self {
            writes,
            synchronises: false,
        }
    }

    const ALL: [Self; 4] = [
        Self::READ,
        Self::WRITE,
        Self {
            writes: false,
            synchronises: true,
        },
        Self {
            writes: true,
            synchronises: true,
        },
    ];

    fn index(self) -> usize {
        usize::from(self.writes) + 2 * usize::from(self.synchronises)
    }

    /// Whether the same memory must not be used in both ways at the same time.
    fn conflicts(self, other: Self) -> bool {
        (self.writes || other.writes) && !(self.synchronises && other.synchronises)
    }
}

impl Pending {
    /// How it uses some of these bytes, if they must not be used so at the same time.
    pub fn conflict(&self, addresses: &Range<u64>, usage: Usage) -> Option<Usage> {
        match &self.touches {
            Touches::All(own, own_usage) => {
                let is_any = !addresses.is_empty() && !own.is_empty();
                let meets = is_any && addresses.start < own.end && own.start < addresses.end;
                (meets && usage.conflicts(*own_usage)).then_some(*own_usage)
            }
            Touches::Parts(footprint) => footprint.conflict(addresses, usage),
        }
    }

    /// How it uses some of the memory that other work uses, if the two must not go on at the same
    /// time.
    pub fn conflict_with(&self, other: &Touches) -> Option<Usage> {
        match (&self.touches, other) {
            (_, Touches::All(addresses, usage)) => self.conflict(addresses, *usage),
            (Touches::All(addresses, own), Touches::Parts(other)) => {
                other.conflict(addresses, *own).map(|_| *own)
            }
            (Touches::Parts(own), Touches::Parts(other)) => own.conflict_with(other),
        }
    }
}

/// What comes before some work: by stream, the number of the last of its pieces of work. Later ones of
/// a stream have higher numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(BTreeMap<u64, u64>);

impl Clock {
    /// Whether a piece of work is among it.
    pub fn has(&self, stream: u64, number: u64) -> bool {
        self.0.get(&stream).is_some_and(|&last| last >= number)
    }

    /// All of a stream comes before, up to this number.
    pub fn add(&mut self, stream: u64, number: u64) {
        let last = self.0.entry(stream).or_default();
        *last = number.max(*last);
    }

    /// All that comes before another comes before this one, too.
    pub fn join(&mut self, other: &Self) {
        for (&stream, &number) in &other.0 {
            self.add(stream, number);
        }
    }

    /// Streams in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing comes before.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves streams out.
    pub fn retain(&mut self, mut is_kept: impl FnMut(u64) -> bool) {
        self.0.retain(|&stream, _| is_kept(stream));
    }
}

/// Global memory that is used, byte by byte: of a launch, its
/// [`Report::footprint`](crate::Report::footprint).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// By number.
    pages: BTreeMap<u64, Box<Page>>,
}

/// A bit for each byte of a page.
type Bits = [u64; PAGE_BYTES as usize / 64];

/// The bytes that are used in each way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Page([Bits; Usage::ALL.len()]);

impl Page {
    const UNUSED: Self = Self([[0; PAGE_BYTES as usize / 64]; Usage::ALL.len()]);

    fn is_empty(&self) -> bool {
        self.0.iter().flatten().all(|&word| word == 0)
    }

    /// How some of the bytes are used, if they must not be used so, too.
    fn conflict(&self, usage: Usage, mut uses: impl FnMut(&Bits) -> bool) -> Option<Usage> {
        // Writing is the graver.
        let ways = Usage::ALL.iter().rev().copied();
        ways.filter(|own| own.conflicts(usage))
            .find(|own| uses(&self.0[own.index()]))
    }
}

/// The words of bits that a range covers, and which bits of each.
fn words(bytes: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
    let (first, last) = (bytes.start / 64, (bytes.end - 1) / 64);
    (first..=last).map(move |word| {
        let from = bytes.start.saturating_sub(64 * word);
        let to = (bytes.end - 64 * word).min(64);
        (word as usize, (u64::MAX << from) & (u64::MAX >> (64 - to)))
    })
}

/// The pages that addresses lie on, and which bytes of each.
fn pages(addresses: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    numbers(&addresses).map(move |number| (number, on_page(&addresses, number)))
}

/// The numbers of the pages that addresses lie on.
fn numbers(addresses: &Range<u64>) -> Range<u64> {
    let end = addresses.end.max(addresses.start);
    addresses.start / PAGE_BYTES..end.div_ceil(PAGE_BYTES)
}

/// Which bytes of one of these pages.
fn on_page(addresses: &Range<u64>, number: u64) -> Range<u64> {
    let base = number * PAGE_BYTES;
    let end = addresses.end.max(addresses.start);
    addresses.start.saturating_sub(base)..(end - base).min(PAGE_BYTES)
}

impl Footprint {
    /// Adds a use.
    pub fn add(&mut self, addresses: Range<u64>, usage: Usage) {
        for (number, bytes) in pages(addresses) {
            let page = self.pages.entry(number);
            let page = page.or_insert_with(|| Box::new(Page::UNUSED));
            let bits = &mut page.0[usage.index()];
            words(bytes).for_each(|(word, mask)| bits[word] |= mask);
        }
    }

    /// Forgets what lies at these addresses: it has been freed.
    pub fn forget(&mut self, addresses: &Range<u64>) {
        let mut is_any_empty = false;
        for (&number, page) in self.pages.range_mut(numbers(addresses)) {
            let bytes = on_page(addresses, number);
            for bits in &mut page.0 {
                words(bytes.clone()).for_each(|(word, mask)| bits[word] &= !mask);
            }
            is_any_empty |= page.is_empty();
        }
        if is_any_empty {
            self.pages.retain(|_, page| !page.is_empty());
        }
    }

    /// As [`Pending::conflict`].
    fn conflict(&self, addresses: &Range<u64>, usage: Usage) -> Option<Usage> {
        pages(addresses.clone()).find_map(|(number, bytes)| {
            let page = self.pages.get(&number)?;
            page.conflict(usage, |bits| {
                words(bytes.clone()).any(|(word, mask)| bits[word] & mask != 0)
            })
        })
    }

    /// As [`Pending::conflict_with`].
    fn conflict_with(&self, other: &Self) -> Option<Usage> {
        self.pages.iter().find_map(|(number, page)| {
            let theirs = other.pages.get(number)?;
            Usage::ALL.iter().find_map(|usage| {
                let theirs = &theirs.0[usage.index()];
                page.conflict(*usage, |own| {
                    own.iter().zip(theirs).any(|(a, b)| a & b != 0)
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footprint of one use.
    fn of(addresses: Range<u64>, usage: Usage) -> Footprint {
        let mut footprint = Footprint::default();
        footprint.add(addresses, usage);
        footprint
    }

    #[test]
    fn uses_meet_byte_by_byte_and_across_pages() {
        let written = of(4090..8200, Usage::WRITE);
        for (addresses, meets) in [
            (4089..4090, false),
            (4089..4091, true),
            (4160..4161, true),
            (8199..8200, true),
            (8200..12288, false),
            (5000..5000, false),
            (0..1 << 20, true),
        ] {
            let found = written.conflict(&addresses, Usage::READ);
            assert_eq!(found.is_some(), meets, "{addresses:?}");
            if addresses.is_empty() {
                continue;
            }
            let other = of(addresses.clone(), Usage::READ);
            assert_eq!(written.conflict_with(&other), found, "{addresses:?}");
            assert_eq!(other.conflict_with(&written).is_some(), meets);
        }
    }

    #[test]
    fn only_uses_of_which_one_writes_and_one_does_not_synchronise_conflict() {
        for own in Usage::ALL {
            for other in Usage::ALL {
                let expected =
                    (own.writes || other.writes) && !(own.synchronises && other.synchronises);
                let footprint = of(64..68, own);
                let found = footprint.conflict(&(66..67), other);
                assert_eq!(found, expected.then_some(own), "{own:?} {other:?}");
            }
        }
    }

    #[test]
    fn an_empty_range_meets_nothing() {
        for own in [5..5, 4..6] {
            let touches = Touches::All(own.clone(), Usage::WRITE);
            let work = Pending {
                touches,
                what: String::new(),
            };
            let expected = (!own.is_empty()).then_some(Usage::WRITE);
            assert_eq!(work.conflict(&(0..9), Usage::READ), expected);
            assert_eq!(work.conflict(&(5..5), Usage::READ), None);
        }
    }

    #[test]
    fn what_was_freed_is_forgotten() {
        let mut both = of(0..100, Usage::WRITE);
        both.add(50..5000, Usage::READ);
        both.forget(&(10..4200));
        assert_eq!(both.conflict(&(10..4200), Usage::WRITE), None);
        assert_eq!(both.conflict(&(9..10), Usage::READ), Some(Usage::WRITE));
        assert_eq!(
            both.conflict(&(4200..4201), Usage::WRITE),
            Some(Usage::READ)
        );
    }
}

//! Global memory as it was before a launch, byte by byte, as far as the launch writes it.
//!
//! What others write meanwhile, even right next to what the launch writes, is neither kept
//! nor put back.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::allocation::Allocation;
use super::global::GlobalMemory;
use super::transfer;

/// Bytes of a page.
const PAGE_BYTES: u64 = 4096;
const WORDS: usize = PAGE_BYTES as usize / 64;

/// Some bytes of global memory.
#[derive(Default)]
pub struct Bytes(HashMap<u64, Box<Page>>);

/// Those in one page.
struct Page {
    bytes: [u8; PAGE_BYTES as usize],
    /// A bit for each that is there.
    is_there: [u64; WORDS],
}

/// Keeps what a launch is about to write.
pub struct Journal<'a> {
    memory: &'a GlobalMemory,
    /// Whether only memory of the host is kept.
    only_of_the_host: bool,
    kept: Bytes,
}

impl Page {
    fn has(&self, at: usize) -> bool {
        self.is_there[at / 64] >> (at % 64) & 1 != 0
    }

    /// What some bytes of a page are now.
    fn now(memory: &GlobalMemory, number: u64, is_there: [u64; WORDS]) -> Self {
        let bytes = [0; PAGE_BYTES as usize];
        let mut page = Self { bytes, is_there };
        for (start, end) in page.runs() {
            let address = number * PAGE_BYTES + start as u64;
            each_part(memory, address, end - start, |host, part| {
                let bytes = &mut page.bytes[start..end][part];
                // SAFETY: In range of a live allocation.
                unsafe { transfer::read(host, bytes) };
            });
        }
        page
    }

    fn get(&self, at: usize) -> Option<u8> {
        self.has(at).then(|| self.bytes[at])
    }

    fn absorb(&mut self, later: &Self) {
        for (start, end) in later.runs() {
            for at in (start..end).filter(|&at| !self.has(at)).collect::<Vec<_>>() {
                self.bytes[at] = later.bytes[at];
                self.is_there[at / 64] |= 1 << (at % 64);
            }
        }
    }

    /// The contiguous runs of bytes.
    fn runs(&self) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (word, &bits) in self.is_there.iter().enumerate() {
            let mut at = 0;
            while at < 64 {
                at += (bits >> at).trailing_zeros().min(64 - at);
                let n = (bits.checked_shr(at).unwrap_or(0)).trailing_ones();
                if n == 0 {
                    continue;
                }
                let start = 64 * word + at as usize;
                at += n;
                match runs.last_mut() {
                    Some((_, end)) if *end == start => *end += n as usize,
                    _ => runs.push((start, start + n as usize)),
                }
            }
        }
        runs
    }

    /// Whether all bytes of a range are there.
    fn has_all(&self, at: usize, n: usize) -> bool {
        let mut at = at;
        let end = at + n;
        while at < end {
            let part = (end - at).min(64 - at % 64);
            let mask = u64::MAX >> (64 - part) << (at % 64);
            if self.is_there[at / 64] & mask != mask {
                return false;
            }
            at += part;
        }
        true
    }
}

impl Bytes {
    fn page_mut(&mut self, number: u64) -> &mut Page {
        self.0.entry(number).or_insert_with(|| {
            Box::new(Page {
                bytes: [0; PAGE_BYTES as usize],
                is_there: [0; WORDS],
            })
        })
    }

    /// Adds those of a later time that are not among these.
    pub fn absorb(&mut self, later: Self) {
        for (number, page) in later.0 {
            match self.0.entry(number) {
                Entry::Vacant(vacant) => {
                    vacant.insert(page);
                }
                Entry::Occupied(mut own) => own.get_mut().absorb(&page),
            }
        }
    }

    /// How much memory they take.
    pub fn n_bytes(&self) -> usize {
        self.0.len() * size_of::<Page>()
    }

    /// The byte at an address, if it is one of these.
    pub fn get(&self, address: u64) -> Option<u8> {
        let page = self.0.get(&(address / PAGE_BYTES))?;
        page.get((address % PAGE_BYTES) as usize)
    }

    /// The ranges of contiguous bytes within this one, as far as they are in one page.
    pub fn ranges_in(&self, all: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let pages = self.0.iter();
        let ranges = pages.flat_map(|(number, page)| {
            let start = number * PAGE_BYTES;
            let runs = page.runs().into_iter();
            runs.map(move |(first, end)| start + first as u64..start + end as u64)
        });
        ranges
            .map(move |range| range.start.max(all.start)..range.end.min(all.end))
            .filter(|range| !range.is_empty())
    }

    /// What is at the same addresses now.
    pub fn now(&self, memory: &GlobalMemory) -> Self {
        let pages = self.0.iter().map(|(&number, page)| {
            let now = Page::now(memory, number, page.is_there);
            (number, Box::new(now))
        });
        Self(pages.collect())
    }

    /// Puts them back.
    pub fn restore(&self, memory: &GlobalMemory) {
        for (&number, page) in &self.0 {
            for (start, end) in page.runs() {
                let address = number * PAGE_BYTES + start as u64;
                each_part(memory, address, end - start, |host, part| {
                    // SAFETY: In range of a live allocation.
                    unsafe { transfer::write(host, &page.bytes[start..end][part]) };
                });
            }
        }
    }

    /// The addresses of these bytes, and of those of `others` that are not among these, at
    /// which memory holds something else now; in order.
    pub fn changed(&self, others: &Self, memory: &GlobalMemory) -> Vec<u64> {
        let numbers = self.0.keys().chain(others.0.keys()).copied();
        let mut numbers: Vec<u64> = numbers.collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut changed = Vec::new();
        for number in numbers {
            let pages = [self.0.get(&number), others.0.get(&number)];
            let is_there = |i: usize| {
                let pages = pages.iter().flatten();
                pages.fold(0, |all, page| all | page.is_there[i])
            };
            let now = Page::now(memory, number, std::array::from_fn(is_there));
            let differs = |&at: &usize| {
                let expected = pages.iter().flatten().find_map(|page| page.get(at));
                expected.is_some() && expected != now.get(at)
            };
            let offsets = (0..PAGE_BYTES as usize).filter(differs);
            changed.extend(offsets.map(|at| number * PAGE_BYTES + at as u64));
        }
        changed
    }
}

/// Calls `f` with where bytes are on the host, and which of them, allocation by allocation.
fn each_part(
    memory: &GlobalMemory,
    address: u64,
    n_bytes: usize,
    mut f: impl FnMut(*mut u8, std::ops::Range<usize>),
) {
    let mut done = 0;
    while done < n_bytes {
        let at = address + done as u64;
        let found = found(memory, at);
        // In no allocation: the launch cannot have written there.
        let Some((allocation, host)) = found else {
            done += 1;
            continue;
        };
        let left = allocation.base + allocation.size_bytes - at;
        let n = left.min((n_bytes - done) as u64) as usize;
        f(host, done..done + n);
        done += n;
    }
}

/// The allocation that has a byte, and where that is on the host.
fn found(memory: &GlobalMemory, address: u64) -> Option<(&Allocation, *mut u8)> {
    let allocation = memory.find(address)?;
    let host = allocation
        .host()
        .filter(|_| allocation.contains(address, 1))?;
    let offset = (address - allocation.base) as usize;
    Some((allocation, host.as_ptr().wrapping_add(offset)))
}

/// The byte at an address now, if that is in an allocation.
pub fn byte_at(memory: &GlobalMemory, address: u64) -> Option<u8> {
    let (_, host) = found(memory, address)?;
    let mut byte = [0];
    // SAFETY: In range of a live allocation.
    unsafe { transfer::read(host, &mut byte) };
    Some(byte[0])
}

impl<'a> Journal<'a> {
    /// Nothing is kept yet.
    pub fn new(memory: &'a GlobalMemory) -> Self {
        Self {
            memory,
            only_of_the_host: false,
            kept: Bytes::default(),
        }
    }

    /// The same for what is written to memory of the host.
    pub fn of_the_host(memory: &'a GlobalMemory) -> Self {
        Self {
            only_of_the_host: true,
            ..Self::new(memory)
        }
    }

    /// Keeps bytes that are about to be written, unless they were kept before.
    pub fn keep(&mut self, address: u64, n_bytes: u32) {
        let Some((allocation, host)) = found(self.memory, address) else {
            return;
        };
        if self.only_of_the_host && !allocation.is_the_hosts {
            return;
        }
        let end = allocation.base + allocation.size_bytes;
        let end = end.min(address + u64::from(n_bytes));
        let offset = (address % PAGE_BYTES) as usize;
        let n = (end - address) as usize;
        if offset + n <= PAGE_BYTES as usize
            && let Some(page) = self.kept.0.get(&(address / PAGE_BYTES))
            && page.has_all(offset, n)
        {
            return;
        }
        let mut at = address;
        while at < end {
            let past = end.min((at / PAGE_BYTES + 1) * PAGE_BYTES);
            let page = self.kept.page_mut(at / PAGE_BYTES);
            for at in at..past {
                let offset = (at % PAGE_BYTES) as usize;
                if !page.has(offset) {
                    page.is_there[offset / 64] |= 1 << (offset % 64);
                    let from = host.wrapping_add((at - address) as usize);
                    // SAFETY: In range of a live allocation.
                    unsafe { transfer::read(from, &mut page.bytes[offset..=offset]) };
                }
            }
            at = past;
        }
    }

    /// Exchanges what was kept.
    pub fn exchange(&mut self, kept: &mut Bytes) {
        std::mem::swap(&mut self.kept, kept);
    }

    /// What was kept.
    pub fn into_bytes(self) -> Bytes {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::allocation::Purpose;
    use crate::memory::heap::Heap;

    #[test]
    fn only_what_was_kept_is_put_back() {
        let mut heap = Heap::new(crate::memory::heap::Seat::alone(0));
        let base = heap.allocate(5000, "a", Purpose::Buffer).unwrap();
        let memory = heap.memory().clone();
        let (allocation, host) = found(&memory, base).unwrap();
        let fill = |value| {
            // SAFETY: The whole of a live allocation.
            unsafe { transfer::fill(host, 5000, value) }
        };
        assert_eq!(allocation.size_bytes, 5000);
        fill(1);
        let mut journal = Journal::new(&memory);
        // Over the end of a page, twice, and past the end.
        for address in [base + 4094, base + 4095, base + 4998] {
            journal.keep(address, 4);
        }
        fill(2);
        journal.keep(base + 4094, 8);
        let kept = journal.into_bytes();
        let now = kept.now(&memory);
        let at = |offset| (kept.get(base + offset), now.get(base + offset));
        assert_eq!(at(4093), (None, None));
        assert_eq!(at(4094), (Some(1), Some(2)));
        assert_eq!(at(4099), (Some(2), Some(2)));
        assert_eq!(at(4999), (Some(1), Some(2)));
        assert_eq!(at(5000), (None, None));
        // Three of them were filled before they were kept.
        let changed = kept.changed(&Bytes::default(), &memory);
        assert_eq!(changed.len(), 5 + 2);
        assert!(now.changed(&kept, &memory).is_empty());
        fill(3);
        assert_eq!(now.changed(&kept, &memory).len(), 8 + 2);
        kept.restore(&memory);
        let mut bytes = [0; 5000];
        // SAFETY: The whole of a live allocation.
        unsafe { transfer::read(host, &mut bytes) };
        let ones = (0..5000).filter(|&i| bytes[i] == 1);
        assert_eq!(
            ones.collect::<Vec<_>>(),
            [4094, 4095, 4096, 4097, 4098, 4998, 4999]
        );
        assert_eq!(bytes.iter().filter(|&&b| b == 2).count(), 3);
    }
}

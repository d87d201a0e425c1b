//! The heap on which kernels allocate memory themselves, by `malloc`.
//!
//! It is one allocation of the device. What kernels allocate is followed by at least 16
//! unused bytes, and is not reused before the rest of the heap is used up: an access past
//! its end, or after it was freed, is recognised as such.
//!
//! Left out: the space that a GPU's own bookkeeping takes of its heap. There an allocation
//! takes more than those 16 bytes, and fewer fit.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ranges::Ranges;
use crate::diagnostics::{Place, Relation};

/// The alignment of addresses in bytes, and the free bytes after each allocation.
const UNIT: u64 = 16;

/// A heap on which kernels allocate memory by `malloc`. Cheap to clone.
#[derive(Clone)]
pub struct KernelHeap(Arc<Inner>);

struct Inner {
    base: u64,
    size_bytes: u64,
    state: Mutex<State>,
}

/// What is allocated on a heap.
#[derive(Clone)]
pub(crate) struct State {
    free: Ranges,
    chunks: BTreeMap<u64, Chunk>,
    /// Those that were freed, oldest first.
    freed: VecDeque<u64>,
    used_bytes: u64,
    /// Just past the last byte that was ever allocated.
    reach: u64,
}

/// What one thread has allocated.
#[derive(Clone)]
struct Chunk {
    n_bytes: u64,
    is_freed: bool,
    made: Arc<Place>,
}

/// Memory that a kernel has allocated and none has freed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Taken {
    /// Its address.
    pub address: u64,
    /// Size in bytes.
    pub n_bytes: u64,
    /// The call of `malloc`.
    pub place: Arc<Place>,
}

/// Why memory cannot be freed: it was freed before, or `malloc` did not return the address.
pub(crate) struct NotTaken {
    pub is_freed: bool,
    pub relation: Relation,
}

impl KernelHeap {
    pub(super) fn new(base: u64, size_bytes: u64) -> Self {
        let n_units = Self::storage_bytes(size_bytes) / UNIT;
        let state = Mutex::new(State {
            free: Ranges::new(base / UNIT, n_units),
            chunks: BTreeMap::new(),
            freed: VecDeque::new(),
            used_bytes: 0,
            reach: base,
        });
        Self(Arc::new(Inner {
            base,
            size_bytes,
            state,
        }))
    }

    /// The device memory that it takes, so that all of it can be allocated at once.
    pub(super) fn storage_bytes(size_bytes: u64) -> u64 {
        (size_bytes / UNIT + 2) * UNIT
    }

    /// How much kernels can allocate on it.
    pub fn size_bytes(&self) -> u64 {
        self.0.size_bytes
    }

    /// How much they have allocated.
    pub fn used_bytes(&self) -> u64 {
        self.state().used_bytes
    }

    /// Everything that was allocated and not freed, by address.
    pub fn taken(&self) -> Vec<Taken> {
        let state = self.state();
        let live = state.chunks.iter().filter(|(_, chunk)| !chunk.is_freed);
        live.map(|(&address, chunk)| Taken {
            address,
            n_bytes: chunk.n_bytes,
            place: Arc::clone(&chunk.made),
        })
        .collect()
    }

    /// Whether both are the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Where it is.
    pub(crate) fn addresses(&self) -> Range<u64> {
        let Inner {
            base, size_bytes, ..
        } = *self.0;
        base..base + Self::storage_bytes(size_bytes)
    }

    pub(super) fn base(&self) -> u64 {
        self.0.base
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates memory; none if that much is not left in one piece.
    pub(crate) fn take(&self, n_bytes: u64, made: &Arc<Place>) -> Option<u64> {
        let mut state = self.state();
        if n_bytes > self.0.size_bytes - state.used_bytes {
            return None;
        }
        let n_units = n_units(n_bytes);
        let unit = loop {
            if let Some(unit) = state.free.take(n_units) {
                break unit;
            }
            state.forget_oldest()?;
        };
        let address = unit * UNIT;
        state.used_bytes += n_bytes;
        state.reach = state.reach.max(address + n_bytes);
        let chunk = Chunk {
            n_bytes,
            is_freed: false,
            made: Arc::clone(made),
        };
        state.chunks.insert(address, chunk);
        Some(address)
    }

    /// Whether an address is in it.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.addresses().contains(&address)
    }

    /// Frees what [`take`](Self::take) has returned.
    pub(crate) fn free(&self, address: u64) -> Result<(), NotTaken> {
        let mut state = self.state();
        match state.chunks.get_mut(&address) {
            Some(chunk) if !chunk.is_freed => {
                chunk.is_freed = true;
                let n_bytes = chunk.n_bytes;
                state.used_bytes -= n_bytes;
                state.freed.push_back(address);
                Ok(())
            }
            chunk => Err(NotTaken {
                is_freed: chunk.is_some(),
                relation: state.relation(address),
            }),
        }
    }

    /// Whether bytes are in what a kernel has allocated, where that is, and whether it was
    /// freed.
    pub(crate) fn find(&self, address: u64, n_bytes: u64) -> (bool, Relation, bool) {
        let state = self.state();
        let Some((&start, chunk)) = state.near(address) else {
            return (false, Relation::Nowhere, false);
        };
        let inside = address >= start && address - start + n_bytes <= chunk.n_bytes;
        (inside, relation(address, start, chunk), chunk.is_freed)
    }

    /// Where an address is, relative to what kernels have allocated.
    pub(crate) fn relation(&self, address: u64) -> Relation {
        self.state().relation(address)
    }

    /// Bytes from its start up to the last that was ever allocated.
    pub(super) fn reach_bytes(&self) -> u64 {
        self.state().reach - self.0.base
    }

    /// What is allocated now, to be restored later.
    pub(crate) fn save(&self) -> State {
        self.state().clone()
    }

    /// Restores what was allocated then.
    pub(crate) fn restore(&self, saved: &State) {
        self.state().clone_from(saved);
    }
}

impl State {
    /// The chunk that an address is in or past, else the first one.
    fn near(&self, address: u64) -> Option<(&u64, &Chunk)> {
        let before = self.chunks.range(..=address).next_back();
        before.or_else(|| self.chunks.first_key_value())
    }

    fn relation(&self, address: u64) -> Relation {
        let near = self.near(address);
        near.map_or(Relation::Nowhere, |(&start, chunk)| {
            relation(address, start, chunk)
        })
    }

    /// Lets the addresses of what was freed longest ago be reused.
    fn forget_oldest(&mut self) -> Option<()> {
        let address = self.freed.pop_front()?;
        let chunk = self.chunks.remove(&address)?;
        self.free.give(address / UNIT, n_units(chunk.n_bytes));
        Some(())
    }
}

/// The units that a chunk takes, including those left free after it.
fn n_units(n_bytes: u64) -> u64 {
    n_bytes.div_ceil(UNIT) + 1
}

fn relation(address: u64, start: u64, chunk: &Chunk) -> Relation {
    let Place {
        kernel,
        source,
        ptx_line,
        ..
    } = &*chunk.made;
    let line = match source {
        Some(source) => format!("{}:{}", source.file, source.line),
        None => format!("PTX line {ptx_line}"),
    };
    Relation::Near {
        label: format!("an allocation by `malloc` in `{kernel}` at {line}"),
        size_bytes: chunk.n_bytes,
        offset: i128::from(address) - i128::from(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x7000_0000_0000;

    fn heap(size_bytes: u64) -> (KernelHeap, Arc<Place>) {
        (KernelHeap::new(BASE, size_bytes), Arc::default())
    }

    #[test]
    fn all_of_it_can_be_taken_and_no_more() {
        let (heap, place) = heap(1000);
        assert_eq!(heap.take(1001, &place), None);
        assert_eq!(heap.take(u64::MAX, &place), None);
        for _ in 0..3 {
            let all = heap.take(1000, &place).expect("it is empty");
            assert_eq!(all % 16, 0);
            assert_eq!(heap.take(1, &place), None);
            assert!(heap.free(all).is_ok());
            assert_eq!(heap.used_bytes(), 0);
        }
    }

    #[test]
    fn what_was_freed_is_used_again_last() {
        let (heap, place) = heap(4096);
        let take = |n| heap.take(n, &place).expect("room");
        let [a, b] = [take(1), take(0)];
        assert_eq!(b - a, 32);
        assert_eq!(heap.taken().len(), 2);
        assert!(heap.free(a).is_ok());
        assert!(heap.free(a).is_err_and(|error| error.is_freed));
        assert!(heap.free(b + 16).is_err_and(|error| !error.is_freed));
        let (inside, _, is_freed) = heap.find(a, 1);
        assert!(inside && is_freed);
        assert!(!heap.find(a + 1, 1).0 && !heap.find(b, 1).0);
        let mut n = 0;
        while heap.take(16, &place).is_some_and(|address| address != a) {
            n += 1;
        }
        assert!(n > 100, "{n}");
        let (inside, _, is_freed) = heap.find(a, 16);
        assert!(inside && !is_freed);
    }

    #[test]
    fn it_can_be_as_it_was() {
        let (heap, place) = heap(100);
        let a = heap.take(40, &place).expect("room");
        let saved = heap.save();
        assert!(heap.free(a).is_ok());
        assert!(heap.take(90, &place).is_some());
        heap.restore(&saved);
        assert_eq!((heap.used_bytes(), heap.taken().len()), (40, 1));
        assert!(heap.free(a).is_ok());
    }
}

//! Global memory: allocations that know their own names.
//!
//! Every allocation begins on a page of its own (2 MiB of address space, which
//! costs nothing) and is followed by at least one page that belongs to nobody,
//! so that an access past its end cannot land in its neighbour. Addresses are
//! never used again: an access to freed memory is recognised as such.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use super::address::GLOBAL_BASE;
use super::written::Written;

/// Address space that an allocation's start is aligned to.
const PAGE_SHIFT: u32 = 21;
/// Alignment of an allocation's storage on the host: enough for the widest
/// access that must be one operation.
const HOST_ALIGN: usize = 16;

/// What an allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Memory that the host allocated.
    Buffer,
    /// A `.global` variable.
    Variable,
    /// A `.const` variable: kernels may only read it.
    Constant,
}

/// A range of global memory.
pub struct Allocation {
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The name it is called by in reports.
    pub label: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Its bytes; `None` once freed.
    storage: Option<Storage>,
    /// Which of them have been written: a place in [`GlobalMemory::written`].
    written: usize,
}

/// Zeroed host memory that is only ever reached through raw pointers, because
/// several workers access it at once.
struct Storage {
    pointer: NonNull<u8>,
    layout: Layout,
}

// SAFETY: The memory is owned, and every access to it while workers run is an
// atomic operation (see `step::access`); otherwise the device is borrowed
// exclusively.
unsafe impl Send for Storage {}
// SAFETY: As above.
unsafe impl Sync for Storage {}

impl Storage {
    /// None if the host has not so much.
    fn new(size_bytes: u64) -> Option<Self> {
        // Rounded up so that whole 16-byte groups can be read.
        let size = usize::try_from(size_bytes.max(1)).ok()?;
        let size = size.checked_next_multiple_of(HOST_ALIGN)?;
        let layout = Layout::from_size_align(size, HOST_ALIGN).ok()?;
        // SAFETY: The size is not zero.
        let pointer = unsafe { alloc_zeroed(layout) };
        let pointer = NonNull::new(pointer)?;
        Some(Self { pointer, layout })
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        // SAFETY: Allocated with this layout and not freed before.
        unsafe { dealloc(self.pointer.as_ptr(), self.layout) }
    }
}

impl Allocation {
    /// Where [`GlobalMemory::take_written`] has what is known of its bytes; means nothing
    /// once it is freed.
    #[inline]
    pub fn written_place(&self) -> usize {
        self.written
    }

    /// The host address of its first byte; `None` once freed.
    #[inline]
    pub fn host(&self) -> Option<NonNull<u8>> {
        self.storage.as_ref().map(|s| s.pointer)
    }

    /// Whether `bytes` at `address` lie wholly within it.
    #[inline]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size_bytes && bytes <= self.size_bytes - offset
    }
}

/// All allocations of a device.
#[derive(Default)]
pub struct GlobalMemory {
    allocations: Vec<Allocation>,
    /// Allocation number plus one, by page; 0 where nothing is.
    pages: Vec<u32>,
    /// Bytes in use.
    live_bytes: u64,
    /// Which bytes of the allocations have been written. Freed ones have none, so that
    /// launches do not take longer for them.
    written: Vec<Written>,
    /// Places in `written` that are nobody's.
    free_places: Vec<usize>,
}

impl GlobalMemory {
    /// Makes an allocation of zeroed memory; none if the host has not so much.
    pub fn allocate(&mut self, size_bytes: u64, label: &str, purpose: Purpose) -> Option<u64> {
        let storage = Storage::new(size_bytes)?;
        let page = self.pages.len() as u64;
        let base = GLOBAL_BASE + (page << PAGE_SHIFT);
        let number = self.allocations.len() as u32 + 1;
        let n_pages = size_bytes.max(1).div_ceil(1 << PAGE_SHIFT);
        self.pages.extend((0..n_pages).map(|_| number));
        self.pages.push(0);
        let written = self.free_places.pop().unwrap_or(self.written.len());
        if written == self.written.len() {
            self.written.push(Written::none(size_bytes));
        } else {
            self.written[written] = Written::none(size_bytes);
        }
        self.allocations.push(Allocation {
            base,
            size_bytes,
            label: label.to_owned(),
            purpose,
            storage: Some(storage),
            written,
        });
        self.live_bytes += size_bytes;
        Some(base)
    }

    /// Frees the allocation that starts at `base`; `false` if there is none.
    pub fn free(&mut self, base: u64) -> bool {
        let Some(number) = self.number_at(base) else {
            return false;
        };
        let allocation = &mut self.allocations[number];
        if allocation.base != base || allocation.storage.is_none() {
            return false;
        }
        allocation.storage = None;
        self.written[allocation.written] = Written::none(0);
        self.free_places.push(allocation.written);
        self.live_bytes -= allocation.size_bytes;
        true
    }

    /// Bytes in use.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// The number of the allocation whose pages hold `address`.
    #[inline]
    fn number_at(&self, address: u64) -> Option<usize> {
        let page = address.wrapping_sub(GLOBAL_BASE) >> PAGE_SHIFT;
        let number = *self.pages.get(usize::try_from(page).ok()?)?;
        (number as usize).checked_sub(1)
    }

    /// The allocation whose pages hold `address`, freed ones included.
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Allocation> {
        self.number_at(address).map(|n| &self.allocations[n])
    }

    /// The allocation nearest to an address that no allocation's pages hold.
    pub fn nearest(&self, address: u64) -> Option<&Allocation> {
        let distance = |a: &Allocation| {
            if address < a.base {
                a.base - address
            } else {
                address - (a.base + a.size_bytes)
            }
        };
        self.allocations
            .iter()
            .filter(|a| !a.contains(address, 1))
            .min_by_key(|a| (distance(a), a.storage.is_none()))
    }

    /// Whether this is the lower half of an address in an allocation.
    pub fn has_lower_half(&self, half: u32) -> bool {
        (self.allocations.iter())
            .any(|a| u64::from(half.wrapping_sub(a.base as u32)) < a.size_bytes)
    }

    /// The bytes from `address` on, for the host.
    pub fn bytes(&self, address: u64, n_bytes: u64) -> Option<&[u8]> {
        let allocation = self.find(address)?;
        if !allocation.contains(address, n_bytes) {
            return None;
        }
        let host = allocation.host()?;
        // SAFETY: In range of a live allocation; `&self` keeps workers from
        // running, because a launch borrows the device exclusively.
        Some(unsafe {
            std::slice::from_raw_parts(
                host.as_ptr().add((address - allocation.base) as usize),
                n_bytes as usize,
            )
        })
    }

    /// Takes what is known of the allocations' bytes, for a launch that watches.
    pub fn take_written(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.written)
    }

    /// A launch has ended, which knows of the allocations what was written; or does
    /// not know, and may have written anything.
    pub fn launched(&mut self, written: Option<Vec<Written>>) {
        match written {
            Some(written) => self.written = written,
            None => self.written.iter_mut().for_each(Written::mark_all),
        }
    }

    /// The host's part of what has been written of the allocation at `address`.
    pub fn written_mut(&mut self, address: u64) -> Option<(u64, &mut Written)> {
        let number = self.number_at(address)?;
        let allocation = &self.allocations[number];
        allocation.storage.as_ref()?;
        let written = &mut self.written[allocation.written];
        Some((address - allocation.base, written))
    }

    /// The bytes from `address` on, for the host to write.
    pub fn bytes_mut(&mut self, address: u64, n_bytes: u64) -> Option<&mut [u8]> {
        let bytes = self.bytes(address, n_bytes)?;
        let (pointer, len) = (bytes.as_ptr().cast_mut(), bytes.len());
        // SAFETY: In range of a live allocation, borrowed exclusively; the
        // storage was made through a raw pointer, never through a reference.
        Some(unsafe { std::slice::from_raw_parts_mut(pointer, len) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_never_adjacent() {
        let mut memory = GlobalMemory::default();
        let a = memory.allocate(2 << 20, "a", Purpose::Buffer).unwrap();
        let b = memory.allocate(1, "b", Purpose::Buffer).unwrap();
        assert!(b >= a + (4 << 20));
        assert!(memory.find(a + (2 << 20)).is_none());
        assert_eq!(memory.nearest(a + (2 << 20)).unwrap().label, "a");
    }

    #[test]
    fn freed_memory_is_remembered() {
        let mut memory = GlobalMemory::default();
        let a = memory.allocate(100, "a", Purpose::Buffer).unwrap();
        assert_eq!(memory.live_bytes(), 100);
        assert!(!memory.free(a + 4));
        assert!(memory.free(a));
        assert!(!memory.free(a));
        assert_eq!(memory.live_bytes(), 0);
        assert!(memory.find(a).unwrap().host().is_none());
        assert!(memory.allocate(100, "b", Purpose::Buffer).unwrap() > a);
    }

    #[test]
    fn launches_do_not_look_at_freed_allocations() {
        let mut memory = GlobalMemory::default();
        let kept = memory.allocate(8, "kept", Purpose::Buffer).unwrap();
        for _ in 0..1000 {
            let a = memory.allocate(8, "a", Purpose::Buffer).unwrap();
            assert!(memory.free(a));
        }
        let mut written = memory.take_written();
        assert_eq!(written.len(), 2);
        let place = memory.find(kept).unwrap().written_place();
        written[place].mark(0, 4);
        memory.launched(Some(written));
        let (start, written) = memory.written_mut(kept + 4).unwrap();
        assert_eq!(start, 4);
        assert!(written.has(0, 4) && !written.has(4, 8));
        // A place that is used again knows nothing of who had it before.
        memory.launched(None);
        let new = memory.allocate(8, "new", Purpose::Buffer).unwrap();
        assert!(!memory.written_mut(new).unwrap().1.has(0, 1));
    }

    #[test]
    fn bounds_are_exact() {
        let mut memory = GlobalMemory::default();
        let a = memory.allocate(10, "a", Purpose::Buffer).unwrap();
        assert!(memory.bytes(a, 10).is_some());
        assert!(memory.bytes(a + 1, 10).is_none());
        assert!(memory.bytes(a + 10, 0).is_some());
        assert!(memory.bytes(a - 1, 1).is_none());
        assert!(memory.bytes(0, 1).is_none());
        assert!(memory.bytes(u64::MAX, 1).is_none());
        memory.bytes_mut(a, 10).unwrap().fill(7);
        assert_eq!(memory.bytes(a, 10).unwrap(), [7; 10]);
    }
}

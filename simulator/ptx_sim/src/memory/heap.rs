//! A device's memory as its host manages it.
//!
//! Every allocation begins on a page of its own (2 MiB of address space, which
//! costs nothing) and is followed by at least one unused page, so that an access past its
//! end cannot land in its neighbour. The last thousand that were freed are remembered: an
//! access to one is recognised as such. Then their addresses are used again.
//!
//! The devices of a machine have addresses of their own, and so have the places where it is kept
//! what is known of their allocations' bytes: a launch can use the memory of several.

use std::collections::VecDeque;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;

use super::address::GLOBAL_BASE;
use super::allocation::{Allocation, Purpose, Storage};
use super::global::{GlobalMemory, PAGE_SHIFT};
use super::kernel_heap::KernelHeap;
use super::ranges::Ranges;
use super::written::Written;

/// Freed allocations that are remembered.
const REMEMBERED: usize = 1000;
/// Address space of one device, in bytes: there is room for eight.
const DEVICE_SPAN: u64 = 7 << 38;
/// How many devices have addresses of their own.
pub const N_SPANS: u32 = 8;

/// What is known of an allocation's bytes.
struct Known {
    written: Written,
    /// The number of launches that did not watch, when that was so.
    at: u64,
}

/// Which device of a machine it is.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Its number, which decides its addresses.
    pub ordinal: u32,
    /// Its place among the machine's devices.
    pub index: usize,
    /// How many devices the machine has.
    pub n_devices: usize,
}

impl Seat {
    /// A machine's only device.
    pub fn alone(ordinal: u32) -> Self {
        Self {
            ordinal,
            index: 0,
            n_devices: 1,
        }
    }
}

/// All memory of a device.
pub struct Heap {
    seat: Seat,
    memory: GlobalMemory,
    ranges: Ranges,
    /// Bytes in use.
    live_bytes: u64,
    /// Ranges of the host's memory.
    n_of_the_host: usize,
    /// Which bytes of the allocations have been written. Freed ones have none, so that
    /// launches do not take longer for them.
    known: Vec<Known>,
    /// Unused places in `known`.
    free_places: Vec<usize>,
    /// Launches that may have written anything.
    n_unwatched: u64,
    /// The last that were freed, oldest first.
    freed: VecDeque<Arc<Allocation>>,
}

impl Heap {
    /// A heap with addresses of its own among the first [`N_SPANS`] devices.
    pub fn new(seat: Seat) -> Self {
        let start = span_of(seat.ordinal).start;
        Self {
            seat,
            memory: GlobalMemory::default(),
            ranges: Ranges::new(start >> PAGE_SHIFT, DEVICE_SPAN >> PAGE_SHIFT),
            live_bytes: 0,
            n_of_the_host: 0,
            known: Vec::new(),
            free_places: Vec::new(),
            n_unwatched: 0,
            freed: VecDeque::new(),
        }
    }

    /// Whether kernels use memory of the host.
    pub fn has_memory_of_the_host(&self) -> bool {
        self.n_of_the_host > 0
    }

    /// Whether an address is one that it gives to allocations.
    pub fn owns_address(ordinal: u32, address: u64) -> bool {
        span_of(ordinal).contains(&address)
    }

    /// Adds its allocations to another device's, for launches there that may use them.
    pub fn show_in(&self, memory: &mut GlobalMemory) {
        memory.take_over(&self.memory, &span_of(self.seat.ordinal));
    }

    /// What lies where.
    pub fn memory(&self) -> &GlobalMemory {
        &self.memory
    }

    /// Bytes in use.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Makes an allocation of zeroed memory; none if the host does not have that much.
    pub fn allocate(&mut self, size_bytes: u64, label: &str, purpose: Purpose) -> Option<u64> {
        let storage = Storage::new(size_bytes)?;
        let page = self.take_pages(n_pages(size_bytes))?;
        let base = page << PAGE_SHIFT;
        let allocation = self.new_allocation((base, size_bytes), label, purpose, storage);
        self.memory.insert(&Arc::new(allocation));
        self.live_bytes += size_bytes;
        Some(base)
    }

    /// Makes a heap on which kernels can allocate this much; none if the host does not have
    /// that much.
    pub fn allocate_kernel_heap(&mut self, size_bytes: u64) -> Option<KernelHeap> {
        let storage_bytes = KernelHeap::storage_bytes(size_bytes);
        let storage = Storage::new(storage_bytes)?;
        let page = self.take_pages(n_pages(storage_bytes))?;
        let range = (page << PAGE_SHIFT, storage_bytes);
        let allocation = self.new_allocation(range, "the kernels' heap", Purpose::Buffer, storage);
        let heap = KernelHeap::new(range.0, size_bytes);
        self.memory
            .insert(&Arc::new(allocation.with_heap(heap.clone())));
        self.live_bytes += storage_bytes;
        Some(heap)
    }

    /// Gives a heap back, with everything that kernels have allocated on it.
    pub fn free_kernel_heap(&mut self, heap: &KernelHeap) {
        self.free(heap.base());
    }

    /// Whether an address is in a heap of kernels, which the host cannot reach.
    pub fn is_kernel_heap(&self, address: u64) -> bool {
        let allocation = self.memory.find(address);
        allocation.is_some_and(|allocation| allocation.heap.is_some())
    }

    /// Lets kernels use memory of the host, at the host's address; `false` if some of it
    /// is an allocation already.
    pub fn adopt(&mut self, host: NonNull<u8>, size_bytes: u64, label: &str) -> bool {
        let base = host.addr().get() as u64;
        let is_free = self.memory.is_free(base, size_bytes);
        if is_free {
            self.n_of_the_host += 1;
            let range = (base, size_bytes);
            let storage = Storage::Host(host);
            let allocation = self.new_allocation(range, label, Purpose::Buffer, storage);
            self.memory.insert(&Arc::new(allocation));
            // The host may write there at any time.
            if let Some((_, written)) = self.written_mut(base) {
                written.mark_all();
            }
        }
        is_free
    }

    fn new_allocation(
        &mut self,
        range: (u64, u64),
        label: &str,
        purpose: Purpose,
        storage: Storage,
    ) -> Allocation {
        let known = Known {
            written: Written::none(range.1),
            at: self.n_unwatched,
        };
        let local = self.free_places.pop().unwrap_or(self.known.len());
        if local == self.known.len() {
            self.known.push(known);
        } else {
            self.known[local] = known;
        }
        let place = local * self.seat.n_devices + self.seat.index;
        Allocation::new(range, label, purpose, storage, place)
    }

    /// Where in `known` the place of an allocation is.
    fn local(&self, place: usize) -> usize {
        place / self.seat.n_devices
    }

    /// Pages for an allocation and the gap after it.
    fn take_pages(&mut self, n_pages: u64) -> Option<u64> {
        loop {
            if let Some(page) = self.ranges.take(n_pages) {
                return Some(page);
            }
            let oldest = self.freed.pop_front()?;
            self.forget(&oldest);
        }
    }

    /// Frees the allocation that starts at `base`; `false` if there is none.
    pub fn free(&mut self, base: u64) -> bool {
        let Some(allocation) = self.memory.find(base) else {
            return false;
        };
        if allocation.base != base || allocation.host().is_none() {
            return false;
        }
        let local = self.local(allocation.written_place());
        self.known[local].written = Written::none(0);
        self.free_places.push(local);
        if allocation.is_the_hosts {
            self.n_of_the_host -= 1;
        } else {
            self.live_bytes -= allocation.size_bytes;
        }
        let freed = Arc::new(allocation.freed());
        self.memory.insert(&freed);
        self.freed.push_back(freed);
        if self.freed.len() > REMEMBERED
            && let Some(oldest) = self.freed.pop_front()
        {
            self.forget(&oldest);
        }
        true
    }

    /// Lets the addresses of a freed allocation be used again.
    fn forget(&mut self, freed: &Arc<Allocation>) {
        self.memory.remove(freed);
        if !freed.is_the_hosts {
            self.ranges
                .give(freed.base >> PAGE_SHIFT, n_pages(freed.size_bytes));
        }
    }

    /// Lends what is known of the allocations' bytes to a launch that watches: each at its
    /// place, between those of the machine's other devices.
    pub fn lend_written(&mut self, all: &mut Vec<Written>) {
        self.each_written(all, |known| std::mem::replace(known, Written::none(0)));
    }

    /// What is known of the allocations' bytes, for a launch that leaves everything as it is.
    pub fn copy_written(&mut self, all: &mut Vec<Written>) {
        self.each_written(all, |known| known.clone());
    }

    fn each_written(&mut self, all: &mut Vec<Written>, mut f: impl FnMut(&mut Written) -> Written) {
        let Seat {
            index, n_devices, ..
        } = self.seat;
        let n = self.known.len() * n_devices;
        if all.len() < n {
            all.resize_with(n, || Written::none(0));
        }
        for local in 0..self.known.len() {
            self.settle(local);
            all[local * n_devices + index] = f(&mut self.known[local].written);
        }
    }

    /// A launch that watched has ended: what it knows.
    pub fn give_written(&mut self, all: &mut [Written]) {
        let Seat {
            index, n_devices, ..
        } = self.seat;
        let at = self.n_unwatched;
        for (local, known) in self.known.iter_mut().enumerate() {
            let written = &mut all[local * n_devices + index];
            let written = std::mem::replace(written, Written::none(0));
            *known = Known { written, at };
        }
    }

    /// A launch may have written anything.
    pub fn written_by_anyone(&mut self) {
        self.n_unwatched += 1;
    }

    fn settle(&mut self, local: usize) {
        let known = &mut self.known[local];
        if known.at != self.n_unwatched {
            known.at = self.n_unwatched;
            known.written.mark_all();
        }
    }

    /// The host's part of what has been written of the allocation at `address`.
    pub fn written_mut(&mut self, address: u64) -> Option<(u64, &mut Written)> {
        let allocation = self.memory.find(address)?;
        allocation.host()?;
        let (base, local) = (allocation.base, self.local(allocation.written_place()));
        self.settle(local);
        Some((address - base, &mut self.known[local].written))
    }

    /// The allocation that contains these bytes, which stays as long as it is held.
    pub fn holds(&self, address: u64, n_bytes: u64) -> Option<Arc<Allocation>> {
        let allocation = self.memory.find_shared(address)?;
        let is_there = allocation.host().is_some() && allocation.is_open(address, n_bytes);
        is_there.then(|| Arc::clone(allocation))
    }
}

/// The addresses of a device's allocations.
fn span_of(ordinal: u32) -> Range<u64> {
    let start = GLOBAL_BASE + DEVICE_SPAN * u64::from(ordinal % N_SPANS);
    start..start + DEVICE_SPAN
}

/// The number of the device that has an address, if one of the first [`N_SPANS`] may.
pub fn ordinal_of(address: u64) -> Option<u32> {
    let distance = address.checked_sub(GLOBAL_BASE)?;
    u32::try_from(distance / DEVICE_SPAN)
        .ok()
        .filter(|&n| n < N_SPANS)
}

/// Pages of an allocation, including the gap after it.
fn n_pages(size_bytes: u64) -> u64 {
    size_bytes.max(1).div_ceil(1 << PAGE_SHIFT) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> Heap {
        Heap::new(Seat::alone(0))
    }

    #[test]
    fn neighbours_are_never_adjacent() {
        let mut heap = heap();
        let a = heap.allocate(2 << 20, "a", Purpose::Buffer).unwrap();
        let b = heap.allocate(1, "b", Purpose::Buffer).unwrap();
        assert!(b >= a + (4 << 20));
        assert!(heap.memory().find(a + (2 << 20)).is_none());
        assert_eq!(heap.memory().nearest(a + (2 << 20)).unwrap().label, "a");
    }

    #[test]
    fn freed_memory_is_remembered() {
        let mut heap = heap();
        let a = heap.allocate(100, "a", Purpose::Buffer).unwrap();
        assert_eq!(heap.live_bytes(), 100);
        assert!(!heap.free(a + 4));
        assert!(heap.free(a));
        assert!(!heap.free(a));
        assert_eq!(heap.live_bytes(), 0);
        assert!(heap.memory().find(a).unwrap().host().is_none());
        assert!(heap.allocate(100, "b", Purpose::Buffer).unwrap() > a);
    }

    #[test]
    fn addresses_are_used_again_and_nothing_grows() {
        let mut heap = heap();
        let kept = heap.allocate(10, "kept", Purpose::Buffer).unwrap();
        let first = heap.allocate(5 << 20, "a", Purpose::Buffer).unwrap();
        heap.free(first);
        for _ in 0..3 * REMEMBERED {
            let a = heap.allocate(5 << 20, "a", Purpose::Buffer).unwrap();
            assert!(a - first < (REMEMBERED as u64 + 2) * (8 << 20));
            assert!(heap.free(a));
        }
        assert_eq!(heap.freed.len(), REMEMBERED);
        assert_eq!(heap.known.len(), 2);
        assert!(heap.holds(kept, 10).is_some());
    }

    #[test]
    fn a_full_address_space_forgets_what_was_freed() {
        let mut heap = heap();
        heap.ranges = Ranges::new(GLOBAL_BASE >> PAGE_SHIFT, 4);
        let a = heap.allocate(1, "a", Purpose::Buffer).unwrap();
        let b = heap.allocate(1, "b", Purpose::Buffer).unwrap();
        assert_eq!(heap.allocate(1, "c", Purpose::Buffer), None);
        assert!(heap.free(a));
        assert_eq!(heap.allocate(1, "c", Purpose::Buffer), Some(a));
        assert!(heap.holds(a, 1).is_some() && heap.holds(b, 1).is_some());
    }

    #[test]
    fn launches_do_not_look_at_freed_allocations() {
        let mut heap = heap();
        let kept = heap.allocate(8, "kept", Purpose::Buffer).unwrap();
        for _ in 0..1000 {
            let a = heap.allocate(8, "a", Purpose::Buffer).unwrap();
            assert!(heap.free(a));
        }
        let mut written = Vec::new();
        heap.lend_written(&mut written);
        assert_eq!(written.len(), 2);
        let place = heap.memory().find(kept).unwrap().written_place();
        written[place].mark(0, 4);
        heap.give_written(&mut written);
        let (start, written) = heap.written_mut(kept + 4).unwrap();
        assert_eq!(start, 4);
        assert!(written.has(0, 4) && !written.has(4, 8));
        heap.written_by_anyone();
        assert!(heap.written_mut(kept).unwrap().1.has(0, 8));
        // A reused place knows nothing of its previous owner.
        let new = heap.allocate(8, "new", Purpose::Buffer).unwrap();
        assert!(!heap.written_mut(new).unwrap().1.has(0, 1));
    }

    #[test]
    fn bounds_are_exact() {
        let mut heap = heap();
        let a = heap.allocate(10, "a", Purpose::Buffer).unwrap();
        let holds = |address, n_bytes| heap.holds(address, n_bytes).is_some();
        assert!(holds(a, 10) && !holds(a + 1, 10));
        assert!(holds(a + 10, 0) && !holds(a - 1, 1));
        assert!(!holds(0, 1) && !holds(u64::MAX, 1));
    }

    #[test]
    fn the_hosts_memory_need_not_keep_to_pages() {
        let mut heap = heap();
        let mut bytes = vec![0_u8; 1000];
        let at = |i: usize, bytes: &mut Vec<u8>| NonNull::from(&mut bytes[i]);
        let first = at(0, &mut bytes);
        assert!(heap.adopt(first, 100, "x"));
        assert!(heap.adopt(at(100, &mut bytes), 300, "y"));
        assert!(!heap.adopt(at(399, &mut bytes), 2, "z"));
        let base = first.addr().get() as u64;
        let label = |heap: &Heap, at| heap.memory().find(at).map(|a| a.label.clone());
        assert_eq!(label(&heap, base + 99).as_deref(), Some("x"));
        assert_eq!(label(&heap, base + 100).as_deref(), Some("y"));
        assert!(heap.holds(base + 90, 20).is_none());
        assert!(heap.free(base + 100));
        assert!(heap.holds(base + 100, 1).is_none() && heap.holds(base, 100).is_some());
        assert!(!heap.adopt(at(50, &mut bytes), 10, "w"));
        assert!(heap.adopt(at(200, &mut bytes), 10, "v"));
        assert_eq!(heap.live_bytes(), 0);
    }

    #[test]
    fn devices_of_a_machine_keep_apart() {
        let seat = |index| Seat {
            ordinal: index as u32,
            index,
            n_devices: 3,
        };
        let mut heaps = [0, 1, 2].map(|index| Heap::new(seat(index)));
        let mut at = [0; 3];
        for (heap, at) in heaps.iter_mut().zip(&mut at) {
            *at = heap.allocate(8, "a", Purpose::Buffer).unwrap();
        }
        assert_eq!(at.map(ordinal_of), [Some(0), Some(1), Some(2)]);
        let mut memory = heaps[1].memory().clone();
        heaps[0].show_in(&mut memory);
        assert!(memory.find(at[0]).is_some() && memory.find(at[1]).is_some());
        assert!(memory.find(at[2]).is_none() && heaps[1].memory().find(at[0]).is_none());
        let mut written = Vec::new();
        heaps[0].lend_written(&mut written);
        heaps[1].lend_written(&mut written);
        let place = memory.find(at[0]).unwrap().written_place();
        written[place].mark(0, 4);
        heaps[1].give_written(&mut written);
        heaps[0].give_written(&mut written);
        assert!(heaps[0].written_mut(at[0]).unwrap().1.has(0, 4));
        assert!(!heaps[1].written_mut(at[1]).unwrap().1.has(0, 4));
    }

    #[test]
    fn a_copy_does_not_change() {
        let mut heap = heap();
        let a = heap.allocate(8, "a", Purpose::Buffer).unwrap();
        let before = heap.memory().clone();
        heap.free(a);
        let b = heap.allocate(8, "b", Purpose::Buffer).unwrap();
        assert!(before.find(a).unwrap().host().is_some());
        assert!(before.find(b).is_none());
        assert!(heap.memory().find(a).unwrap().host().is_none());
    }
}

//! Reads of memory that was never written: shared, local, global.
//!
//! Every byte counts on its own. Shared memory is unwritten when a block begins, and a
//! thread's local memory when a call gets it. Global memory is unwritten until the host or
//! a kernel writes it; what the host fills only to recognise it later
//! ([`Device::mark_unwritten`]) does not count. Exchanges do not count as reads; other
//! atomics do.
//!
//! What it misses:
//! - registers; what is [only stored again](super::passed_on), until it is used;
//! - bytes that were written by mistake, with a useless value;
//! - what a call passes and returns counts as written, and so does the target of
//!   [`Device::copy`];
//! - after a launch without checks, all global memory counts as written.
//!
//! [`Device::mark_unwritten`]: crate::Device::mark_unwritten
//! [`Device::copy`]: crate::Device::copy

use std::ops::Range;

use super::access::WarpAccess;
use super::races::{is_contiguous, lanes};
use crate::memory::global::GlobalMemory;
use crate::memory::written::{Bits, Written};

/// Which bytes of some memory have been written.
pub(crate) trait WrittenBytes {
    /// Whether all of these have been.
    fn has(&mut self, start: u64, end: u64) -> bool;

    /// These are written.
    fn set(&mut self, start: u64, end: u64);

    /// These count as not written.
    fn unset(&mut self, start: u64, end: u64);

    /// A lane that reads unwritten bytes.
    fn missing(&mut self, access: &WarpAccess<'_>) -> Option<usize> {
        let range = |lane: usize| {
            let n_bytes = access.lane_bytes.map_or(access.bytes, |n| n[lane]);
            let start = access.addresses[lane];
            (start, start + u64::from(n_bytes.min(access.bytes)))
        };
        if access.lane_bytes.is_none() {
            let first = access.mask.trailing_zeros() as usize & 31;
            let all = match access.stride {
                Some(0) => Some(range(first)),
                _ => is_contiguous(access).then(|| (range(0).0, range(31).1)),
            };
            if all.is_some_and(|(start, end)| self.has(start, end)) {
                return None;
            }
        }
        lanes(access.mask).find(|&lane| {
            let (start, end) = range(lane);
            start < end && !self.has(start, end)
        })
    }

    /// Marks what the lanes write.
    fn mark(&mut self, access: &WarpAccess<'_>) {
        let bytes = u64::from(access.bytes);
        if is_contiguous(access) {
            self.set(access.addresses[0], access.addresses[31] + bytes);
            return;
        }
        for lane in lanes(access.mask) {
            self.set(access.addresses[lane], access.addresses[lane] + bytes);
        }
    }

    /// Bytes of a range that are not written: where, and how many there are at most.
    fn missing_in(&mut self, range: &Range<u64>) -> Option<(u64, u64)> {
        if self.has(range.start, range.end) {
            return None;
        }
        let mut start = range.start;
        while start < range.end {
            let end = (start / 16 * 16 + 16).min(range.end);
            if !self.has(start, end) {
                return Some((start, end - start));
            }
            start = end;
        }
        None
    }
}

/// The bytes of a block's shared memory that have been written.
#[derive(Default)]
pub(crate) struct SharedWritten(Bits);

impl SharedWritten {
    pub fn reset(&mut self, shared_bytes: u32) {
        self.0.reset(u64::from(shared_bytes));
    }
}

impl WrittenBytes for SharedWritten {
    fn has(&mut self, start: u64, end: u64) -> bool {
        self.0.has(start, end)
    }

    fn set(&mut self, start: u64, end: u64) {
        self.0.set(start, end);
    }

    fn unset(&mut self, start: u64, end: u64) {
        self.0.clear(start, end);
    }
}

/// By byte of a warp's local memory, the lanes that have written it.
#[derive(Clone, Default)]
pub(crate) struct LocalWritten(Vec<u32>);

impl LocalWritten {
    /// For the next block.
    pub fn reset(&mut self) {
        self.0.clear();
    }

    /// The lanes get this memory, unwritten again.
    pub fn begin(&mut self, mask: u32, range: Range<u32>) {
        for at in range {
            if let Some(lanes) = self.0.get_mut(at as usize) {
                *lanes &= !mask;
            }
        }
    }

    /// The lanes write there.
    pub fn write(&mut self, mask: u32, range: Range<u32>) {
        if self.0.len() < range.end as usize {
            self.0.resize(range.end as usize, 0);
        }
        for lanes in &mut self.0[range.start as usize..range.end as usize] {
            *lanes |= mask;
        }
    }

    pub fn mark(&mut self, access: &WarpAccess<'_>) {
        let range = |lane: usize| {
            let start = access.addresses[lane] as u32;
            start..start + access.bytes
        };
        if access.stride == Some(0) {
            return self.write(access.mask, range(0));
        }
        for lane in lanes(access.mask) {
            self.write(1 << lane, range(lane));
        }
    }

    /// Whether a lane has written a byte.
    pub fn has(&self, lane: usize, at: u64) -> bool {
        let lanes = self.0.get(at as usize);
        lanes.is_some_and(|lanes| lanes >> lane & 1 != 0)
    }

    /// A lane that reads unwritten bytes.
    pub fn missing(&self, access: &WarpAccess<'_>) -> Option<usize> {
        let has = |lane: usize, mask: u32| {
            let start = access.addresses[lane] as usize;
            let bytes = self.0.get(start..start + access.bytes as usize);
            bytes.is_some_and(|bytes| bytes.iter().all(|lanes| lanes & mask == mask))
        };
        if access.stride == Some(0) && has(0, access.mask) {
            return None;
        }
        lanes(access.mask).find(|&lane| !has(lane, 1 << lane))
    }
}

/// The bytes of global memory that have been written.
pub(crate) struct GlobalWritten<'a> {
    memory: &'a GlobalMemory,
    /// By the allocations' places.
    pub list: Vec<Written>,
    /// The last allocation that was asked for: its addresses, its place.
    last: (Range<u64>, usize),
}

impl<'a> GlobalWritten<'a> {
    pub fn new(memory: &'a GlobalMemory, list: Vec<Written>) -> Self {
        Self {
            memory,
            list,
            last: (0..0, 0),
        }
    }

    /// The allocation's start, and what is written of it.
    #[inline]
    fn find(&mut self, address: u64) -> Option<(u64, &mut Written)> {
        if !self.last.0.contains(&address) {
            let allocation = self.memory.find(address)?;
            let place = allocation.written_place();
            let end = allocation.base + allocation.size_bytes;
            self.last = (allocation.base..end, place);
            self.list.get_mut(place)?.watch();
        }
        let written = self.list.get_mut(self.last.1)?;
        Some((self.last.0.start, written))
    }
}

impl WrittenBytes for GlobalWritten<'_> {
    fn has(&mut self, start: u64, end: u64) -> bool {
        let found = self.find(start);
        found.is_none_or(|(base, written)| written.has(start - base, end - base))
    }

    fn set(&mut self, start: u64, end: u64) {
        if let Some((base, written)) = self.find(start) {
            written.mark(start - base, end - base);
        }
    }

    fn unset(&mut self, start: u64, end: u64) {
        if let Some((base, written)) = self.find(start) {
            written.forget(start - base, end - base);
            written.watch();
        }
    }
}

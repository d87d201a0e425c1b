//! Host memory that devices use at the host's addresses: pinned, managed, registered.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::{MmapMut, MmapOptions};

use crate::driver::Driver;
use crate::status::{Outcome, Status};

/// How the memory was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// `cuMemHostAlloc`
    Pinned,
    /// `cuMemAllocManaged`
    Managed,
    /// A `__managed__` variable
    Variable,
    /// `cuMemHostRegister`
    Registered,
}

impl HostKind {
    /// Whether it is what CUDA calls managed memory.
    pub fn is_managed(self) -> bool {
        matches!(self, Self::Managed | Self::Variable)
    }
}

/// A range of such memory.
struct HostBlock {
    range: HostRange,
    /// Its pages, if we allocated them.
    pages: Option<MmapMut>,
}

/// All such ranges, by first address.
static RANGES: Mutex<BTreeMap<u64, HostBlock>> = Mutex::new(BTreeMap::new());

/// What is known about a range.
#[derive(Clone, Copy, Debug)]
pub struct HostRange {
    /// How the memory was obtained.
    pub kind: HostKind,
    /// `CU_MEMHOSTALLOC_…`, `CU_MEMHOSTREGISTER_…` or `CU_MEM_ATTACH_…`
    pub flags: u32,
    /// Its first address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The context that it was made in; 0 if no context owns it.
    pub context: usize,
}

fn ranges() -> MutexGuard<'static, BTreeMap<u64, HostBlock>> {
    RANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostRange {
    /// The range that contains an address.
    pub fn find(address: u64) -> Option<Self> {
        let ranges = ranges();
        let (_, HostBlock { range, .. }) = ranges.range(..=address).next_back()?;
        (address - range.base < range.size_bytes.max(1)).then_some(*range)
    }
}

impl Driver {
    /// Allocates zeroed memory that the host and all devices access at the same address.
    pub fn allocate_host(
        &self,
        kind: HostKind,
        size_bytes: usize,
        flags: u32,
        context: usize,
    ) -> Outcome<u64> {
        Status::INVALID_VALUE.when(size_bytes == 0)?;
        let pages = MmapOptions::new().len(size_bytes).map_anon();
        let mut pages = pages.map_err(|_| Status::OUT_OF_MEMORY)?;
        let pointer = NonNull::from(&mut pages[0]);
        let range = HostRange {
            kind,
            flags,
            base: pointer.addr().get() as u64,
            size_bytes: size_bytes as u64,
            context,
        };
        self.map_range(pointer, range, Some(pages))?;
        Ok(range.base)
    }

    /// Lets devices use memory of the client.
    pub fn register_host(
        &self,
        pointer: NonNull<u8>,
        size_bytes: usize,
        flags: u32,
        context: usize,
    ) -> Outcome {
        let range = HostRange {
            kind: HostKind::Registered,
            flags,
            base: pointer.addr().get() as u64,
            size_bytes: size_bytes as u64,
            context,
        };
        self.map_range(pointer, range, None)
    }

    fn map_range(&self, pointer: NonNull<u8>, range: HostRange, pages: Option<MmapMut>) -> Outcome {
        let label = match range.kind {
            HostKind::Pinned => "pinned memory",
            HostKind::Managed => "managed memory",
            HostKind::Variable => "a managed variable",
            HostKind::Registered => "registered memory",
        };
        let HostRange {
            base, size_bytes, ..
        } = range;
        for (i, device) in self.devices.iter().enumerate() {
            // SAFETY: our own pages stay until `free_host`, which waits for the device; the client
            // keeps its own until it unregisters them, as CUDA requires.
            let mapped = unsafe { device.sim.map_host(pointer, size_bytes, label) };
            if mapped.is_err() {
                let before = &self.devices[..i];
                before.iter().for_each(|device| drop(device.sim.free(base)));
                return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
            }
        }
        ranges().insert(base, HostBlock { range, pages });
        Ok(())
    }

    /// Removes a range by its first address; `false` if there is none for which the predicate is
    /// true. No launch uses it any more.
    pub fn free_host(&self, base: u64, is_meant: impl Fn(HostKind) -> bool) -> bool {
        let block = {
            let mut ranges = ranges();
            match ranges.get(&base) {
                Some(block) if is_meant(block.range.kind) => ranges.remove(&base),
                _ => None,
            }
        };
        let Some(block) = block else { return false };
        for device in &self.devices {
            let _ = device.sim.free(base);
        }
        drop(block.pages);
        true
    }

    /// Removes all ranges of a context that ends.
    pub(crate) fn free_host_of_context(&self, context: usize) {
        let bases: Vec<u64> = {
            let ranges = ranges();
            let own = ranges.values().map(|block| &block.range);
            let own = own.filter(|range| range.context == context);
            own.map(|range| range.base).collect()
        };
        for base in bases {
            self.free_host(base, |_| true);
        }
    }
}

//! Memory of the host that devices use at the host's addresses: pinned, managed, registered.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::{MmapMut, MmapOptions};

use crate::driver::Driver;
use crate::status::{Outcome, Status};

/// How the host came by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// `cuMemHostAlloc`
    Pinned,
    /// `cuMemAllocManaged`
    Managed,
    /// `cuMemHostRegister`
    Registered,
}

/// A range of such memory.
pub struct HostBlock {
    /// How the host came by it.
    pub kind: HostKind,
    /// `CU_MEMHOSTALLOC_…`, `CU_MEMHOSTREGISTER_…` or `CU_MEM_ATTACH_…`
    pub flags: u32,
    /// Its first address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The context that it was made in.
    pub context: usize,
    /// Its pages, if they are ours.
    pages: Option<MmapMut>,
}

/// All such ranges, by first address.
#[derive(Default)]
pub struct HostMemory(Mutex<BTreeMap<u64, HostBlock>>);

/// What is known of a range, without its pages.
#[derive(Clone, Copy, Debug)]
pub struct HostRange {
    /// How the host came by it.
    pub kind: HostKind,
    /// Its flags.
    pub flags: u32,
    /// Its first address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// The context that it was made in.
    pub context: usize,
}

impl HostMemory {
    fn blocks(&self) -> MutexGuard<'_, BTreeMap<u64, HostBlock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The range that an address is in.
    pub fn find(&self, address: u64) -> Option<HostRange> {
        let blocks = self.blocks();
        let (_, block) = blocks.range(..=address).next_back()?;
        (address - block.base < block.size_bytes.max(1)).then_some(HostRange {
            kind: block.kind,
            flags: block.flags,
            base: block.base,
            size_bytes: block.size_bytes,
            context: block.context,
        })
    }

    /// The first addresses of a context's ranges.
    pub fn of_context(&self, context: usize) -> Vec<u64> {
        let blocks = self.blocks();
        let own = blocks.values().filter(|block| block.context == context);
        own.map(|block| block.base).collect()
    }
}

impl Driver {
    /// Zeroed memory that the host and all devices reach at the same address.
    pub fn allocate_host(
        &self,
        kind: HostKind,
        size_bytes: usize,
        flags: u32,
        context: usize,
    ) -> Outcome<u64> {
        if size_bytes == 0 {
            return Err(Status::INVALID_VALUE);
        }
        let pages = MmapOptions::new().len(size_bytes).map_anon();
        let mut pages = pages.map_err(|_| Status::OUT_OF_MEMORY)?;
        let pointer = NonNull::from(&mut pages[0]);
        let block = HostBlock {
            kind,
            flags,
            base: pointer.addr().get() as u64,
            size_bytes: size_bytes as u64,
            context,
            pages: Some(pages),
        };
        self.map_block(pointer, block)
    }

    /// Lets devices use memory that the client has.
    pub fn register_host(
        &self,
        pointer: NonNull<u8>,
        size_bytes: usize,
        flags: u32,
        context: usize,
    ) -> Outcome {
        let block = HostBlock {
            kind: HostKind::Registered,
            flags,
            base: pointer.addr().get() as u64,
            size_bytes: size_bytes as u64,
            context,
            pages: None,
        };
        self.map_block(pointer, block).map(drop)
    }

    fn map_block(&self, pointer: NonNull<u8>, block: HostBlock) -> Outcome<u64> {
        let label = match block.kind {
            HostKind::Pinned => "pinned memory",
            HostKind::Managed => "managed memory",
            HostKind::Registered => "registered memory",
        };
        let (base, size_bytes) = (block.base, block.size_bytes);
        for (i, device) in self.devices.iter().enumerate() {
            // SAFETY: Own pages stay until `free_host`, which waits for the device; those of
            // the client are there until it takes them back, as CUDA asks of it.
            let mapped = unsafe { device.sim.map_host(pointer, size_bytes, label) };
            if mapped.is_err() {
                let before = &self.devices[..i];
                before.iter().for_each(|device| drop(device.sim.free(base)));
                return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
            }
        }
        self.host.blocks().insert(base, block);
        Ok(base)
    }

    /// Takes a range back by its first address; `false` if there is none that the predicate
    /// is true for. No launch uses it any more.
    pub fn free_host(&self, base: u64, is_meant: impl Fn(HostKind) -> bool) -> bool {
        let block = {
            let mut blocks = self.host.blocks();
            match blocks.get(&base) {
                Some(block) if is_meant(block.kind) => blocks.remove(&base),
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
}

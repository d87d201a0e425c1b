//! A range of global memory, and the host memory that holds it.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use super::kernel_heap::KernelHeap;
use crate::diagnostics::Relation;

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
    /// Which of the process's allocations it is, from 1.
    pub number: u64,
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size_bytes: u64,
    /// How many of these, from the first on, any kernel may access: none of a heap.
    open_bytes: u64,
    /// The name it is called by in reports.
    pub label: String,
    /// What it is for.
    pub purpose: Purpose,
    /// Its bytes; `None` once freed.
    storage: Option<Storage>,
    /// The place in the heap's list that says which of them have been written.
    written: usize,
    /// Whether the host reaches it at the same address.
    pub is_the_hosts: bool,
    /// What kernels have allocated in it, if it is their heap.
    pub heap: Option<KernelHeap>,
}

/// Host memory that is only ever reached through raw pointers, because several workers
/// access it at once.
pub(super) enum Storage {
    /// Zeroed when it was made.
    Own {
        pointer: NonNull<u8>,
        layout: Layout,
    },
    /// The host's own, at the same address for both.
    Host(NonNull<u8>),
}

// SAFETY: The memory is owned, or the host has promised that it is there
// (`Device::map_host`), and every access to it while others may access it is an atomic
// operation (see `step::access` and `memory::transfer`).
unsafe impl Send for Storage {}
// SAFETY: As above.
unsafe impl Sync for Storage {}

impl Storage {
    /// Zeroed memory; none if the host does not have that much.
    pub fn new(size_bytes: u64) -> Option<Self> {
        // Rounded up so that whole 16-byte groups can be read.
        let size = usize::try_from(size_bytes.max(1)).ok()?;
        let size = size.checked_next_multiple_of(HOST_ALIGN)?;
        let layout = Layout::from_size_align(size, HOST_ALIGN).ok()?;
        // SAFETY: The size is not zero.
        let pointer = unsafe { alloc_zeroed(layout) };
        let pointer = NonNull::new(pointer)?;
        Some(Self::Own { pointer, layout })
    }

    fn pointer(&self) -> NonNull<u8> {
        let (Self::Own { pointer, .. } | Self::Host(pointer)) = self;
        *pointer
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        if let Self::Own { pointer, layout } = *self {
            // SAFETY: Allocated with this layout and not freed before.
            unsafe { dealloc(pointer.as_ptr(), layout) }
        }
    }
}

impl Allocation {
    pub(super) fn new(
        (base, size_bytes): (u64, u64),
        label: &str,
        purpose: Purpose,
        storage: Storage,
        written: usize,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            base,
            size_bytes,
            open_bytes: size_bytes,
            label: label.to_owned(),
            purpose,
            heap: None,
            is_the_hosts: matches!(storage, Storage::Host(_)),
            storage: Some(storage),
            written,
        }
    }

    /// The same as a heap: kernels may access what they have allocated.
    pub(super) fn with_heap(self, heap: KernelHeap) -> Self {
        Self {
            open_bytes: 0,
            heap: Some(heap),
            ..self
        }
    }

    /// What is remembered of it once it is freed.
    pub(super) fn freed(&self) -> Self {
        Self {
            number: self.number,
            base: self.base,
            size_bytes: self.size_bytes,
            open_bytes: 0,
            heap: None,
            label: self.label.clone(),
            purpose: self.purpose,
            storage: None,
            written: usize::MAX,
            is_the_hosts: self.is_the_hosts,
        }
    }

    /// Where the heap keeps what is known of its bytes; meaningless once it is freed.
    #[inline]
    pub fn written_place(&self) -> usize {
        self.written
    }

    /// The host address of its first byte; `None` once freed.
    #[inline]
    pub fn host(&self) -> Option<NonNull<u8>> {
        self.storage.as_ref().map(Storage::pointer)
    }

    /// How many of its bytes may be accessed without further checks.
    #[inline]
    pub fn open_bytes(&self) -> u64 {
        self.open_bytes
    }

    /// Whether `bytes` at `address` lie wholly within it, and nothing more needs to be
    /// checked.
    #[inline]
    pub fn is_open(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.open_bytes && bytes <= self.open_bytes - offset
    }

    /// Where an address is, relative to it or to what kernels have allocated in it.
    pub fn relation(&self, address: u64) -> Relation {
        match &self.heap {
            Some(heap) => heap.relation(address),
            None => Relation::Near {
                label: self.label.clone(),
                size_bytes: self.size_bytes,
                offset: i128::from(address) - i128::from(self.base),
            },
        }
    }

    /// How many of its bytes, from the first on, may hold anything.
    pub fn reach_bytes(&self) -> u64 {
        let heap = self.heap.as_ref();
        heap.map_or(self.size_bytes, KernelHeap::reach_bytes)
    }

    /// Whether `bytes` at `address` lie wholly within it.
    #[inline]
    pub fn contains(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.base);
        offset <= self.size_bytes && bytes <= self.size_bytes - offset
    }
}

//! Handles: what a client holds of an object, and cannot get wrong without being told.
//!
//! A handle is a number that was never given out before, not an address. A wrong, freed or
//! foreign one is found in no table.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The kinds of objects. The number is part of the handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// `CUcontext`
    Context = 0x51,
    /// `CUmodule`
    Module = 0x52,
    /// `CUfunction` and `CUkernel`, which a launch takes alike.
    Function = 0x53,
    /// `CUstream`
    Stream = 0x54,
    /// `CUevent`
    Event = 0x55,
    /// `CUlibrary`
    Library = 0x56,
    /// `CUmemoryPool`
    Pool = 0x57,
    /// `CUlinkState`
    Linker = 0x58,
    /// `CUgraph`
    Graph = 0x59,
    /// `CUgraphNode`
    Node = 0x5a,
    /// `CUgraphExec`
    Executable = 0x5b,
    /// `CUuserObject`
    UserObject = 0x5c,
}

/// All objects of a kind.
pub struct Table<T> {
    kind: Kind,
    next: AtomicU64,
    objects: RwLock<HashMap<usize, Arc<T>>>,
}

impl<T> Table<T> {
    /// Of none.
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            next: AtomicU64::new(1),
            objects: RwLock::default(),
        }
    }

    /// A handle that nothing has yet.
    pub fn reserve(&self) -> usize {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Aligned as a pointer is: some clients keep bits there.
        ((self.kind as u64) << 40 | number << 4) as usize
    }

    /// Lets a reserved handle stand for an object.
    pub fn insert(&self, handle: usize, object: Arc<T>) {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.insert(handle, object);
    }

    /// Adds an object; gives its handle.
    pub fn add(&self, object: Arc<T>) -> usize {
        let handle = self.reserve();
        self.insert(handle, object);
        handle
    }

    /// The object of a handle.
    pub fn get(&self, handle: usize) -> Option<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&handle).map(Arc::clone)
    }

    /// Whether a handle was given out, be its object still there or not.
    pub fn was(&self, handle: usize) -> bool {
        let first = (self.kind as u64) << 40 | 1 << 4;
        let end = (self.kind as u64) << 40 | self.next.load(Ordering::Relaxed) << 4;
        let handle = handle as u64;
        (first..end).contains(&handle) && handle.is_multiple_of(16)
    }

    /// Takes an object out: its handle is nobody's any more.
    pub fn remove(&self, handle: usize) -> Option<Arc<T>> {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&handle)
    }

    /// All objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.values().map(Arc::clone).collect()
    }

    /// Takes out all objects but some.
    pub fn retain(&self, stays: impl Fn(&T) -> bool) {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.retain(|_, object| stays(object));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_good_once() {
        let table = Table::new(Kind::Event);
        let other = Table::<u32>::new(Kind::Stream);
        let handle = table.add(Arc::new(7));
        assert_eq!(table.get(handle).as_deref(), Some(&7));
        assert_eq!(other.get(handle), None);
        assert_eq!(table.get(handle + 1), None);
        assert_eq!(table.remove(handle).as_deref(), Some(&7));
        assert_eq!(table.remove(handle), None);
        let next = table.add(Arc::new(8));
        assert!(next != handle && table.get(handle).is_none());
        assert_eq!(table.all().len(), 1);
    }
}

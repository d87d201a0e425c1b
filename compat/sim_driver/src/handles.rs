//! Handles: a client's names for objects. A wrong one is always reported.
//!
//! A handle is not an address but a number that was never given out before, so a wrong, freed or
//! foreign one is found in no table. Each kind's table is with its objects.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::driver::driver;
use crate::status::{Outcome, Status};

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

impl Kind {
    /// What a driver returns for an unknown handle.
    fn unknown(self) -> Status {
        match self {
            Self::Context => Status::INVALID_CONTEXT,
            Self::Pool | Self::Graph | Self::Node | Self::Executable | Self::UserObject => {
                Status::INVALID_VALUE
            }
            Self::Module
            | Self::Function
            | Self::Stream
            | Self::Event
            | Self::Library
            | Self::Linker => Status::INVALID_HANDLE,
        }
    }
}

/// All objects of a kind. In a process without a driver, nothing is found, added or removed.
pub struct Table<T> {
    kind: Kind,
    next: AtomicU64,
    objects: RwLock<BTreeMap<usize, Arc<T>>>,
}

impl<T> Table<T> {
    /// A table without objects.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            next: AtomicU64::new(1),
            objects: RwLock::new(BTreeMap::new()),
        }
    }

    /// A handle that nothing has yet.
    pub fn reserve(&self) -> usize {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Aligned like a pointer: some clients keep bits there.
        ((self.kind as u64) << 40 | number << 4) as usize
    }

    /// Assigns a reserved handle to an object.
    pub fn insert(&self, handle: usize, object: Arc<T>) {
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.insert(handle, object);
    }

    /// Adds an object; returns its handle.
    pub fn add(&self, object: Arc<T>) -> Outcome<usize> {
        driver()?;
        let handle = self.reserve();
        self.insert(handle, object);
        Ok(handle)
    }

    /// The object with this handle.
    pub fn get(&self, handle: usize) -> Outcome<Arc<T>> {
        driver()?;
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        let found = objects.get(&handle).map(Arc::clone);
        found.ok_or(self.kind.unknown())
    }

    /// Whether a handle was given out, whether or not its object still exists.
    pub fn was(&self, handle: usize) -> bool {
        let first = (self.kind as u64) << 40 | 1 << 4;
        let end = (self.kind as u64) << 40 | self.next.load(Ordering::Relaxed) << 4;
        let handle = handle as u64;
        (first..end).contains(&handle) && handle.is_multiple_of(16)
    }

    /// Removes an object; its handle becomes invalid.
    pub fn remove(&self, handle: usize) -> Outcome<Arc<T>> {
        driver()?;
        let mut objects = self.objects.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&handle).ok_or(self.kind.unknown())
    }

    /// All objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.values().map(Arc::clone).collect()
    }

    /// Removes all objects except some.
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
        assert_eq!(table.add(Arc::new(6)), Err(Status::NOT_INITIALIZED));
        assert_eq!(table.get(1), Err(Status::NOT_INITIALIZED));
        crate::driver::make(|| Ok(crate::Settings::default())).expect("made");
        let other = Table::<u32>::new(Kind::Pool);
        let handle = table.add(Arc::new(7)).expect("added");
        assert_eq!(table.get(handle).as_deref(), Ok(&7));
        assert_eq!(other.get(handle), Err(Status::INVALID_VALUE));
        assert_eq!(table.get(handle + 1), Err(Status::INVALID_HANDLE));
        assert_eq!(table.remove(handle).as_deref(), Ok(&7));
        assert_eq!(table.remove(handle), Err(Status::INVALID_HANDLE));
        let next = table.add(Arc::new(8)).expect("added");
        assert!(next != handle && table.get(handle).is_err());
        assert_eq!(table.all().len(), 1);
    }
}

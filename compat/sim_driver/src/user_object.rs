//! Objects of the client that graphs keep, and that are destroyed when nothing refers to them any
//! more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::handles::{Kind, Table};
use crate::operation::HostCall;
use crate::status::{Outcome, Status};
use crate::tasks::Task;

/// An object of the client. Whatever refers to it owns it: the client, by its handle, and graphs.
pub struct UserObject {
    destroy: HostCall,
    /// The client's own references. When the last of them goes, so does the handle.
    n_of_the_client: Mutex<u32>,
}

/// `CUuserObject`
static USER_OBJECTS: Table<UserObject> = Table::new(Kind::UserObject);

impl UserObject {
    /// Makes one with some references of the client; returns its handle.
    pub fn add(destroy: HostCall, n: u32) -> Outcome<usize> {
        let object = Self {
            destroy,
            n_of_the_client: Mutex::new(n),
        };
        USER_OBJECTS.add(Arc::new(object))
    }

    /// The object with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        USER_OBJECTS.get(handle)
    }

    /// Adds references of the client.
    pub fn retain(&self, n: u32) -> Outcome {
        let mut own = self.own();
        *own = own.checked_add(n).ok_or(Status::INVALID_VALUE)?;
        Ok(())
    }

    /// Releases references of the client.
    pub fn release(&self, handle: usize, n: u32) -> Outcome {
        let mut own = self.own();
        *own = own.checked_sub(n).ok_or(Status::INVALID_VALUE)?;
        if *own == 0 {
            USER_OBJECTS.remove(handle)?;
        }
        Ok(())
    }

    fn own(&self) -> std::sync::MutexGuard<'_, u32> {
        self.n_of_the_client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UserObject {
    fn drop(&mut self) {
        let destroy = self.destroy;
        // On another thread: this one may hold a lock that the function takes.
        Task::submit(move || destroy.call(), &[]);
    }
}

/// The objects that a graph keeps, by handle, with their numbers of references.
#[derive(Clone, Default)]
pub struct Kept(HashMap<usize, (Arc<UserObject>, u32)>);

impl Kept {
    /// Adds references.
    pub fn retain(&mut self, handle: usize, object: Arc<UserObject>, n: u32) -> Outcome {
        let (_, own) = self.0.entry(handle).or_insert((object, 0));
        *own = own.checked_add(n).ok_or(Status::INVALID_VALUE)?;
        Ok(())
    }

    /// Releases references.
    pub fn release(&mut self, handle: usize, n: u32) -> Outcome {
        let (_, own) = self.0.get_mut(&handle).ok_or(Status::INVALID_VALUE)?;
        *own = own.checked_sub(n).ok_or(Status::INVALID_VALUE)?;
        if *own == 0 {
            self.0.remove(&handle);
        }
        Ok(())
    }

    /// Adds those that another graph keeps.
    pub fn extend(&mut self, other: &Self) {
        for (&handle, (object, n)) in &other.0 {
            let (_, own) = self.0.entry(handle).or_insert((Arc::clone(object), 0));
            *own = own.saturating_add(*n);
        }
    }

    /// Releases all of them, after a task if there is one.
    pub fn forget_after(self, last: Option<Arc<Task>>) {
        if !self.0.is_empty() {
            let last: Vec<_> = last.into_iter().collect();
            Task::submit(move || drop(self), &last);
        }
    }
}

//! State that exists once per context or device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One value for each number, made when first requested.
pub(crate) struct Each<T>(Mutex<BTreeMap<usize, Arc<T>>>);

impl<T: Default> Each<T> {
    /// Empty.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The value of a number.
    pub fn of(&self, number: usize) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(number).or_default())
    }

    /// Removes the value of a number and returns it.
    pub fn remove(&self, number: usize) -> Option<Arc<T>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&number)
    }
}

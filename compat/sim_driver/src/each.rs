//! State of which there is one per context or device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Something for each number, made when it is first asked for.
pub(crate) struct Each<T>(Mutex<BTreeMap<usize, Arc<T>>>);

impl<T: Default> Each<T> {
    /// For none yet.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// That of a number.
    pub fn of(&self, number: usize) -> Arc<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(number).or_default())
    }

    /// That of a number, which has none any more.
    pub fn remove(&self, number: usize) -> Option<Arc<T>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&number)
    }
}

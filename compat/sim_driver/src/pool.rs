//! Memory pools: names and attributes only, since memory is freed when it is given back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::Driver;
use crate::status::{Outcome, Status};

/// A pool.
#[derive(Default)]
pub struct Pool {
    /// The device that it is of.
    pub device: u32,
    /// `CU_MEMPOOL_ATTR_…`, as set.
    pub attributes: Mutex<HashMap<u32, u64>>,
}

/// The pools of a device: handles of the default one and of the one in use; 0 if nobody has
/// asked for them.
#[derive(Default)]
pub struct Pools(Mutex<(usize, usize)>);

impl Pools {
    fn handles(&self) -> MutexGuard<'_, (usize, usize)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driver {
    /// A new pool of a device.
    pub fn new_pool(&self, device: u32) -> usize {
        let pool = Pool {
            device,
            ..Pool::default()
        };
        self.pools.add(Arc::new(pool))
    }

    /// The pool that a device has from the beginning.
    pub fn default_pool(&self, device: i32) -> Outcome<usize> {
        let device = self.device(device)?;
        let mut handles = device.pool.handles();
        if handles.0 == 0 {
            handles.0 = self.new_pool(device.ordinal);
        }
        Ok(handles.0)
    }

    /// The pool that a device uses.
    pub fn current_pool(&self, device: i32) -> Outcome<usize> {
        let default = self.default_pool(device)?;
        let current = self.device(device)?.pool.handles().1;
        Ok(if self.pools.get(current).is_some() {
            current
        } else {
            default
        })
    }

    /// Has a device use a pool.
    pub fn set_current_pool(&self, device: i32, pool: usize) -> Outcome {
        let device = self.device(device)?;
        self.pools.get(pool).ok_or(Status::INVALID_VALUE)?;
        device.pool.handles().1 = pool;
        Ok(())
    }

    /// Whether a pool is one that a device has from the beginning.
    pub fn is_default_pool(&self, pool: usize) -> bool {
        self.devices
            .iter()
            .any(|device| device.pool.handles().0 == pool)
    }
}

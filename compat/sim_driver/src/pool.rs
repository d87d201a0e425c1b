//! Memory pools: only names and attributes, since freed memory is not kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::{Driver, SimDevice};
use crate::each::Each;
use crate::handles::{Kind, Table};
use crate::peers;
use crate::status::{Outcome, Status};

/// A pool.
#[derive(Default)]
pub struct Pool {
    /// The device that it belongs to.
    pub device: u32,
    /// `CU_MEMPOOL_ATTR_…`, as set.
    pub attributes: Mutex<HashMap<u32, u64>>,
}

/// The pools of a device: handles of the default one and of the current one; 0 until they are
/// requested.
#[derive(Default)]
struct Pools(Mutex<(usize, usize)>);

impl Pools {
    fn handles(&self) -> MutexGuard<'_, (usize, usize)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `CUmemoryPool`
static POOLS: Table<Pool> = Table::new(Kind::Pool);
/// By device.
static OF_DEVICES: Each<Pools> = Each::new();

fn of_device(device: &SimDevice) -> Arc<Pools> {
    OF_DEVICES.of(device.ordinal as usize)
}

impl Pool {
    /// The pool with this handle.
    pub fn of(handle: usize) -> Outcome<Arc<Self>> {
        POOLS.get(handle)
    }
}

impl Driver {
    /// A new pool of a device.
    pub fn new_pool(&self, device: u32) -> Outcome<usize> {
        let pool = Pool {
            device,
            ..Pool::default()
        };
        POOLS.add(Arc::new(pool))
    }

    /// The pool that a device has from the start.
    pub fn default_pool(&self, device: i32) -> Outcome<usize> {
        let device = self.device(device)?;
        let pools = of_device(device);
        let mut handles = pools.handles();
        if handles.0 == 0 {
            handles.0 = self.new_pool(device.ordinal)?;
        }
        Ok(handles.0)
    }

    /// The pool that a device uses.
    pub fn current_pool(&self, device: i32) -> Outcome<usize> {
        let default = self.default_pool(device)?;
        let current = of_device(self.device(device)?).handles().1;
        Ok(POOLS.get(current).map_or(default, |_| current))
    }

    /// Makes a device use a pool.
    pub fn set_current_pool(&self, device: i32, pool: usize) -> Outcome {
        let device = self.device(device)?;
        let pool_of = POOLS.get(pool)?.device;
        Status::INVALID_VALUE.when(pool_of != device.ordinal)?;
        of_device(device).handles().1 = pool;
        Ok(())
    }

    /// Destroys a pool, unless it is a device's default one.
    pub fn destroy_pool(&self, pool: usize) -> Outcome {
        let is_default = |device: &Arc<SimDevice>| of_device(device).handles().0 == pool;
        Status::INVALID_VALUE.when(self.devices.iter().any(is_default))?;
        POOLS.remove(pool)?;
        peers::forget_pool(pool);
        Ok(())
    }
}

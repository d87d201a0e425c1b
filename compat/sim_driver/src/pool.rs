//! Memory pools: names, attributes and sizes. Freed memory is not kept, though it is counted as a
//! driver does that keeps it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::driver::{Driver, SimDevice};
use crate::each::Each;
use crate::handles::{Kind, Table};
use crate::status::{Outcome, Status};

/// A driver reserves memory for a pool in units of this many bytes.
const UNIT: u64 = 32 << 20;

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`
const RELEASE_THRESHOLD: u32 = 4;

/// A pool.
pub struct Pool {
    /// Its handle.
    handle: usize,
    /// The device that it belongs to.
    pub device: u32,
    /// Bytes that it may have, apart from rounding; 0 for no limit.
    max_bytes: u64,
    /// `CU_MEMPOOL_ATTR_…`, as set.
    pub attributes: Mutex<HashMap<u32, u64>>,
    usage: Mutex<Usage>,
}

/// Bytes of a pool: now, and the most since the client last asked to start over.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// Those that a driver would have taken from the device.
    pub reserved: u64,
    /// The most of these.
    pub reserved_high: u64,
    /// Those that are allocated.
    pub used: u64,
    /// The most of these.
    pub used_high: u64,
}

/// An allocation's share of its pool, which gets it back when this is dropped.
pub struct Share {
    pool: Arc<Pool>,
    n_bytes: u64,
}

impl Share {
    /// The pool's handle.
    pub fn pool(&self) -> usize {
        self.pool.handle
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let attributes = self.pool.attributes.lock();
        let attributes = attributes.unwrap_or_else(PoisonError::into_inner);
        let kept = attributes.get(&RELEASE_THRESHOLD).copied();
        drop(attributes);
        self.pool.usage().used -= self.n_bytes;
        self.pool.trim_to(kept.unwrap_or(0));
    }
}

/// The bytes that a driver reserves for this many.
fn in_units(n_bytes: u64) -> u64 {
    n_bytes.checked_next_multiple_of(UNIT).unwrap_or(u64::MAX)
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

    /// What it has and has given out.
    pub fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes memory out of it, if it may have that much.
    pub fn take(self: &Arc<Self>, n_bytes: u64) -> Outcome<Share> {
        let mut usage = self.usage();
        let used = usage.used.saturating_add(n_bytes);
        let is_limited = self.max_bytes != 0;
        Status::OUT_OF_MEMORY.when(is_limited && used > in_units(self.max_bytes))?;
        usage.used = used;
        usage.used_high = usage.used_high.max(used);
        usage.reserved = usage.reserved.max(in_units(used));
        usage.reserved_high = usage.reserved_high.max(usage.reserved);
        Ok(Share {
            pool: Arc::clone(self),
            n_bytes,
        })
    }

    /// Gives back to the device what is not in use, down to this much in all.
    pub fn trim_to(&self, n_bytes: u64) {
        let mut usage = self.usage();
        let kept = usage.reserved.min(in_units(n_bytes));
        usage.reserved = kept.max(in_units(usage.used));
    }
}

impl Driver {
    /// A new pool of a device, of at most this many bytes; 0 for no limit.
    pub fn new_pool(&self, device: u32, max_bytes: u64) -> Outcome<usize> {
        let handle = POOLS.reserve();
        let pool = Pool {
            handle,
            device,
            max_bytes,
            attributes: Mutex::default(),
            usage: Mutex::default(),
        };
        POOLS.insert(handle, Arc::new(pool));
        Ok(handle)
    }

    /// The pool that a device has from the start.
    pub fn default_pool(&self, device: i32) -> Outcome<usize> {
        let device = self.device(device)?;
        let pools = of_device(device);
        let mut handles = pools.handles();
        if handles.0 == 0 {
            handles.0 = self.new_pool(device.ordinal, 0)?;
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
        POOLS.remove(pool).map(drop)
    }
}

//! Launches in other orders of their blocks, warps and lanes, before the usual one.
//!
//! Unless all are requested, only the first launch of each shape of each kernel, and not many. A
//! kernel with a finding is not tried again.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ptx_sim::{Launch, LoadedModule, NotSearched};

use crate::driver::SimDevice;
use crate::recorder::recorder;
use crate::settings::Settings;
use crate::status::Outcome;

/// How long nothing is tried after a launch that could not have its device to itself. What runs
/// there may wait for the client's next step.
const PAUSE: Duration = Duration::from_secs(1);

/// Which launches have been tried.
#[derive(Default)]
struct Orders {
    kernels: Mutex<BTreeMap<String, Tried>>,
    /// When a launch last could not have its device to itself.
    busy: Mutex<Option<Instant>>,
}

static ORDERS: Orders = Orders {
    kernels: Mutex::new(BTreeMap::new()),
    busy: Mutex::new(None),
};

/// Tries a launch in other orders, if that is requested, and records the findings.
pub(crate) fn search(
    settings: &Settings,
    device: &SimDevice,
    loaded: &LoadedModule,
    kernel: &str,
    launch: &Launch<'_>,
) -> Outcome {
    ORDERS.search(settings, device, loaded, kernel, launch)
}

/// Blocks, threads per block, and bytes of dynamic shared memory.
type Shape = ([u32; 3], [u32; 3], u32);

/// Launches of one kernel that have been tried.
#[derive(Default)]
struct Tried {
    shapes: HashSet<Shape>,
    /// Whether there is nothing more to find.
    is_settled: bool,
}

impl Orders {
    fn with<T>(&self, kernel: &str, f: impl FnOnce(&mut Tried) -> T) -> T {
        let kernels = self.kernels.lock();
        let mut kernels = kernels.unwrap_or_else(PoisonError::into_inner);
        f(kernels.entry(kernel.to_owned()).or_default())
    }

    /// Whether to try a launch; at most this many of its kernel are tried.
    fn takes(&self, kernel: &str, shape: Shape, most: Option<usize>) -> bool {
        self.with(kernel, |tried| {
            let Some(most) = most else {
                return !tried.is_settled;
            };
            !tried.is_settled && tried.shapes.len() < most && tried.shapes.insert(shape)
        })
    }

    /// When a launch last could not have its device to itself.
    fn busy(&self) -> MutexGuard<'_, Option<Instant>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn search(
        &self,
        settings: &Settings,
        device: &SimDevice,
        loaded: &LoadedModule,
        kernel: &str,
        launch: &Launch<'_>,
    ) -> Outcome {
        let shape = (launch.grid, launch.block, launch.dynamic_shared_bytes);
        let pauses = || self.busy().is_some_and(|busy| busy.elapsed() < PAUSE);
        if settings.schedules == 0
            || pauses()
            || !self.takes(kernel, shape, settings.schedule_launches)
        {
            return Ok(());
        }
        let started = Instant::now();
        let orders = device
            .sim
            .search_orders(loaded, kernel, launch, 0..settings.schedules);
        let is_settled = match &orders {
            Ok(orders) => orders.found.is_some(),
            // The next launch may have the device to itself.
            Err(why) => !matches!(why, NotSearched::Busy),
        };
        let is_busy = matches!(orders, Err(NotSearched::Busy));
        if is_busy {
            *self.busy() = Some(Instant::now());
        }
        self.with(kernel, |tried| {
            tried.is_settled |= is_settled;
            if is_busy {
                tried.shapes.remove(&shape);
            }
        });
        recorder()?.searched((kernel, device.ordinal), started.elapsed(), &orders);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shape_is_tried_once_and_not_too_many() {
        let orders = Orders::default();
        let shape = |x| ([x, 1, 1], [32, 1, 1], 0);
        let takes = |kernel, x| orders.takes(kernel, shape(x), Some(2));
        assert!(takes("a", 1) && !takes("a", 1) && takes("a", 2) && !takes("a", 3));
        assert!(takes("b", 3));
        assert!(orders.takes("b", shape(3), None) && orders.takes("b", shape(3), None));
        orders.with("b", |tried| tried.is_settled = true);
        assert!(!takes("b", 4) && !orders.takes("b", shape(4), None));
        assert!(!orders.takes("c", shape(1), Some(0)));
    }
}

//! Loads whose value is only stored again: compilers copy structures this way, and with them their
//! padding, which nobody has written.
//!
//! Such a load is in order. What it stores elsewhere stays unwritten there, byte by byte, and is
//! reported once it is used. A load of nothing but unwritten bytes is reported nevertheless: it is
//! rarely one of padding. Only in local memory it is not, as long as its value stays with the
//! thread.
//!
//! What it misses: values that pass through parameters, registers that several instructions
//! write, or an inner call of the same function; they count as written.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::access::{AccessClass, WarpAccess};
use super::races::lanes;
use super::shadow::Mix;
use crate::numbering::Routes;
use ptx::ir::Space;

/// The unwritten bytes in the registers of a block's threads.
#[derive(Default)]
pub(crate) struct PassedOn {
    routes: Arc<Routes>,
    /// By warp and load.
    unwritten: HashMap<(u32, u32), Loaded, BuildHasherDefault<Mix>>,
}

/// A value that a warp has loaded.
#[derive(Default)]
struct Loaded {
    n_bytes: u32,
    /// By lane, which of them are unwritten.
    unwritten: [u32; 32],
}

impl PassedOn {
    /// For a block of a kernel with these loads.
    pub fn reset(&mut self, routes: &Arc<Routes>) {
        self.routes = Arc::clone(routes);
        self.unwritten.clear();
    }

    /// Whether no register has such bytes.
    pub fn is_empty(&self) -> bool {
        self.unwritten.is_empty()
    }

    /// A lane that reads what it must not, of lanes that read memory of which `first` is the first
    /// to find something unwritten.
    pub fn read(
        &mut self,
        number: u32,
        access: &WarpAccess<'_>,
        first: Option<usize>,
        mut is_written: impl FnMut(usize, u64) -> bool,
    ) -> Option<usize> {
        let place = (access.warp, number);
        if first.is_none() && !self.unwritten.contains_key(&place) {
            return None;
        }
        let Some(&leaves) = self.routes.loads.get(&number) else {
            return first;
        };
        let may_lack_all = access.space == Space::Local && !leaves;
        let mut bytes = [0_u32; 32];
        for lane in lanes(access.mask) {
            let at = |i: u32| access.addresses[lane] + u64::from(i);
            let missing = (0..access.bytes).filter(|&i| !is_written(lane, at(i)));
            bytes[lane] = missing.fold(0, |all, i| all | 1 << i);
            if bytes[lane].count_ones() == access.bytes && !may_lack_all {
                return Some(lane);
            }
        }
        let known = self.unwritten.entry(place).or_default();
        known.n_bytes = access.bytes;
        lanes(access.mask).for_each(|lane| known.unwritten[lane] = bytes[lane]);
        None
    }

    /// Where lanes have stored what nobody has written: by lane, the bytes' addresses.
    pub fn stored(&self, number: u32, access: &WarpAccess<'_>) -> Vec<(usize, u64)> {
        let mut unwritten = Vec::new();
        if self.is_empty() || access.class != AccessClass::Store {
            return unwritten;
        }
        for part in self.routes.stores.get(&number).into_iter().flatten() {
            let Some(loaded) = self.unwritten.get(&(access.warp, part.load)) else {
                continue;
            };
            let n_loaded = loaded.n_bytes / part.of_load.1;
            let n = access.bytes / part.of_store.1;
            let bytes = |lane: usize| loaded.unwritten[lane] >> (part.of_load.0 * n_loaded);
            for lane in lanes(access.mask).filter(|&lane| bytes(lane) != 0) {
                let stored = (0..n.min(n_loaded)).filter(|i| bytes(lane) >> i & 1 != 0);
                let start = access.addresses[lane] + u64::from(part.of_store.0 * n);
                unwritten.extend(stored.map(|i| (lane, start + u64::from(i))));
            }
        }
        unwritten
    }
}

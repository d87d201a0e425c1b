//! Memory that launches with checks have left unwritten, and which thread would have written it.

use std::collections::BTreeMap;
use std::fmt;

use crate::checks::pattern::Pattern;
use crate::diagnostics::Place;

/// By the first address of an allocation that is not wholly written, the stores to it.
#[derive(Default)]
pub(crate) struct Gaps(BTreeMap<u64, Vec<StoredBy>>);

/// A store instruction of a launch.
pub(crate) struct StoredBy {
    pub place: Place,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub pattern: Pattern,
}

/// A thread that would have stored where nobody has, as the other threads of its launch have stored
/// theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Omission {
    /// The store.
    pub place: Place,
    /// The block's coordinates; the grid may not have it.
    pub block: [u32; 3],
    /// The thread's coordinates in it.
    pub thread: [u32; 3],
    /// Blocks of the grid.
    pub grid: [u32; 3],
}

impl Gaps {
    /// Stores that are remembered of an allocation.
    const MOST: usize = 64;

    /// Adds a store to the allocation that begins at `base`.
    pub fn add(&mut self, base: u64, stored: StoredBy) {
        let all = self.0.entry(base).or_default();
        if all.len() < Self::MOST {
            all.push(stored);
        }
    }

    /// Forgets an allocation.
    pub fn forget(&mut self, base: u64) {
        self.0.remove(&base);
    }

    /// The one thread whose store an address was left to; `None` if there is none or several.
    pub fn omission(&self, base: u64, address: u64) -> Option<Omission> {
        let stores = self.0.get(&base)?;
        if stores.len() == Self::MOST {
            return None;
        }
        let mut found = None;
        for stored in stores {
            let StoredBy { grid, block, .. } = *stored;
            let Some(at) = stored.pattern.thread_for(address, grid, block) else {
                continue;
            };
            let omission = Omission {
                place: stored.place.clone(),
                block: [at[0], at[1], at[2]],
                thread: [at[3], at[4], at[5]],
                grid,
            };
            if found.get_or_insert(omission.clone()) != &omission {
                return None;
            }
        }
        found
    }
}

impl Omission {
    /// Whether the launch had the thread, which then did not store.
    pub fn was_launched(&self) -> bool {
        self.block.iter().zip(self.grid).all(|(&at, n)| at < n)
    }
}

/// `{:#}` leaves the store's place out.
impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            writeln!(f, "by the other threads' stores, {}", self.place)?;
            write!(f, "  it is ")?;
        }
        let ([x, y, z], [of_x, of_y, of_z]) = (self.block, self.thread);
        write!(
            f,
            "that of block ({x}, {y}, {z}), thread ({of_x}, {of_y}, {of_z}), which "
        )?;
        let [x, y, z] = self.grid;
        match self.was_launched() {
            true => write!(f, "did not store it"),
            false => write!(f, "a grid of {x}×{y}×{z} blocks does not have"),
        }
    }
}

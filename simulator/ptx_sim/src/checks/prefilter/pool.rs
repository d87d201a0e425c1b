//! Pages that launches have used, kept for later ones: getting memory from the system takes
//! longer than many launches do.

use std::sync::{Mutex, PoisonError};

use super::cells::Cells;
use super::cells::PAGE_BYTES;

/// Pages of each kind that are kept, at most.
const MAX_KEPT: usize = 1 << 12;

/// The bytes of a page.
pub(super) type Bytes = Box<[u8; PAGE_BYTES as usize]>;

/// What a device keeps from launch to launch.
#[derive(Default)]
pub(crate) struct Pool {
    cells: Mutex<Vec<Cells>>,
    bytes: Mutex<Vec<Bytes>>,
}

fn take<T>(list: &Mutex<Vec<T>>) -> Option<T> {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    list.pop()
}

fn give<T>(list: &Mutex<Vec<T>>, given: impl Iterator<Item = T>) {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    let room = MAX_KEPT.saturating_sub(list.len());
    list.extend(given.take(room));
}

impl Pool {
    /// A page's cells, none of them accessed.
    pub(super) fn cells(&self, n: usize) -> Cells {
        let used = take(&self.cells).filter(|cells| cells.write.len() == n);
        match used {
            Some(mut cells) => {
                cells.clear();
                cells
            }
            None => Cells::new(n),
        }
    }

    /// A page's bytes, whatever they are.
    pub(super) fn bytes(&self) -> Bytes {
        take(&self.bytes).unwrap_or_else(|| Box::new([0; PAGE_BYTES as usize]))
    }

    pub(super) fn give_cells(&self, cells: impl Iterator<Item = Cells>) {
        give(&self.cells, cells);
    }

    pub(super) fn give_bytes(&self, bytes: impl Iterator<Item = Bytes>) {
        give(&self.bytes, bytes);
    }
}

//! One block's shared memory.
//!
//! Static variables first, dynamic memory at the end, as on the hardware. It
//! starts filled with ones: as a float that is not a number, as an index it is
//! out of range, so a kernel that reads unwritten memory is likely to be noticed.

use std::cell::UnsafeCell;
use std::hash::{Hash, Hasher};

/// What unwritten shared memory holds.
const FILL: u64 = u64::MAX;

/// A block's shared memory. One worker at a time runs a block, so that it is
/// never accessed by two host threads at once.
pub struct SharedMemory {
    words: Box<[UnsafeCell<u64>]>,
    size_bytes: u32,
}

impl Clone for SharedMemory {
    fn clone(&self) -> Self {
        // SAFETY: One host thread at a time works on it, through no references.
        let copy = |word: &UnsafeCell<u64>| UnsafeCell::new(unsafe { *word.get() });
        Self {
            words: self.words.iter().map(copy).collect(),
            size_bytes: self.size_bytes,
        }
    }
}

impl Hash for SharedMemory {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for word in &self.words {
            // SAFETY: As above.
            unsafe { *word.get() }.hash(state);
        }
    }
}

impl SharedMemory {
    /// Memory of `size_bytes`.
    pub fn new(size_bytes: u32) -> Self {
        let n_words = (size_bytes as usize).div_ceil(16) * 2;
        Self {
            words: (0..n_words).map(|_| UnsafeCell::new(FILL)).collect(),
            size_bytes,
        }
    }

    /// Resets it, for the next block. The blocks of a cluster know of it too, but do not
    /// touch it while it has no owner.
    pub fn reset(&self) {
        for word in &self.words {
            // SAFETY: One host thread at a time works on it, through no references.
            unsafe { *word.get() = FILL };
        }
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u32 {
        self.size_bytes
    }

    /// The host address of the first byte.
    pub fn host(&self) -> *mut u8 {
        self.words.as_ptr().cast_mut().cast()
    }
}

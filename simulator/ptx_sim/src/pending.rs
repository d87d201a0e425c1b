//! Work on global memory that has begun and that a launch does not come after.

use std::ops::Range;

/// Work on memory by others, such as a copy in another stream, that may still go on while a launch
/// runs. With [`LaunchOptions::check`](crate::LaunchOptions::check) a kernel that uses that memory is
/// reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The addresses that it works on.
    pub addresses: Range<u64>,
    /// Whether it writes them; if it only reads, kernels may do so, too.
    pub writes: bool,
    /// What it is, and where it was begun.
    pub what: String,
}

impl Pending {
    /// Whether it must not meet an access to these bytes.
    pub fn conflicts(&self, address: u64, n_bytes: u64, writes: bool) -> bool {
        let meets = address < self.addresses.end && self.addresses.start < address + n_bytes;
        meets && (writes || self.writes)
    }
}

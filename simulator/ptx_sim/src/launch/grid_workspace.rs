//! The memory that a driver gives a cooperative launch, for a barrier of all its blocks.
//!
//! A kernel finds its address in `%envreg1` (the upper half) and `%envreg2` (the lower one); both
//! are 0 in other launches, where CUDA's `this_grid().sync()` traps. It has two words: its size, and
//! the barrier that blocks arrive at, whose top bit flips when all have.

use super::options::LaunchOptions;
use crate::device::{Device, MemoryError};

/// The workspace of a launch, for as long as it runs; nothing if it is not cooperative.
pub(crate) struct GridWorkspace<'a> {
    device: &'a Device,
    address: Option<u64>,
}

impl<'a> GridWorkspace<'a> {
    const SIZE_BYTES: u32 = 8;

    /// Makes one for a launch with these options.
    pub fn new(device: &'a Device, options: &LaunchOptions) -> Result<Self, MemoryError> {
        let mut workspace = Self {
            device,
            address: None,
        };
        if options.cooperative {
            let size_bytes = u64::from(Self::SIZE_BYTES);
            let address = device.alloc(size_bytes, "the grid's barrier")?;
            workspace.address = Some(address);
            device.write(address, &u64::from(Self::SIZE_BYTES).to_le_bytes())?;
        }
        Ok(workspace)
    }

    /// Where it is; 0 if there is none.
    pub fn address(&self) -> u64 {
        self.address.unwrap_or(0)
    }
}

impl Drop for GridWorkspace<'_> {
    fn drop(&mut self) {
        if let Some(address) = self.address {
            // It is the device's own, and nothing else knows of it.
            let _ = self.device.free(address);
        }
    }
}

//! The number of blocks that an SM holds at once.
//!
//! The rules are those of CUDA's occupancy calculator for sm_90: an SM has slots for warps and
//! for blocks; registers, which each warp gets from the quarter of the SM that it runs in; and
//! shared memory, of which the system takes a KiB per block. The blocks of a cluster run on
//! the SMs of one GPC, of which an H200 has eight; that each has 16 or 18 SMs is inferred
//! from the total of 132, and was not measured. Left out: carve-outs of less shared memory
//! than there is, and named barriers, of which there are always enough.

use crate::cluster::MAX_NON_PORTABLE_CLUSTER;
use crate::device::DeviceConfig;

/// Largest block, in threads.
pub const MAX_BLOCK_THREADS: u32 = 1024;
/// Registers of an SM, which are also the most of a block.
pub(crate) const REGISTERS: u32 = 64 << 10;
/// The most registers of a thread.
pub(crate) const MOST_REGISTERS: u32 = 255;
/// Quarters of an SM, each with its own registers.
const N_QUARTERS: u32 = 4;
/// A warp's registers come in units of this many.
const REGISTER_UNIT: u32 = 256;
/// Shared memory comes in units of this many bytes.
const SHARED_UNIT: u64 = 128;
/// Shared memory that the system takes per block.
const SYSTEM_SHARED_BYTES: u64 = 1 << 10;

/// GPCs, among which a launch's clusters of blocks are divided.
const N_GPCS: u32 = 8;

/// What a block needs of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockNeeds {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread; 0 to leave them out.
    pub registers: u32,
    /// Bytes of shared memory, static and dynamic.
    pub shared_bytes: u32,
}

/// The block size that keeps the most threads on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestBlock {
    /// Threads of a block; 0 if no block fits.
    pub threads: u32,
    /// Blocks that an SM holds at once.
    pub blocks: u32,
}

impl DeviceConfig {
    /// How many blocks of a kernel one SM holds at once; 0 if not even one
    /// can be launched. The answer of `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    pub fn active_blocks(&self, needs: BlockNeeds) -> u32 {
        let BlockNeeds {
            threads,
            registers,
            shared_bytes,
        } = needs;
        if threads == 0 || threads > MAX_BLOCK_THREADS || shared_bytes > self.shared_limit {
            return 0;
        }
        let warps = threads.div_ceil(32);
        let by_warps = self.multiprocessor_threads / 32 / warps;
        let shared = (u64::from(shared_bytes) + SYSTEM_SHARED_BYTES).next_multiple_of(SHARED_UNIT);
        let by_shared = u64::from(self.multiprocessor_shared_bytes) / shared;
        // No more than a `u32` divided.
        let by_shared = by_shared as u32;
        let blocks = self.multiprocessor_blocks.min(by_warps).min(by_shared);
        blocks.min(blocks_by_registers(registers, warps))
    }

    /// How many clusters of this many such blocks the device holds at once; 0 if not even one
    /// can be launched. The answer of `cuOccupancyMaxActiveClusters`.
    pub fn active_clusters(&self, needs: BlockNeeds, n_blocks: u32) -> u32 {
        let blocks = self.active_blocks(needs);
        if n_blocks == 0 || n_blocks > MAX_NON_PORTABLE_CLUSTER {
            return 0;
        }
        // SMs come in pairs, dealt out evenly.
        let pairs = self.n_multiprocessors / 2;
        let of_gpc = |gpc: u32| 2 * (pairs / N_GPCS + u32::from(gpc < pairs % N_GPCS));
        (0..N_GPCS).map(|gpc| of_gpc(gpc) * blocks / n_blocks).sum()
    }

    /// The largest cluster of such blocks that the device can hold, of at most this many; 0 if
    /// not even one block fits. The answer of `cuOccupancyMaxPotentialClusterSize`.
    pub fn largest_cluster(&self, needs: BlockNeeds, most: u32) -> u32 {
        let fits = |n_blocks: &u32| self.active_clusters(needs, *n_blocks) > 0;
        (1..=most).rev().find(fits).unwrap_or(0)
    }

    /// How many blocks of one launch the device can hold at once, at most: others
    /// begin only when some of them end. Registers, which are not known before the PTX is
    /// assembled for a GPU, may allow fewer.
    pub fn resident_blocks(&self, block_threads: u32, shared_bytes: u32) -> u64 {
        let blocks = self.active_blocks(BlockNeeds {
            threads: block_threads,
            registers: 0,
            shared_bytes,
        });
        u64::from(self.n_multiprocessors.max(1)) * u64::from(blocks.max(1))
    }

    /// The block size of at most `most_threads` that keeps the most threads on an SM, and
    /// the largest of these; `shared_bytes` gives a block's shared memory by its size. The
    /// answer of `cuOccupancyMaxPotentialBlockSize`.
    pub fn best_block(
        &self,
        most_threads: u32,
        registers: u32,
        shared_bytes: impl Fn(u32) -> u32,
    ) -> BestBlock {
        let most_threads = most_threads.min(MAX_BLOCK_THREADS);
        let mut best = BestBlock {
            threads: 0,
            blocks: 0,
        };
        for warps in (1..=most_threads.div_ceil(32)).rev() {
            let threads = most_threads.min(32 * warps);
            let blocks = self.active_blocks(BlockNeeds {
                threads,
                registers,
                shared_bytes: shared_bytes(threads),
            });
            if threads * blocks > best.threads * best.blocks {
                best = BestBlock { threads, blocks };
            }
        }
        best
    }
}

/// Blocks of this many warps that an SM has registers for.
pub(crate) fn blocks_by_registers(registers: u32, warps: u32) -> u32 {
    if registers == 0 {
        return u32::MAX;
    }
    let of_warp = (32 * registers).next_multiple_of(REGISTER_UNIT);
    // A launch is checked against the registers as if all quarters took equally many warps.
    if registers > MOST_REGISTERS || of_warp * warps.next_multiple_of(N_QUARTERS) > REGISTERS {
        return 0;
    }
    let of_quarter = REGISTERS / N_QUARTERS / of_warp;
    N_QUARTERS * of_quarter / warps
}

/// Threads of the largest block that there are registers for.
pub(crate) fn most_threads_by_registers(registers: u32) -> u32 {
    let fits = |warps: &u32| blocks_by_registers(registers, *warps) > 0;
    let warps = (1..=MAX_BLOCK_THREADS / 32).rev().find(fits);
    32 * warps.unwrap_or(0)
}

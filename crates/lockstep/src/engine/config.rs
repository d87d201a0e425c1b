//! The geometry of a launch, and CUDA's rules for it.

use cuda_std::launch::LaunchBounds;
use ptx_sim::{MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID, MAX_NON_PORTABLE_CLUSTER};
use std::fmt;

/// Grid, block and dynamic shared memory of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in the grid, by axis.
    pub grid: [u32; 3],
    /// Threads in a block, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Blocks in a cluster, by axis; none for a launch without clusters.
    pub cluster: Option<[u8; 3]>,
}

impl LaunchConfig {
    /// Without dynamic shared memory.
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self {
            grid,
            block,
            dynamic_shared_bytes: 0,
            cluster: None,
        }
    }

    /// Enough blocks of `n_threads` along x for `n` threads, at least one. The last block may have
    /// threads to spare.
    ///
    /// ```
    /// use lockstep::LaunchConfig;
    ///
    /// assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
    /// assert_eq!(LaunchConfig::linear(0, 256).grid, [1, 1, 1]);
    /// ```
    pub const fn linear(n: usize, n_threads: u32) -> Self {
        // A block without threads is refused at launch.
        let per_block = if n_threads == 0 {
            1
        } else {
            n_threads as usize
        };
        let n_blocks = n.div_ceil(per_block);
        let n_blocks = match n_blocks {
            0 => 1,
            // More than a grid can have, so that the launch is refused.
            n if n > u32::MAX as usize => u32::MAX,
            n => n as u32,
        };
        Self::new([n_blocks, 1, 1], [n_threads, 1, 1])
    }

    /// With `bytes` of dynamic shared memory per block.
    pub const fn with_shared(self, bytes: u32) -> Self {
        Self {
            dynamic_shared_bytes: bytes,
            ..self
        }
    }

    /// With clusters of this many blocks, by axis; the grid must be a multiple of it. Clusters of 9
    /// to 16 blocks run on an H200 and on the simulator, but not on every GPU that has clusters.
    pub const fn with_cluster(self, cluster: [u8; 3]) -> Self {
        Self {
            cluster: Some(cluster),
            ..self
        }
    }

    /// Threads in a block.
    pub fn threads_per_block(&self) -> u64 {
        self.block.iter().map(|&n| u64::from(n)).product()
    }

    /// The CUDA rule that it breaks, if any.
    pub(super) fn broken_rule(&self, bounds: Option<LaunchBounds>) -> Option<String> {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (grid, block) = (self.grid[axis], self.block[axis]);
            if grid == 0 || block == 0 {
                return Some(format!("the grid or block is empty along {name}"));
            }
            if grid > MAX_GRID[axis] {
                return Some(format!(
                    "{grid} blocks along {name}, but a grid has at most {}",
                    MAX_GRID[axis]
                ));
            }
            if block > MAX_BLOCK[axis] {
                return Some(format!(
                    "{block} threads along {name}, but a block has at most {}",
                    MAX_BLOCK[axis]
                ));
            }
        }
        if let Some(rule) = self.cluster.and_then(|cluster| self.broken_by(cluster)) {
            return Some(rule);
        }
        let n_threads = self.threads_per_block();
        if n_threads > u64::from(MAX_BLOCK_THREADS) {
            return Some(format!(
                "{n_threads} threads per block, but a block has at most {MAX_BLOCK_THREADS}"
            ));
        }
        match bounds {
            Some(bounds) if n_threads > u64::from(bounds.max_threads) => Some(format!(
                "{n_threads} threads per block, but the kernel's launch_bounds allow {}",
                bounds.max_threads
            )),
            _ => None,
        }
    }
}

impl LaunchConfig {
    /// The rule that a cluster breaks, if any.
    fn broken_by(&self, cluster: [u8; 3]) -> Option<String> {
        let cluster = cluster.map(u32::from);
        let n_blocks: u32 = cluster.iter().product();
        if n_blocks == 0 || n_blocks > MAX_NON_PORTABLE_CLUSTER {
            return Some(format!(
                "{n_blocks} blocks in a cluster, but a cluster has 1 to {MAX_NON_PORTABLE_CLUSTER}"
            ));
        }
        let axis = (0..3).find(|&axis| !self.grid[axis].is_multiple_of(cluster[axis]))?;
        Some(format!(
            "the grid has {} blocks along {}, not a multiple of the cluster's {}",
            self.grid[axis],
            ["x", "y", "z"][axis],
            cluster[axis]
        ))
    }
}

impl fmt::Display for LaunchConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gx, gy, gz] = self.grid;
        let [bx, by, bz] = self.block;
        write!(f, "{gx}×{gy}×{gz} blocks of {bx}×{by}×{bz} threads")?;
        if self.dynamic_shared_bytes != 0 {
            write!(
                f,
                " and {} bytes of dynamic shared memory",
                self.dynamic_shared_bytes
            )?;
        }
        if let Some([x, y, z]) = self.cluster {
            write!(f, " in clusters of {x}×{y}×{z}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::LaunchConfig;
    use cuda_std::launch::LaunchBounds;

    fn rule(grid: [u32; 3], block: [u32; 3]) -> Option<String> {
        LaunchConfig::new(grid, block).broken_rule(None)
    }

    #[test]
    fn accepts_what_cuda_accepts() {
        assert_eq!(rule([1, 1, 1], [1, 1, 1]), None);
        assert_eq!(rule([i32::MAX as u32, 65_535, 65_535], [32, 32, 1]), None);
        assert_eq!(rule([1, 1, 1], [1, 1, 64]), None);
    }

    #[test]
    fn refuses_what_cuda_refuses() {
        for (grid, block) in [
            ([0, 1, 1], [32, 1, 1]),
            ([1, 1, 1], [32, 0, 1]),
            ([1, 65_536, 1], [32, 1, 1]),
            ([1, 1, 1], [1, 1, 65]),
            ([1, 1, 1], [64, 32, 1]),
            ([1, 1, 1], [1025, 1, 1]),
        ] {
            assert!(rule(grid, block).is_some(), "{grid:?} {block:?}");
        }
    }

    #[test]
    fn launch_bounds_are_a_rule() {
        let bounds = Some(LaunchBounds {
            max_threads: 256,
            min_blocks: None,
        });
        let config = LaunchConfig::new([1, 1, 1], [16, 16, 1]);
        assert_eq!(config.broken_rule(bounds), None);
        let config = LaunchConfig::new([1, 1, 1], [16, 17, 1]);
        assert!(
            config
                .broken_rule(bounds)
                .expect("too many")
                .contains("272 threads")
        );
    }
}

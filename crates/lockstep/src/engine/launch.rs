//! Typed launches: a kernel's marker type, a geometry and arguments that fit.

use super::module::ModuleId;
use super::{Engine, EngineError, Observe, Place, PtxModule};
use crate::counts::Counts;
use cuda_std::launch::{Kernel, KernelArgs, LaunchBounds, ParamValue};
use ptx_sim::{MAX_BLOCK, MAX_BLOCK_THREADS, MAX_GRID, MAX_NON_PORTABLE_CLUSTER};
use std::borrow::Cow;
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

    /// As many blocks of `n_threads` along x as `n` threads need; one, if none are needed.
    /// The last block may have threads to spare.
    ///
    /// ```
    /// use lockstep::LaunchConfig;
    ///
    /// assert_eq!(LaunchConfig::linear(1000, 256).grid, [4, 1, 1]);
    /// assert_eq!(LaunchConfig::linear(0, 256).grid, [1, 1, 1]);
    /// ```
    pub const fn linear(n: usize, n_threads: u32) -> Self {
        // No threads in a block is refused at the launch.
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

    /// With `bytes` of dynamic shared memory a block.
    pub const fn with_shared(self, bytes: u32) -> Self {
        Self {
            dynamic_shared_bytes: bytes,
            ..self
        }
    }

    /// With so many blocks in a cluster, by axis. The grid must be a multiple of it. Clusters
    /// of more than 8 blocks, up to 16, run on a H200 and on the simulator, not on every GPU
    /// that has clusters.
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

    /// The rule of CUDA that it breaks, if it breaks one.
    fn broken_rule(&self, bounds: Option<LaunchBounds>) -> Option<String> {
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (grid, block) = (self.grid[axis], self.block[axis]);
            if grid == 0 || block == 0 {
                return Some(format!("the grid or block is empty along {name}"));
            }
            if grid > MAX_GRID[axis] {
                return Some(format!(
                    "{grid} blocks along {name}, and a grid has at most {}",
                    MAX_GRID[axis]
                ));
            }
            if block > MAX_BLOCK[axis] {
                return Some(format!(
                    "{block} threads along {name}, and a block has at most {}",
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
                "{n_threads} threads a block, and a block has at most {MAX_BLOCK_THREADS}"
            ));
        }
        match bounds {
            Some(bounds) if n_threads > u64::from(bounds.max_threads) => Some(format!(
                "{n_threads} threads a block, and the kernel's launch_bounds allow {}",
                bounds.max_threads
            )),
            _ => None,
        }
    }
}

impl LaunchConfig {
    /// The rule that a cluster breaks, if it breaks one.
    fn broken_by(&self, cluster: [u8; 3]) -> Option<String> {
        let cluster = cluster.map(u32::from);
        let n_blocks: u32 = cluster.iter().product();
        if n_blocks == 0 || n_blocks > MAX_NON_PORTABLE_CLUSTER {
            return Some(format!(
                "{n_blocks} blocks in a cluster, and a cluster has 1 to {MAX_NON_PORTABLE_CLUSTER}"
            ));
        }
        let axis = (0..3).find(|&axis| !self.grid[axis].is_multiple_of(cluster[axis]))?;
        Some(format!(
            "{} blocks along {} are no multiple of the cluster's {}",
            self.grid[axis],
            ["x", "y", "z"][axis],
            cluster[axis]
        ))
    }
}

/// The topic of a kernel that is written at `module_path`: the module right below the
/// crate.
pub const fn topic_of(module_path: &'static str) -> Option<&'static str> {
    let of_crate = until_colon(module_path).len();
    if of_crate == module_path.len() {
        return None;
    }
    let (_, below) = module_path.split_at(of_crate + "::".len());
    Some(until_colon(below))
}

const fn until_colon(path: &'static str) -> &'static str {
    let mut length = 0;
    while length < path.len() && path.as_bytes()[length] != b':' {
        length += 1;
    }
    path.split_at(length).0
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

/// A launch that keeps CUDA's rules, ready to be made as often as one likes.
#[derive(Clone, Debug)]
pub struct Prepared {
    entry: Cow<'static, str>,
    /// The topic that the kernel belongs to, if that is known.
    topic: Option<&'static str>,
    /// The only module to look for the kernel in, if there is one.
    module: Option<ModuleId>,
    config: LaunchConfig,
    params: Vec<ParamValue>,
    is_early: bool,
}

impl Prepared {
    /// A launch of the kernel `K`.
    ///
    /// # Safety
    ///
    /// `args` must hold what the kernel's own `# Safety` section asks, whenever
    /// the launch is made: live device memory of the length it uses.
    ///
    /// # Errors
    ///
    /// [`EngineError::Refused`] when `config` breaks a rule of CUDA or the
    /// kernel's launch bounds.
    pub unsafe fn of<K: Kernel>(config: LaunchConfig, args: K::Args) -> Result<Self, EngineError> {
        let mut params = Vec::new();
        args.push_params(&mut |param| params.push(param));
        let prepared = Self::checked(K::NAME.into(), config, params, K::LAUNCH_BOUNDS)?;
        Ok(Self {
            topic: topic_of(K::MODULE_PATH),
            is_early: K::IS_EARLY,
            ..prepared
        })
    }

    /// A launch of the entry `entry`, for PTX that has no marker types.
    ///
    /// # Safety
    ///
    /// As [`Prepared::of`], and `params` must be those of the entry.
    ///
    /// # Errors
    ///
    /// As [`Prepared::of`].
    pub unsafe fn by_name(
        entry: impl Into<Cow<'static, str>>,
        config: LaunchConfig,
        params: Vec<ParamValue>,
    ) -> Result<Self, EngineError> {
        Self::checked(entry.into(), config, params, None)
    }

    fn checked(
        entry: Cow<'static, str>,
        config: LaunchConfig,
        params: Vec<ParamValue>,
        bounds: Option<LaunchBounds>,
    ) -> Result<Self, EngineError> {
        let prepared = Self {
            entry,
            topic: None,
            module: None,
            config,
            params,
            is_early: false,
        };
        match config.broken_rule(bounds) {
            Some(reason) => Err(EngineError::Refused {
                place: prepared.place(),
                reason,
            }),
            None => Ok(prepared),
        }
    }

    /// Name of the PTX entry.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// The topic that the kernel belongs to, if that is known.
    pub fn topic(&self) -> Option<&'static str> {
        self.topic
    }

    /// The same launch, of the kernel in this module and no other.
    #[must_use]
    pub fn in_module(self, module: &PtxModule) -> Self {
        Self {
            module: Some(module.id()),
            ..self
        }
    }

    /// The only module to look for the kernel in, if there is one.
    pub fn module(&self) -> Option<ModuleId> {
        self.module
    }

    /// Its geometry.
    pub fn config(&self) -> LaunchConfig {
        self.config
    }

    /// Its parameters, as the PTX entry declares them.
    pub fn params(&self) -> &[ParamValue] {
        &self.params
    }

    /// Whether it may start before the one before it in the stream has ended.
    pub fn is_early(&self) -> bool {
        self.is_early
    }

    /// The same launch on other memory: `to` says where each address is there.
    ///
    /// # Errors
    ///
    /// There cannot be a tensor map of memory there.
    pub fn relocated(&self, to: &dyn Fn(u64) -> u64) -> Result<Self, EngineError> {
        let there = |param: &ParamValue| param.relocated(to);
        let params: Result<_, _> = self.params.iter().map(there).collect();
        let params = params.map_err(|reason| EngineError::Refused {
            place: self.place(),
            reason: format!("a tensor map cannot be one of other memory: {reason}"),
        })?;
        Ok(Self {
            params,
            ..self.clone()
        })
    }

    /// What an error about it names.
    pub fn place(&self) -> Place {
        Place::of(self.entry.as_ref(), self.config)
    }
}

/// Launches a kernel once and waits for its end.
///
/// # Safety
///
/// As [`Prepared::of`].
///
/// # Errors
///
/// The launch was refused, or the kernel did something wrong.
pub unsafe fn launch<K: Kernel>(
    engine: &dyn Engine,
    _kernel: K,
    config: LaunchConfig,
    args: K::Args,
) -> Result<Option<Counts>, EngineError> {
    // SAFETY: the caller's promise.
    let prepared = unsafe { Prepared::of::<K>(config, args) }?;
    let report = engine.launch(&prepared, Observe::Counts)?;
    Ok(report.map(|report| report.counts))
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

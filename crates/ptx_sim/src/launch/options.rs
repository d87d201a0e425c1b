//! A launch, and how to run it.

/// Largest block, in threads.
pub const MAX_BLOCK_THREADS: u32 = 1024;

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// Blocks, by axis.
    pub grid: [u32; 3],
    /// Threads of a block, by axis.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub dynamic_shared_bytes: u32,
    /// The parameters' bytes, in order.
    pub params: &'a [&'a [u8]],
    /// How to run it.
    pub options: LaunchOptions,
}

/// How to run a launch.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// Warp instructions that each block may execute, all its warps together; a
    /// generous default (some seconds) if not given. A block that executes more ends
    /// the launch, by the end of the warp's time slice at the latest.
    pub fuel: Option<u64>,
    /// Whether to count. Without, [`Report::counts`](crate::Report::counts) is zero.
    pub count: bool,
    /// Host threads; all cores if not given.
    pub threads: Option<usize>,
    /// Whether to look for what a GPU would let pass: races, reads of memory that
    /// nothing was written to, asynchronous copies that were not waited for,
    /// barriers and warp-wide instructions in code that has diverged. Slower, and
    /// on one host thread.
    pub check: bool,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            fuel: None,
            count: true,
            threads: None,
            check: false,
        }
    }
}

//! A launch, and how to run it.

use crate::schedule::Schedule;
use crate::trace::TraceOptions;

/// Largest block, by axis.
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];
/// Largest grid, by axis.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

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
    /// Warp instructions that the launch may execute, all its blocks together. If it
    /// executes more it ends with [`LaunchError::OutOfFuel`](crate::LaunchError), by the
    /// end of a warp's time slice at the latest.
    ///
    /// If not given, blocks that make no progress have a limit together: all their warps
    /// wait for others, or go round a loop with the same values in their registers and
    /// store nothing. So a kernel that never ends is mostly found within a second, however
    /// large its grid. Each block also has a limit of its own, of about a thousand million,
    /// for loops that count or store without end.
    pub fuel: Option<u64>,
    /// Whether to count. Without, [`Report::counts`](crate::Report::counts) is zero.
    pub count: bool,
    /// Host threads; all cores if not given.
    pub threads: Option<usize>,
    /// Whether to look for what a GPU would let pass: races, reads of memory that
    /// nothing was written to, asynchronous copies that were not waited for,
    /// barriers and warp-wide instructions in code that has diverged. Slower; the same is
    /// found however many host threads there are.
    pub check: bool,
    /// Whether a launch goes on after what only [`check`](Self::check) finds: its memory is
    /// put back, it runs again without checks, and
    /// [`Report::finding`](crate::Report::finding) says what was found. For programs that do
    /// not know that they are checked.
    pub go_on: bool,
    /// The order in which blocks, warps and lanes run, if not the usual one. On one host
    /// thread.
    pub schedule: Option<Schedule>,
    /// Blocks of a cluster, by axis, of which the grid must be a multiple. If not given,
    /// those that the kernel requires (`.reqnctapercluster`), else each block is one.
    pub cluster: Option<[u32; 3]>,
    /// Whether a cluster may have up to
    /// [`MAX_NON_PORTABLE_CLUSTER`](crate::MAX_NON_PORTABLE_CLUSTER) blocks, which not
    /// every device has room for, and not only [`MAX_CLUSTER`](crate::MAX_CLUSTER).
    pub non_portable_cluster: bool,
    /// Whether it is a cooperative launch, whose blocks may wait for each other: they get a barrier
    /// for all of them, as CUDA's `this_grid().sync()` wants it. Whether there is room for all
    /// blocks at once is for who launches to see.
    pub cooperative: bool,
    /// What to keep of a block's events, for [`Report::trace`](crate::Report::trace). Counts, too;
    /// not with [`check`](Self::check).
    pub trace: Option<TraceOptions>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            fuel: None,
            count: true,
            threads: None,
            check: false,
            go_on: false,
            schedule: None,
            cluster: None,
            non_portable_cluster: false,
            cooperative: false,
            trace: None,
        }
    }
}

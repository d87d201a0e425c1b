//! A launch, and how to run it.

use crate::pending::Pending;
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
    /// Warp instructions that the launch may execute, in all its blocks together. If it
    /// executes more, it ends with [`LaunchError::OutOfFuel`](crate::LaunchError), by the
    /// end of a warp's time slice at the latest.
    ///
    /// If not given, blocks that make no progress have a common limit: all their warps wait
    /// for others, or repeat a loop with the same values in their registers and store
    /// nothing. So a kernel that never ends is mostly found within a second, however large
    /// its grid. Each block also has a limit of its own, of about a billion, for loops that
    /// count or store endlessly.
    pub fuel: Option<u64>,
    /// Whether to count. If not, [`Report::counts`](crate::Report::counts) is zero.
    pub count: bool,
    /// Host threads. If not given, and the device's [configuration](crate::DeviceConfig) does not
    /// either: all cores, or one for a kernel that can tell in which order its blocks run, such as one
    /// that uses what an atomic returns. On one, each run does the same in the same order.
    pub threads: Option<usize>,
    /// Whether to look for what a GPU would let pass: races, reads of memory that
    /// nothing was written to, asynchronous copies that were not waited for,
    /// barriers and warp-wide instructions in code that has diverged. Slower; the findings
    /// do not depend on the number of host threads.
    pub check: bool,
    /// Work of others that the launch does not come after: with [`check`](Self::check) a kernel that
    /// uses its memory is reported.
    pub pending: Vec<Pending>,
    /// Whether to keep which global memory a launch with [`check`](Self::check) uses, for
    /// [`Report::footprint`](crate::Report::footprint).
    pub footprint: bool,
    /// Whether a launch goes on after a finding that only [`check`](Self::check) makes: its
    /// memory is put back, it runs again without checks, and
    /// [`Report::finding`](crate::Report::finding) says what was found. For programs that
    /// are unaware of being checked.
    ///
    /// Where launches may run at the same time ([`DeviceConfig::concurrent`](crate::DeviceConfig)), one
    /// that only waits ([`LaunchError::is_of_waiting`](crate::LaunchError::is_of_waiting)) is an error
    /// instead, and its memory is put back: it can run again, without checks, or together with what it
    /// waits for ([`launch_together`](crate::launch_together)).
    pub go_on: bool,
    /// The order in which blocks, warps and lanes run, if not the usual one. Such a launch
    /// uses one host thread.
    pub schedule: Option<Schedule>,
    /// Blocks of a cluster, by axis, of which the grid must be a multiple. If not given,
    /// those that the kernel requires (`.reqnctapercluster`), else each block is a cluster
    /// of its own.
    pub cluster: Option<[u32; 3]>,
    /// Whether a cluster may have up to
    /// [`MAX_NON_PORTABLE_CLUSTER`](crate::MAX_NON_PORTABLE_CLUSTER) blocks, which not
    /// every device has room for, and not only [`MAX_CLUSTER`](crate::MAX_CLUSTER).
    pub non_portable_cluster: bool,
    /// Whether it is a cooperative launch, whose blocks may wait for each other: they get a barrier
    /// for all of them, as CUDA's `this_grid().sync()` wants it. The caller has to ensure that
    /// there is room for all blocks at once.
    pub cooperative: bool,
    /// What to keep of a block's events, for [`Report::trace`](crate::Report::trace). Counts are
    /// kept as well; not possible with [`check`](Self::check).
    pub trace: Option<TraceOptions>,
}

impl Default for LaunchOptions {
    fn default() -> Self {
        Self {
            fuel: None,
            count: true,
            threads: None,
            check: false,
            pending: Vec::new(),
            footprint: false,
            go_on: false,
            schedule: None,
            cluster: None,
            non_portable_cluster: false,
            cooperative: false,
            trace: None,
        }
    }
}

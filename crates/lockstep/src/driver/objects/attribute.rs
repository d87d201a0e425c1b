//! The attributes of a kernel that the driver can be asked for.

/// What the driver tells of a kernel, by the numbers of `CUfunction_attribute`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attribute {
    /// Threads that a block may have at most.
    MaxThreadsPerBlock,
    /// Static shared memory, in bytes.
    SharedSizeBytes,
    /// Registers per thread.
    Registers,
}

//! Kernel attributes that the driver can be queried for.

/// The kernel attributes, with the values of `CUfunction_attribute`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attribute {
    /// Maximum number of threads per block.
    MaxThreadsPerBlock,
    /// Static shared memory, in bytes.
    SharedSizeBytes,
    /// Registers per thread.
    Registers,
}

//! The order that accesses and fences make, and its scope.

/// Memory ordering of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// None: an ordinary access.
    Weak,
    /// `.relaxed`, `.volatile`: may meet other accesses, orders nothing.
    Relaxed,
    /// `.acquire`
    Acquire,
    /// `.release`
    Release,
    /// `.acq_rel`
    AcquireRelease,
}

impl Order {
    /// Whether it acquires what was released.
    pub fn acquires(self) -> bool {
        matches!(self, Self::Acquire | Self::AcquireRelease)
    }

    /// Whether it releases what came before.
    pub fn releases(self) -> bool {
        matches!(self, Self::Release | Self::AcquireRelease)
    }
}

/// The threads that an atomic access or a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// `.cta`: those of the block.
    Block,
    /// `.cluster`, `.gpu`, `.sys`: those of the device, and maybe more.
    Device,
}

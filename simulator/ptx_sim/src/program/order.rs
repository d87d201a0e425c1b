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

/// The threads that an atomic access or a fence is for, fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// `.cta`: those of the block.
    Block,
    /// `.cluster`, `.gpu`: those of the device.
    Device,
    /// `.sys`: those of all devices, and the host's.
    System,
}

impl Scope {
    /// How many scopes there are.
    pub const N: usize = 3;
}

//! The size of a warp.

/// Lanes of a warp.
pub const WARP_LANES: u32 = 32;

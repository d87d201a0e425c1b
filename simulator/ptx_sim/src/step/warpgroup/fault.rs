//! Faults of an instruction of a warpgroup.

use crate::diagnostics::{AsyncFault, FaultKind};
use crate::lanes::FULL_MASK;
use crate::stop::Stop;

/// A fault of the whole warp.
#[cold]
pub(super) fn bad(message: String) -> Stop {
    let fault = AsyncFault::BadWarpgroup { message };
    Stop::fault(FULL_MASK, FaultKind::Asynchronous(Box::new(fault)))
}

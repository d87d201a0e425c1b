//! Instructions of whole warps.

use crate::diagnostics::FaultKind;
use crate::lanes::FULL_MASK;
use crate::stop::Stop;
use crate::warp::Warp;

/// Makes sure that all 32 lanes are here.
pub(super) fn require_whole_warp(warp: &Warp, mask: u32) -> Result<(), Stop> {
    if mask == FULL_MASK {
        return Ok(());
    }
    if warp.live & !mask != 0 {
        return Err(Stop::NeedsLanes { members: FULL_MASK });
    }
    Err(Stop::fault(mask, FaultKind::PartialWarp { arrived: mask }))
}

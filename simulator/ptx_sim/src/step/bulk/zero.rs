//! `st.bulk`: zeros, at once.

use super::super::context::Step;
use super::start::{address_of, bad, require_aligned, require_there, word_of};
use crate::checks::access::{AccessClass, WarpAccess};
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::WARP_SIZE;
use crate::program::{AddressOperand, Slot};
use crate::stop::Stop;
use ptx::ir::Space;

/// Stores a lane's zeros.
pub(super) fn store<O: Observer>(
    step: &mut Step<'_, '_, O>,
    address: AddressOperand,
    bytes: Slot,
    lane: usize,
) -> Result<(), Stop> {
    let start = address_of(step, address, lane);
    let n_bytes = word_of(step, bytes, lane);
    if !n_bytes.is_multiple_of(8) {
        let message = format!("it stores {n_bytes} bytes, but can only store a multiple of 8");
        return Err(bad(lane, message));
    }
    require_aligned(lane, "the target", Space::Shared, start, 8)?;
    let place = (Space::Shared, AccessKind::Store);
    require_there(step, lane, place, start, n_bytes)?;
    for offset in (0..u64::from(n_bytes)).step_by(8) {
        let addresses = [start + offset; WARP_SIZE];
        if O::ON {
            let lanes = step.lanes(1 << lane);
            let access = WarpAccess::new(lanes, AccessClass::Store, Space::Shared, 8, &addresses);
            step.env.observer.access(step.number, &access);
        }
        // SAFETY: The bytes were found in this memory, which one host thread at a time
        // works on.
        unsafe {
            let host = step.env.shared.host().add((start + offset) as usize);
            host.cast::<u64>().write(0);
        }
    }
    Ok(())
}

//! Memory for cases: on the machine, and on a GPU.

use crate::footprint::{Footprint, check, human};
use crate::run::Case;
use indicatif::HumanBytes;
use lockstep::engine::EngineKind;

/// Checks that each of the cases has enough memory; they run one after another.
///
/// # Errors
///
/// The largest case that has not, in words.
pub fn check_cases(cases: &[Case], engine: EngineKind, with_checks: bool) -> Result<(), String> {
    let footprint = |case: &Case| (case.registered.lesson.memory)(&case.shape);
    let size = |case: &Case| {
        let Footprint {
            device_bytes,
            host_bytes,
        } = footprint(case);
        device_bytes.saturating_add(host_bytes)
    };
    let Some(largest) = cases.iter().max_by_key(|case| size(case)) else {
        return Ok(());
    };
    check(footprint(largest), engine, with_checks).map_err(|too_much| {
        format!(
            "{} at {}: {too_much}",
            largest.registered.kernel.id, largest.shape
        )
    })
}

/// Checks that the buffers of each case fit the memory of a GPU.
///
/// # Errors
///
/// The first case that does not fit, in words.
pub fn check_device(cases: &[Case], memory_bytes: u64) -> Result<(), String> {
    let needed = |case: &Case| (case.registered.lesson.memory)(&case.shape).device_bytes;
    match cases
        .iter()
        .find(|case| needed(case) > u128::from(memory_bytes))
    {
        None => Ok(()),
        Some(case) => Err(format!(
            "{} at {} needs about {} of the GPU's memory, which has {}",
            case.registered.kernel.id,
            case.shape,
            human(needed(case)),
            HumanBytes(memory_bytes)
        )),
    }
}

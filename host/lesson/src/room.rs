//! Memory for cases: on the machine, and on a GPU.

use crate::footprint::{Footprint, check, human};
use crate::run::Case;
use indicatif::HumanBytes;
use lockstep::engine::EngineKind;
use std::cmp::Reverse;

/// Checks that each of the cases has enough memory; they run one after another.
///
/// # Errors
///
/// The largest case that has not, in words.
pub fn check_cases(cases: &[Case], engine: EngineKind, with_checks: bool) -> Result<(), String> {
    let Some(largest) = cases.iter().max_by_key(|case| footprint(case).bytes()) else {
        return Ok(());
    };
    check(footprint(largest), engine, with_checks).map_err(|too_much| {
        format!(
            "{} at {}: {too_much}",
            largest.registered.kernel.id, largest.shape
        )
    })
}

/// How many of these cases may run at a time on simulators: one on each core, as far as there is
/// memory for the largest.
pub fn n_at_once(cases: &[Case], with_checks: bool) -> usize {
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut footprints: Vec<_> = cases.iter().map(footprint).collect();
    footprints.sort_unstable_by_key(|footprint| Reverse(footprint.bytes()));
    let mut together = Footprint::SMALL;
    let fits = |another: &Footprint| {
        together.device_bytes = together.device_bytes.saturating_add(another.device_bytes);
        together.host_bytes = together.host_bytes.saturating_add(another.host_bytes);
        check(together, EngineKind::Sim, with_checks).is_ok()
    };
    let largest = footprints.iter().take(n_cores);
    largest.copied().take_while(fits).count().max(1)
}

fn footprint(case: &Case) -> Footprint {
    (case.registered.lesson.memory)(&case.shape)
}

/// Checks that the buffers of each case fit the memory of a GPU.
///
/// # Errors
///
/// The first case that does not fit, in words.
pub fn check_device(cases: &[Case], memory_bytes: u64) -> Result<(), String> {
    let needed = |case: &Case| footprint(case).device_bytes;
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

//! From PTX to a verdict.
//!
//! Checked in this order, of which the first failure is reported: the kernel runs, under all checks
//! and with every case; its results are right; they are right in other orders too, if the exercise
//! asks for them; its instructions are those that the exercise is about; it costs what the exercise
//! says. So a race that happens to work fails, and so does a correct result reached in another way
//! than the one to be learned.

mod claims;
mod compare;
mod contracts;
mod excerpt;
mod faults;
mod launch;
mod verdict;

use crate::error::Error;
use crate::exercise::Exercise;
use crate::format::{Geometry, Manifest};
use crate::workshop::Built;
use launch::Run;
use ptx_sim::schedule;

pub use verdict::{Failure, Passed, Verdict};

/// Judges a kernel of an exercise; `reference` is the one that gives the expected results.
///
/// # Errors
///
/// The reference itself fails.
pub fn judge(exercise: &Exercise, built: &Built, reference: &Built) -> Result<Verdict, Error> {
    let manifest = &exercise.manifest;
    let mut runs = Vec::new();
    for case in 0..manifest.case.len() {
        let expected = expected(exercise, case, reference)?;
        let failed = |failure: Failure| failure.in_case(manifest, case).taught(manifest);
        let run = match launch::run(manifest, &manifest.launch, case, built, None) {
            Ok(run) => run,
            Err(error) => return Ok(failed(faults::failure(&error, built)).into()),
        };
        if let Some(failure) = compare::compare(manifest, case, &run, &expected) {
            let failure = failure.after_printing(&run.report.printed);
            return Ok(failed(failure).into());
        }
        runs.push((run, expected));
    }
    for (case, (_, expected)) in runs.iter().enumerate() {
        if let Some(failure) = in_other_orders(manifest, case, built, expected) {
            return Ok(failure.in_case(manifest, case).taught(manifest).into());
        }
    }
    if let Some(failure) = contracts::missed(manifest, built) {
        return Ok(failure.taught(manifest).into());
    }
    for (case, (run, _)) in runs.iter().enumerate() {
        if let Some(failure) = claims::missed(manifest, case, &run.report, built) {
            let failure = failure.after_printing(&run.report.printed);
            return Ok(failure.in_case(manifest, case).taught(manifest).into());
        }
    }
    let last = &runs[runs.len() - 1].0.report;
    Ok(Verdict::Passed(Passed {
        n_cases: runs.len(),
        n_orders: manifest.checks.schedules,
        case: verdict::case_of(manifest, runs.len() - 1),
        counts: claims::told(manifest, last),
        printed: last.printed.clone(),
    }))
}

/// The reference's results.
fn expected(exercise: &Exercise, case: usize, reference: &Built) -> Result<Run, Error> {
    let one_thread = Geometry {
        grid: Vec::new(),
        block: Vec::new(),
        shared_bytes: None,
        cluster: Vec::new(),
    };
    let manifest = &exercise.manifest;
    let geometry = manifest.reference.as_ref().unwrap_or(&one_thread);
    let failed = |message: String| Error::Reference {
        path: exercise.reference(),
        message: reference.in_own_names(&message),
    };
    let run = launch::run(manifest, geometry, case, reference, None)
        .map_err(|error| failed(error.to_string()))?;
    match compare::left_out(manifest, &run) {
        Some(message) => Err(failed(message)),
        None => Ok(run),
    }
}

/// Tries the orders that the exercise asks for.
fn in_other_orders(
    manifest: &Manifest,
    case: usize,
    built: &Built,
    expected: &Run,
) -> Option<Failure> {
    let found = schedule::search(0..manifest.checks.schedules, |schedule| {
        let failure = match launch::run(manifest, &manifest.launch, case, built, Some(schedule)) {
            Err(error) => Some(faults::failure(&error, built)),
            Ok(run) => compare::compare(manifest, case, &run, expected),
        };
        failure.map_or(Ok(()), |failure| Err(Box::new(failure)))
    })?;
    let mut failure = *found.error;
    if failure.kind == "result" {
        failure.kind = "order";
    }
    failure.message = format!(
        "right in the usual order, wrong in another one (schedule {}), which a GPU may choose:\n{}",
        found.schedule, failure.message
    );
    Some(failure)
}

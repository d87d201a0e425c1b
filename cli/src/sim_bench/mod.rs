//! How fast the simulator is: thread-instructions per second, kernel by kernel.
//!
//! Every kernel of the catalogue runs its own lesson on [`Stopwatch`], an engine
//! that repeats each launch in several [`Mode`]s, in turn, so that what changes
//! with time changes for all modes alike. Small loops of one kind of instruction
//! each ([`micro`]) say what the parts cost.
//!
//! Figures are the best of several runs beside the median: on a machine that
//! does other things too, the best is what repeats.
//!
//! Left out: what a lesson does around its launches (inputs, references).

mod modes;

pub mod micro;
pub mod report;
pub mod stopwatch;

use lesson::{Effort, Registered};

pub use modes::{Measured, Mode, Patience};
pub use stopwatch::Stopwatch;

/// Runs a kernel's lesson on the shape that samples it.
///
/// # Errors
///
/// The lesson has no such shape, or the kernel's result is wrong.
pub fn measure(
    engine: &Stopwatch,
    registered: Registered,
    patience: Patience,
) -> Result<(String, Measured), String> {
    let shapes = (registered.lesson.shapes)(lockstep::engine::EngineKind::Sim, Effort::Sample);
    let shape = shapes
        .iter()
        .find(|shape| !shape.is_sweep())
        .ok_or("its lesson has no shape to sample")?;
    engine.start(patience);
    let mut trial = registered.trial(engine, shape, None);
    (registered.kernel.run)(&mut trial).map_err(|error| error.to_string())?;
    Ok((shape.to_string(), engine.stop()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_has_a_shape_to_sample() {
        for lesson in host::registry::LESSONS {
            let shapes = (lesson.shapes)(lockstep::engine::EngineKind::Sim, Effort::Sample);
            assert!(
                shapes.iter().any(|shape| !shape.is_sweep()),
                "{}",
                lesson.id
            );
        }
    }
}

//! A block's run as a player for pages: every event of its trace, with the source.

use super::traced;
use crate::profile::sources;
use lesson::{CaseError, Registered, Shape};
use lockstep::engine::sim::Sim;
use lockstep_page::Player;
use ptx_sim::TraceOptions;

/// Events that are kept: far more than a player shows, so that it can say of how many.
const MOST_EVENTS: usize = 20_000;

/// The player of the first block in the kernel's first launch on a shape; `None` if the lesson
/// never launched it. The simulator has the kernel's module, and perhaps those of other kernels.
///
/// # Errors
///
/// The case stopped before the launch ended.
pub fn on(sim: &Sim, registered: Registered, shape: &Shape) -> Result<Option<Player>, CaseError> {
    let options = TraceOptions {
        block: 0,
        accesses: u32::MAX,
        events: MOST_EVENTS,
    };
    let Some((traced, _)) = traced(sim, registered, shape, options)? else {
        return Ok(None);
    };
    let caption = format!(
        "`{}` at {shape}, block 0 of {}",
        registered.kernel.id, traced.config
    );
    let file = registered.lesson.source;
    Ok(Some(Player::of(
        caption,
        &traced.trace,
        file,
        sources::text,
    )))
}

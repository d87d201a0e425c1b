//! A block's run as a player for pages: every event of its trace, with the source.

use super::traced;
use crate::profile::sources;
use lesson::{CaseError, Registered, Shape};
use lockstep::engine::PtxModule;
use lockstep::engine::sim::Sim;
use lockstep_page::Player;
use ptx_sim::TraceOptions;

/// Events that are kept: far more than a player shows, so that it can say of how many.
const MOST_EVENTS: usize = 20_000;

/// The player of a block in the kernel's first launch on a shape; `None` if the lesson never
/// launched it.
///
/// # Errors
///
/// The case stopped before the launch ended, or the launch does not have that block.
pub fn of(
    registered: Registered,
    shape: &Shape,
    modules: Vec<PtxModule>,
    block: u64,
) -> Result<Option<Player>, CaseError> {
    let options = TraceOptions {
        block,
        accesses: u32::MAX,
        events: MOST_EVENTS,
    };
    let Some((traced, _)) = traced(&Sim::new(modules), registered, shape, options)? else {
        return Ok(None);
    };
    let caption = format!(
        "`{}` at {shape}, block {block} of {}",
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

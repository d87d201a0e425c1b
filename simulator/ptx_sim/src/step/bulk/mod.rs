//! Bulk copies.
//!
//! In reading order: [`start`], copies of contiguous bytes, and what is checked before any
//! copy starts; [`tile`], copies of tiles of tensors; [`zero`], `st.bulk`; [`arrival`],
//! when copies move their bytes; [`moving`], how they do.
//!
//! Each active lane starts a copy of its own.
//!
//! Left out: cache policies and prefetches, which have no effect; copies of `im2col`,
//! and `tensormap.replace`, which the decoder refuses.

mod arrival;
mod moving;
mod start;
mod tile;
mod zero;

pub(super) use arrival::{arrive_for, phase_over};
pub(crate) use arrival::{bytes_awaited, finish_block};

use super::context::Step;
use crate::checks::observer::Observer;
use crate::lanes::lanes;
use crate::program::BulkOp;
use crate::stop::Stop;

/// Carries out an instruction on bulk copies.
#[cold]
#[inline(never)]
pub(super) fn bulk<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &BulkOp,
    mask: u32,
) -> Result<(), Stop> {
    // A warp that starts or awaits a copy does not idle.
    step.warp.has_effect();
    match op {
        BulkOp::Commit => {
            step.env.bulk.commit(step.warp.index, mask);
            return Ok(());
        }
        &BulkOp::Wait { n_left, reads_only } => {
            lanes(mask).for_each(|lane| arrival::await_groups(step, lane, n_left, reads_only));
            return Ok(());
        }
        _ => {}
    }
    for lane in lanes(mask) {
        match op {
            BulkOp::Copy(op) => start::start(step, op, lane)?,
            BulkOp::Tile(op) => tile::start(step, op, lane)?,
            BulkOp::Prefetch { map, rank } => {
                tile::read_map(step, *map, (*rank, lane))?;
            }
            BulkOp::Zero { address, bytes } => zero::store(step, *address, *bytes, lane)?,
            BulkOp::Commit | BulkOp::Wait { .. } => {}
        }
    }
    Ok(())
}

//! Tensor-core tiles and asynchronous copies.
//!
//! `ldmatrix`, `stmatrix`, `mma` and `wmma` are carried out by all 32 lanes of a warp
//! together: where they come along different paths they wait for each other, and
//! a lane that has ended makes the instruction a fault.

mod async_copy;
mod multiply;
mod tiles;
mod wmma;

use super::{Env, PathView, Stop, fault};
use crate::checks::observer::Observer;
use crate::diagnostics::FaultKind;
use crate::lanes::FULL_MASK;
use crate::program::MatrixOp;
use crate::warp::Warp;

/// Carries out an instruction on tiles.
pub(crate) fn matrix<O: Observer>(
    env: &mut Env<'_, O>,
    warp: &mut Warp,
    view: &PathView<'_>,
    ptx: u32,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Stop> {
    match op {
        MatrixOp::Load(op) => {
            require_whole_warp(warp, mask)?;
            tiles::load(env, warp, view, ptx, op)
        }
        MatrixOp::Store(op) => {
            require_whole_warp(warp, mask)?;
            tiles::store(env, warp, view, ptx, op)
        }
        MatrixOp::Multiply(op) => {
            require_whole_warp(warp, mask)?;
            multiply::multiply(view, op);
            Ok(())
        }
        MatrixOp::WmmaLoad(op) => {
            require_whole_warp(warp, mask)?;
            wmma::transfer(env, warp, view, ptx, op, true)
        }
        MatrixOp::WmmaStore(op) => {
            require_whole_warp(warp, mask)?;
            wmma::transfer(env, warp, view, ptx, op, false)
        }
        MatrixOp::WmmaMultiply(op) => {
            require_whole_warp(warp, mask)?;
            wmma::multiply(view, op);
            Ok(())
        }
        MatrixOp::Copy(op) => async_copy::start(env, warp, view, ptx, op, mask),
        MatrixOp::Commit => {
            warp.copies.commit(mask);
            if O::ON {
                let lanes = env.lanes(warp, mask);
                env.observer.copies_committed(lanes);
            }
            Ok(())
        }
        MatrixOp::WaitGroup(n_left) => {
            warp.copies.complete(env.shared, mask, Some(*n_left));
            if O::ON {
                let lanes = env.lanes(warp, mask);
                env.observer.copies_awaited(lanes, Some(*n_left));
            }
            Ok(())
        }
        MatrixOp::WaitAll => {
            warp.copies.complete(env.shared, mask, None);
            if O::ON {
                let lanes = env.lanes(warp, mask);
                env.observer.copies_awaited(lanes, None);
            }
            Ok(())
        }
    }
}

/// Makes sure that all 32 lanes are here.
fn require_whole_warp(warp: &Warp, mask: u32) -> Result<(), Stop> {
    if mask == FULL_MASK {
        return Ok(());
    }
    if warp.live & !mask != 0 {
        return Err(Stop::NeedsLanes { members: FULL_MASK });
    }
    Err(fault(mask, FaultKind::PartialWarp { arrived: mask }).into())
}

//! Tensor-core tiles and asynchronous copies.
//!
//! `ldmatrix`, `stmatrix`, `mma` and `wmma` are executed by all 32 lanes of a warp
//! together: if they come along different paths they wait for each other, and a lane that
//! has ended makes the instruction a fault.

mod async_copy;
mod multiply;
mod tensor;
mod tiles;
mod wmma;

use super::context::Step;
use super::whole_warp::require_whole_warp;
use crate::checks::observer::Observer;
use crate::program::MatrixOp;
use crate::stop::Stop;

/// Carries out an instruction on tiles, in the version that suits this machine.
#[inline(always)]
pub(super) fn matrix<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Stop> {
    #[cfg(target_arch = "x86_64")]
    if O::QUICK {
        // SAFETY: Such an observer is run only where there are wide vectors (`BlockRun::round`).
        return unsafe { matrix_wide(step, op, mask) };
    }
    matrix_plain(step, op, mask)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn matrix_wide<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Stop> {
    matrix_plain(step, op, mask)
}

#[inline(always)]
fn matrix_plain<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &MatrixOp,
    mask: u32,
) -> Result<(), Stop> {
    match op {
        MatrixOp::Load(op) => {
            require_whole_warp(step.warp, mask)?;
            tiles::load(step, op)
        }
        MatrixOp::Store(op) => {
            require_whole_warp(step.warp, mask)?;
            tiles::store(step, op)
        }
        MatrixOp::Multiply(op) => {
            require_whole_warp(step.warp, mask)?;
            multiply::multiply(&step.view, op);
            Ok(())
        }
        MatrixOp::Tensor(op) => {
            require_whole_warp(step.warp, mask)?;
            tensor::multiply(&step.view, op);
            Ok(())
        }
        MatrixOp::WmmaLoad(op) => {
            require_whole_warp(step.warp, mask)?;
            wmma::load(step, op)
        }
        MatrixOp::WmmaStore(op) => {
            require_whole_warp(step.warp, mask)?;
            wmma::store(step, op)
        }
        MatrixOp::WmmaMultiply(op) => {
            require_whole_warp(step.warp, mask)?;
            wmma::multiply(&step.view, op);
            Ok(())
        }
        MatrixOp::Copy(op) => async_copy::start(step, op, mask),
        MatrixOp::Commit => {
            step.warp.copies.commit(mask);
            if O::ON {
                let lanes = step.lanes(mask);
                step.env.observer.copies_committed(lanes);
            }
            Ok(())
        }
        MatrixOp::WaitGroup(n_left) => {
            step.complete_copies(mask, Some(*n_left));
            Ok(())
        }
        MatrixOp::WaitAll => {
            step.complete_copies(mask, None);
            Ok(())
        }
    }
}

//! Tensor-core tiles and asynchronous copies.

use super::{Env, PathView, Stop};
use crate::checks::Observer;
use crate::warp::Warp;

/// An instruction on tiles.
pub(crate) enum MatrixOp {}

/// Carries out an instruction on tiles.
pub(crate) fn matrix<O: Observer>(
    _env: &mut Env<'_, O>,
    _warp: &mut Warp,
    _view: &PathView<'_>,
    _ptx: u32,
    op: &MatrixOp,
    _mask: u32,
) -> Result<(), Stop> {
    match *op {}
}

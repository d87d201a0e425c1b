//! `ldmatrix` and `stmatrix`: 8×8 matrices of 16-bit elements between shared
//! memory and registers.
//!
//! Lanes `8m` to `8m + 7` give the addresses of matrix `m`'s rows, 16 bytes each;
//! the other lanes' addresses are ignored. Lane `l` has, in register `m`, elements `2 (l
//! mod 4)` and the next of row `l / 4`; with `.trans`, of column `l / 4`.

use super::super::access::{Request, lane_addresses, locate};
use super::super::context::Step;
use super::super::transpose::transposed;
use crate::checks::access::AccessClass;
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::numeric::tile::Register;
use crate::program::{ROW_BYTES, TileMove};
use crate::stop::Stop;
use ptx::ir::Space;

/// Checks the rows, and calls `each` with every matrix's register and its rows' places.
#[inline(always)]
fn each_matrix<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &TileMove,
    (class, kind): (AccessClass, AccessKind),
    each: impl Fn(&mut Register, [*mut u8; 8]),
) -> Result<(), Stop> {
    let mask = op.address_mask();
    let addresses = lane_addresses(&step.view, &op.address, mask).lanes;
    let request = Request {
        space: Space::Shared,
        bytes: ROW_BYTES,
        mask,
        kind,
        addresses: &addresses,
        stride: None,
    };
    let located = locate(step, request)?;
    if O::ON {
        let access = request.observed(step, class);
        step.env.observer.access(step.number, &access);
    }
    for (matrix, &slot) in op.registers.iter().enumerate() {
        let mut rows = [std::ptr::null_mut(); 8];
        for (lane, row) in (8 * matrix..).zip(&mut rows) {
            *row = located.host(&addresses, lane);
        }
        // SAFETY: The decoder made the slot for 32-bit lanes.
        each(unsafe { step.view.regs.lanes_mut::<u32>(slot) }, rows);
    }
    Ok(())
}

/// `ldmatrix`
#[inline(always)]
pub(super) fn load<O: Observer>(step: &mut Step<'_, '_, O>, op: &TileMove) -> Result<(), Stop> {
    let act = (AccessClass::LoadMatrix, AccessKind::Load);
    each_matrix(step, op, act, |register, rows| {
        for (to, row) in register.as_chunks_mut::<4>().0.iter_mut().zip(rows) {
            // SAFETY: 16 bytes were found for every row, in the block's own memory.
            unsafe {
                std::ptr::copy_nonoverlapping(row, to.as_mut_ptr().cast(), ROW_BYTES as usize)
            };
        }
        if op.transposed {
            *register = transposed(register);
        }
    })
}

/// `stmatrix`
#[inline(always)]
pub(super) fn store<O: Observer>(step: &mut Step<'_, '_, O>, op: &TileMove) -> Result<(), Stop> {
    let act = (AccessClass::StoreMatrix, AccessKind::Store);
    each_matrix(step, op, act, |register, rows| {
        let matrix = match op.transposed {
            true => transposed(register),
            false => *register,
        };
        for (from, row) in matrix.as_chunks::<4>().0.iter().zip(rows) {
            // SAFETY: As in `load`, the other way round.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr().cast(), row, ROW_BYTES as usize) };
        }
    })
}

//! `ldmatrix` and `stmatrix`: 8×8 matrices of 16-bit elements between shared
//! memory and registers.
//!
//! Lanes `8m` to `8m + 7` give the addresses of matrix `m`'s rows, 16 bytes each;
//! the other lanes' addresses are ignored. Lane `l` has, in register `m`, elements `2 (l
//! mod 4)` and the next of row `l / 4`; with `.trans`, of column `l / 4`.

use std::array;

use super::super::access::{Request, lane_addresses, locate, read16, write16};
use super::super::context::Step;
use crate::checks::access::AccessClass;
use crate::checks::observer::Observer;
use crate::diagnostics::AccessKind;
use crate::lanes::WARP_SIZE;
use crate::program::{ROW_BYTES, TileMove};
use crate::stop::Stop;
use ptx::ir::Space;

/// Checks the rows, and gives a pointer to each.
#[inline(always)]
fn rows<O: Observer>(
    step: &mut Step<'_, '_, O>,
    op: &TileMove,
    class: AccessClass,
    kind: AccessKind,
) -> Result<[*mut u8; WARP_SIZE], Stop> {
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
    Ok(array::from_fn(|lane| {
        if mask >> lane & 1 != 0 {
            located.host(&addresses, lane)
        } else {
            std::ptr::null_mut()
        }
    }))
}

/// `ldmatrix`
#[inline(always)]
pub(super) fn load<O: Observer>(step: &mut Step<'_, '_, O>, op: &TileMove) -> Result<(), Stop> {
    let rows = rows(step, op, AccessClass::LoadMatrix, AccessKind::Load)?;
    let view = &step.view;
    for (matrix, &slot) in op.registers.iter().enumerate() {
        if !op.transposed {
            for row in 0..8 {
                // SAFETY: `rows` found 16 bytes for every row, in the block's own
                // memory; a register has 8 rows of 16 bytes, one after the other.
                unsafe {
                    let to = view
                        .regs
                        .bytes(slot + row as u32 * ROW_BYTES, ROW_BYTES as usize);
                    let from = rows[8 * matrix + row];
                    std::ptr::copy_nonoverlapping(from, to, ROW_BYTES as usize);
                }
            }
            continue;
        }
        let element = |lane, half| {
            let (row, column) = op.place(lane, half);
            // SAFETY: `rows` found 16 bytes, aligned, for every row of a matrix
            // that has a register.
            u32::from(unsafe { read16(rows[8 * matrix + row].add(2 * column)) })
        };
        // SAFETY: The decoder made the slot for 32-bit lanes.
        let register = unsafe { view.regs.lanes_mut::<u32>(slot) };
        for (lane, value) in register.iter_mut().enumerate() {
            *value = element(lane, 0) | element(lane, 1) << 16;
        }
    }
    Ok(())
}

/// `stmatrix`
#[inline(always)]
pub(super) fn store<O: Observer>(step: &mut Step<'_, '_, O>, op: &TileMove) -> Result<(), Stop> {
    let rows = rows(step, op, AccessClass::StoreMatrix, AccessKind::Store)?;
    let view = &step.view;
    for (matrix, &slot) in op.registers.iter().enumerate() {
        if !op.transposed {
            for row in 0..8 {
                // SAFETY: As in `load`, the other way round.
                unsafe {
                    let from = view
                        .regs
                        .bytes(slot + row as u32 * ROW_BYTES, ROW_BYTES as usize);
                    let to = rows[8 * matrix + row];
                    std::ptr::copy_nonoverlapping(from, to, ROW_BYTES as usize);
                }
            }
            continue;
        }
        // SAFETY: The decoder made the slot for 32-bit lanes.
        let register = unsafe { view.regs.lanes::<u32>(slot) };
        for (lane, value) in register.iter().enumerate() {
            for half in 0..2 {
                let (row, column) = op.place(lane, half);
                // SAFETY: As in `load`.
                unsafe {
                    write16(
                        rows[8 * matrix + row].add(2 * column),
                        (value >> (16 * half)) as u16,
                    );
                }
            }
        }
    }
    Ok(())
}

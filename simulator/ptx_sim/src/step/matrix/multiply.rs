//! `mma.sync`: the lanes' fragments are put together, multiplied, and distributed again.
//! The sums are [`numeric::mma`](crate::numeric::mma)'s.
//!
//! With lane `l`, `g = l / 4` and `t = 2 (l mod 4)`:
//!
//! | operand | register | holds |
//! |---|---|---|
//! | A, 16×K | r | row `g + 8 (r mod 2)`, columns `t + 8 (r / 2)` and the next |
//! | B, K×8 | r | rows `t + 8 r` and the next, column `g` |
//! | C, D, 16×8, 16 bits | r | row `g + 8 r`, columns `t` and the next |
//! | C, D, 16×8, 32 bits | r | row `g + 8 (r / 2)`, column `t + r mod 2` |

use super::super::context::PathView;
use crate::lanes::WARP_SIZE;
use crate::numeric::mma::{Accumulator, Model, dot, unpack};
use crate::numeric::tile::{self, Product, Register};
use crate::program::Multiply;

/// The hardware whose sums are reproduced.
pub(super) const MODEL: Model = Model::HOPPER;

const M: usize = 16;
const N: usize = 8;
const MAX_K: usize = 16;

/// Row and column of lane `lane`'s element `index` of C or D, where a register
/// holds `per_register` elements; with the register and the place in it.
fn result_place(lane: usize, index: usize) -> (usize, usize) {
    (lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2)
}

#[inline(always)]
pub(super) fn multiply(view: &PathView<'_>, op: &Multiply) {
    let none = [0; WARP_SIZE];
    let mut operands = [&none; 4 + 2 + 4];
    let slots = op.a.iter().chain(&op.b).chain(&op.c);
    for (register, &slot) in operands.iter_mut().zip(slots) {
        // SAFETY: The decoder made the slots for 32-bit lanes; nothing changes them until
        // the sums are computed.
        *register = unsafe { view.regs.lanes::<u32>(slot) };
    }
    let (a, rest) = operands.split_at(op.a.len());
    let (b, rest) = rest.split_at(op.b.len());
    let product = Product {
        model: MODEL,
        factor: op.factor,
        accumulator: op.accumulator,
        a,
        b,
        c: &rest[..op.c.len()],
    };
    let mut d = [[0; WARP_SIZE]; 4];
    let d = &mut d[..op.d.len()];
    product_of(&product, d);
    for (&slot, values) in op.d.iter().zip(&*d) {
        // SAFETY: The decoder made the slots for 32-bit lanes; nothing else
        // refers to them now.
        unsafe { *view.regs.lanes_mut::<u32>(slot) = *values };
    }
}

/// Computes the whole of D.
#[inline]
pub(super) fn product_of(product: &Product<'_>, d: &mut [Register]) {
    if !tile::multiply(product, d) {
        one_by_one(product, d);
    }
}

/// The sums one by one: for any machine and model.
#[cold]
fn one_by_one(product: &Product<'_>, d: &mut [Register]) {
    let k = 8 * product.b.len();
    let zero = unpack(product.factor, 0);
    let mut rows = [[zero; MAX_K]; M];
    let mut columns = [[zero; MAX_K]; N];
    for lane in 0..WARP_SIZE {
        let (group, pair) = (lane / 4, lane % 4 * 2);
        for half in 0..2 {
            let element = |register: &Register| {
                unpack(product.factor, (register[lane] >> (16 * half)) as u16)
            };
            for (r, register) in product.a.iter().enumerate() {
                rows[group + r % 2 * 8][pair + half + r / 2 * 8] = element(register);
            }
            for (r, register) in product.b.iter().enumerate() {
                columns[group][pair + half + r * 8] = element(register);
            }
        }
    }
    let mut put = |register: usize, lane: usize, keep: u32, bits: u32| {
        let word = &mut d[register][lane];
        *word = *word & keep | bits;
    };
    for lane in 0..WARP_SIZE {
        for index in 0..4 {
            let (row, column) = result_place(lane, index);
            let sum = |c| {
                let (row, column) = (&rows[row][..k], &columns[column][..k]);
                let Product {
                    model,
                    factor,
                    accumulator,
                    ..
                } = *product;
                dot(model, factor, accumulator, row, column, c)
            };
            match product.accumulator {
                Accumulator::F32 => put(index, lane, 0, sum(product.c[index][lane])),
                Accumulator::F16 => {
                    let (register, shift) = (index / 2, index % 2 * 16);
                    let bits = sum(product.c[register][lane] >> shift & 0xFFFF);
                    put(register, lane, !(0xFFFF << shift), bits << shift);
                }
            }
        }
    }
}

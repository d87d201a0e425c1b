//! `mma.sync` of other shapes and types than 16-bit floats in tiles of 16×8.
//!
//! With lane `l`, `g = l / 4` and `t = l mod 4`, and `p` factors in a register (a register
//! of 64 bits holds one `f64`):
//!
//! | operand | register | holds |
//! |---|---|---|
//! | A, 8×K | r | row `g`, columns `p t + 4 p r` and the next |
//! | A, 16×K | r | row `g + 8 (r mod 2)`, columns `p t + 4 p (r / 2)` and the next |
//! | B, K×8 | r | rows `p t + 4 p r` and the next, column `g` |
//! | C, D | r | row `g + 8 (r / 2)`, column `2 t + r mod 2` |
//!
//! In `m8n8k4` of `f16` lanes `4 q` to `4 q + 3` and those 16 lanes later have a product of
//! their own; see [`Quad`].
//!
//! An H200 has no unit for 8-bit floats in `mma.sync`, for factors of fewer bits, or
//! for that shape. The replacements that ptxas emits are reproduced: 8-bit floats become
//! `f16`; the lower two of the four in each register are multiplied and summed first, as
//! one tile, then the upper two; C is added last, rounded to the nearest.

use super::super::context::PathView;
use super::multiply::{MODEL, product_of};
use crate::lanes::{Lane, WARP_SIZE};
use crate::numeric::fp8::Small;
use crate::numeric::half::{F16, packed2};
use crate::numeric::mma::{Accumulator, Factor, dot, unpack_word};
use crate::numeric::tensor::{dot_f64, dot_quad};
use crate::numeric::tile::{self, Product, Register};
use crate::numeric::{Rounding, float};
use crate::program::{Slot, Tensor, TensorKind};

/// Most words of A's row or B's column: 16 of `f64`.
const MAX_WORDS: usize = 16;

/// Rows of A or columns of B.
type Lines<T> = [[T; MAX_WORDS]; 16];

pub(super) fn multiply(view: &PathView<'_>, op: &Tensor) {
    match op.kind {
        TensorKind::Tf32 => tf32(view, op),
        TensorKind::Integers(integers) => {
            let (rows, columns, n) = factors::<u32>(view, op);
            each_sum(view, op, |row, column, c| {
                integers.dot(&rows[row][..n], &columns[column][..n], c)
            });
        }
        TensorKind::Bits(bits) => {
            let (rows, columns, n) = factors::<u32>(view, op);
            each_sum(view, op, |row, column, c| {
                bits.dot(&rows[row][..n], &columns[column][..n], c)
            });
        }
        TensorKind::Double => {
            let (rows, columns, n) = factors::<f64>(view, op);
            each_sum(view, op, |row, column, c| {
                let (row, column) = (&rows[row][..n], &columns[column][..n]);
                dot_f64(row, column, c, Rounding::NearestEven)
            });
        }
        TensorKind::Small { a, b, accumulator } => small(view, op, (a, b), accumulator),
        TensorKind::Quad {
            a_by_column,
            b_by_row,
            c,
            d,
        } => Quad::new(view, op, a_by_column, b_by_row).multiply(view, op, (c, d)),
    }
}

fn read<T: Lane>(view: &PathView<'_>, slot: Slot) -> [T; WARP_SIZE] {
    // SAFETY: The decoder made the slot for lanes of this width.
    unsafe { *view.regs.lanes::<T>(slot) }
}

fn write<T: Lane>(view: &PathView<'_>, slot: Slot, values: [T; WARP_SIZE]) {
    // SAFETY: As in `read`; nothing else refers to the register now.
    unsafe { *view.regs.lanes_mut::<T>(slot) = values }
}

/// A's rows and B's columns, and how many words of them there are.
fn factors<T: Lane>(view: &PathView<'_>, op: &Tensor) -> (Lines<T>, Lines<T>, usize) {
    let mut rows = [[T::default(); MAX_WORDS]; 16];
    let mut columns = rows;
    let n_halves = op.m / 8;
    for (r, &slot) in op.a.iter().enumerate() {
        for (lane, word) in read(view, slot).into_iter().enumerate() {
            rows[lane / 4 + 8 * (r % n_halves)][lane % 4 + 4 * (r / n_halves)] = word;
        }
    }
    for (r, &slot) in op.b.iter().enumerate() {
        for (lane, word) in read(view, slot).into_iter().enumerate() {
            columns[lane / 4][lane % 4 + 4 * r] = word;
        }
    }
    (rows, columns, 4 * op.b.len())
}

/// Computes D by row, column and C.
fn each_sum<T: Lane>(view: &PathView<'_>, op: &Tensor, sum: impl Fn(usize, usize, T) -> T) {
    // All of C is read before D, which may be the same registers, is written.
    let mut sums: Vec<[T; WARP_SIZE]> = op.c.iter().map(|&c| read(view, c)).collect();
    for (r, register) in sums.iter_mut().enumerate() {
        for (lane, value) in register.iter_mut().enumerate() {
            let (row, column) = (lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2);
            *value = sum(row, column, *value);
        }
    }
    for (&d, register) in op.d.iter().zip(sums) {
        write(view, d, register);
    }
}

fn refs(registers: &[Register]) -> Vec<&Register> {
    registers.iter().collect()
}

/// `tf32`, as much as can be in vectors.
fn tf32(view: &PathView<'_>, op: &Tensor) {
    let [a, b, c] = [&op.a, &op.b, &op.c].map(|slots| {
        let registers = slots.iter().map(|&slot| read(view, slot));
        registers.collect::<Vec<Register>>()
    });
    let product = Product {
        model: MODEL,
        factor: Factor::Tf32,
        accumulator: Accumulator::F32,
        a: &refs(&a),
        b: &refs(&b),
        c: &refs(&c),
    };
    let mut sums = [[0; WARP_SIZE]; 4];
    if tile::multiply(&product, &mut sums) {
        for (&d, sums) in op.d.iter().zip(sums) {
            write(view, d, sums);
        }
        return;
    }
    let unpacked = |word| unpack_word(Factor::Tf32, word);
    let (rows, columns, n) = factors::<u32>(view, op);
    let [rows, columns] = [rows, columns].map(|lines| lines.map(|line| line.map(unpacked)));
    each_sum::<u32>(view, op, |row, column, c| {
        let (row, column) = (&rows[row][..n], &columns[column][..n]);
        dot(MODEL, Factor::Tf32, Accumulator::F32, row, column, c)
    });
}

/// 8-bit floats, by two products of `f16`.
fn small(view: &PathView<'_>, op: &Tensor, (a, b): (Small, Small), accumulator: Accumulator) {
    let mut sum = [[0; WARP_SIZE]; 4];
    let sum = &mut sum[..op.c.len()];
    let widened = |slots: &[Slot], format: Small, half: usize| -> Vec<Register> {
        let table = format.all_as_f16();
        let pair = |word: u32| {
            let of = |byte: u32| u32::from(table[usize::from(byte as u8)]);
            let word = word >> (16 * half);
            of(word) | of(word >> 8) << 16
        };
        let registers = slots.iter().map(|&slot| read(view, slot).map(pair));
        registers.collect()
    };
    for half in 0..2 {
        let c: Vec<Register> = sum.to_vec();
        let [a, b] = [(&op.a, a), (&op.b, b)].map(|(slots, format)| widened(slots, format, half));
        let product = Product {
            model: MODEL,
            factor: Factor::F16,
            accumulator,
            a: &refs(&a),
            b: &refs(&b),
            c: &refs(&c),
        };
        product_of(&product, sum);
    }
    let nearest = Rounding::NearestEven;
    for (sum, &c) in sum.iter_mut().zip(&op.c) {
        let c: Register = read(view, c);
        for (sum, c) in sum.iter_mut().zip(c) {
            *sum = match accumulator {
                Accumulator::F32 => {
                    float::add(f32::from_bits(c), f32::from_bits(*sum), nearest).to_bits()
                }
                Accumulator::F16 => packed2::<F16>(c, *sum, |c, sum| float::add(c, sum, nearest)),
            };
        }
    }
    for (&d, sum) in op.d.iter().zip(sum) {
        write(view, d, *sum);
    }
}

/// The operands of `m8n8k4`: four products of 8×4 and 4×8 factors.
///
/// With lane `l`, of which the lowest two bits and bit 4 count from 0 to 7 (`n`) in the
/// product `l / 4 mod 4`:
///
/// | operand | number | holds |
/// |---|---|---|
/// | A `.row` | i | row `n`, column `i` |
/// | A `.col` | i | row `4 (n / 4) + i`, column `n mod 4` |
/// | B `.col` | i | row `i`, column `n` |
/// | B `.row` | i | row `n mod 4`, column `4 (n / 4) + i` |
/// | C, D of 16 bits | i | row `n`, column `i` |
/// | C, D of 32 bits | i | row `4 (n / 4) + (n & 1) + (i & 2)`, column `(i & 4) + (n & 2) + (i & 1)` |
struct Quad {
    rows: [[[u16; 4]; 8]; 4],
    columns: [[[u16; 4]; 8]; 4],
}

/// Numbers of a C or D, as their types have them.
type Sums = [[[u32; 8]; 8]; 4];

impl Quad {
    fn new(view: &PathView<'_>, op: &Tensor, a_by_column: bool, b_by_row: bool) -> Self {
        let gather = |slots: &[Slot], transposed: bool| {
            let mut lines = [[[0; 4]; 8]; 4];
            for (r, &slot) in slots.iter().enumerate() {
                for (lane, word) in read::<u32>(view, slot).into_iter().enumerate() {
                    let (quad, n) = place(lane);
                    for i in [2 * r, 2 * r + 1] {
                        let bits = (word >> (16 * (i % 2))) as u16;
                        if transposed {
                            lines[quad][n / 4 * 4 + i][n % 4] = bits;
                        } else {
                            lines[quad][n][i] = bits;
                        }
                    }
                }
            }
            lines
        };
        Self {
            rows: gather(&op.a, a_by_column),
            columns: gather(&op.b, b_by_row),
        }
    }

    fn multiply(&self, view: &PathView<'_>, op: &Tensor, types: (Accumulator, Accumulator)) {
        let mut sums: Sums = [[[0; 8]; 8]; 4];
        for (r, &slot) in op.c.iter().enumerate() {
            for (lane, word) in read::<u32>(view, slot).into_iter().enumerate() {
                each_number(types.0, lane, r, |(quad, row, column), shift| {
                    sums[quad][row][column] = word >> shift;
                });
            }
        }
        for (quad, sums) in sums.iter_mut().enumerate() {
            for (row, sums) in sums.iter_mut().enumerate() {
                for (column, sum) in sums.iter_mut().enumerate() {
                    let (a, b) = (self.rows[quad][row], self.columns[quad][column]);
                    *sum = dot_quad(a, b, *sum, types);
                }
            }
        }
        for (r, &slot) in op.d.iter().enumerate() {
            let mut words = [0; WARP_SIZE];
            for (lane, word) in words.iter_mut().enumerate() {
                each_number(types.1, lane, r, |(quad, row, column), shift| {
                    *word |= sums[quad][row][column] << shift;
                });
            }
            write(view, slot, words);
        }
    }
}

/// The product that a lane takes part in, and its number there.
fn place(lane: usize) -> (usize, usize) {
    (lane / 4 % 4, lane % 4 + lane / 16 * 4)
}

/// Calls `f` with product, row and column of each number of C or D in a lane's register,
/// and its lowest bit there.
fn each_number(
    ty: Accumulator,
    lane: usize,
    register: usize,
    mut f: impl FnMut((usize, usize, usize), u32),
) {
    let (quad, n) = place(lane);
    match ty {
        Accumulator::F16 => {
            f((quad, n, 2 * register), 0);
            f((quad, n, 2 * register + 1), 16);
        }
        Accumulator::F32 => {
            let row = n / 4 * 4 + (n & 1) + (register & 2);
            f((quad, row, (register & 4) + (n & 2) + (register & 1)), 0);
        }
    }
}

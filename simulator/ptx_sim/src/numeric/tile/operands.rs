//! The operands of a product of tiles, and its sums.

use super::super::mma::{Accumulator, Factor, Model};
use crate::lanes::WARP_SIZE;

/// The sums of a tile, in vectors of eight.
#[cfg(target_arch = "x86_64")]
pub(super) type Sums = [std::arch::x86_64::__m256i; 16];

/// A register of all lanes.
pub(crate) type Register = [u32; WARP_SIZE];
/// An operand's registers.
pub(crate) type Registers<'a> = &'a [&'a Register];

/// Operands of `mma` with 16 rows and 8 columns, in the registers' layout.
pub(crate) struct Product<'a> {
    /// The model of the summation.
    pub model: Model,
    /// The factors' type.
    pub factor: Factor,
    /// The sums' type.
    pub accumulator: Accumulator,
    /// 16×K, a register for each 8×8 quarter (half, for K = 8): upper left, lower
    /// left, upper right, lower right.
    pub a: Registers<'a>,
    /// K×8, column by column, a register for eight rows. (Of `tf32`, which is twice as
    /// wide, registers hold half as many columns of A and rows of B.)
    pub b: Registers<'a>,
    /// 16×8.
    pub c: Registers<'a>,
}

/// As [`Product`], with blocks of eight columns next to each other.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "wide vectors read them")
)]
pub(crate) struct Blocks<'a> {
    pub model: Model,
    /// The types of the factors in A and in B, which are of one width.
    pub factors: (Factor, Factor),
    pub accumulator: Accumulator,
    pub a: &'a [Register; 4],
    pub b: &'a [[Register; 2]],
}

impl Blocks<'_> {
    /// Products in a sum.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn n_products(&self) -> usize {
        8 * 32 / self.factors.0.n_bits() as usize
    }

    /// Registers of a block's sums.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn n_registers(&self) -> usize {
        match self.accumulator {
            Accumulator::F32 => 4,
            Accumulator::F16 => 2,
        }
    }
}

/// Stands for a register that is not there.
#[cfg(target_arch = "x86_64")]
pub(super) const NONE: Register = [0; WARP_SIZE];

/// References to registers.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn refs<'a>(
    registers: &'a [Register],
    refs: &'a mut [&'a Register; 4],
) -> Registers<'a> {
    for (to, register) in refs.iter_mut().zip(registers) {
        *to = register;
    }
    &refs[..registers.len()]
}

//! The arithmetic of `wgmma`: a warp's 16 rows of a product of 64 rows and N columns.
//!
//! Whatever the factors' type, a row of A and a column of B have 32 bytes. So operands are
//! kept as registers in the layout of `mma.sync`: four for A, two for B for every eight
//! columns, four for the sums (two for `f16`) for every eight columns; and a product is one
//! of `mma.sync`'s for every eight columns, with its own sums.
//!
//! [`Kind::model`] says how floats are summed.

use super::mma::{Accumulator, Factor, Model, Unpacked, dot_of_two, unpack_word};
use super::tensor::{BitProduct, Integers};
use super::tile::{Blocks, Register, add_blocks};

/// What is multiplied, and how it is summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Float {
        a: Factor,
        b: Factor,
        sums: Accumulator,
    },
    Integers(Integers),
    Bits(BitProduct),
}

/// Words of a row of A or of a column of B.
const LINE_WORDS: usize = 8;
/// The most factors in them, for those that are unpacked one by one.
const MOST_FACTORS: usize = 32;

impl Kind {
    /// Registers of the sums of eight columns.
    pub const fn registers_of_block(self) -> usize {
        match self {
            Self::Float {
                sums: Accumulator::F16,
                ..
            } => 2,
            _ => 4,
        }
    }

    /// The signs of the factors of A and of B in a word.
    pub const fn signs(self) -> [u32; 2] {
        const fn of(factor: Factor) -> u32 {
            match factor.n_bits() {
                8 => 0x8080_8080,
                16 => 0x8000_8000,
                _ => 0x8000_0000,
            }
        }
        match self {
            Self::Float { a, b, .. } => [of(a), of(b)],
            Self::Integers(_) | Self::Bits(_) => [0, 0],
        }
    }

    /// How an H200 adds up products of these factors.
    const fn model(a: Factor) -> Model {
        match a {
            Factor::F16 | Factor::Bf16 | Factor::Tf32 => Model::HOPPER,
            Factor::E4m3 | Factor::E5m2 => Model::HOPPER_SMALL,
        }
    }
}

/// Adds A times B to `sums`.
pub(crate) fn multiply(kind: Kind, a: &[Register; 4], b: &[[Register; 2]], sums: &mut [Register]) {
    match kind {
        Kind::Float {
            a: factor,
            b: b_factor,
            sums: accumulator,
        } => {
            let blocks = Blocks {
                model: Kind::model(factor),
                factors: (factor, b_factor),
                accumulator,
                a,
                b,
            };
            if !add_blocks(&blocks, sums) {
                for (b, sums) in b.iter().zip(sums.chunks_mut(kind.registers_of_block())) {
                    Floats::new((factor, b_factor), accumulator, a, b).add(sums);
                }
            }
        }
        Kind::Integers(integers) => {
            each_sum(a, b, sums, |row, column, c| integers.dot(row, column, c));
        }
        Kind::Bits(bits) => each_sum(a, b, sums, |row, column, c| bits.dot(row, column, c)),
    }
}

/// The rows of A, in words.
fn rows(a: &[Register; 4]) -> [[u32; LINE_WORDS]; 16] {
    let mut rows = [[0; LINE_WORDS]; 16];
    for (r, register) in a.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            rows[lane / 4 + r % 2 * 8][lane % 4 + r / 2 * 4] = *word;
        }
    }
    rows
}

/// The columns of a block of B, in words.
fn columns(b: &[Register; 2]) -> [[u32; LINE_WORDS]; 8] {
    let mut columns = [[0; LINE_WORDS]; 8];
    for (r, register) in b.iter().enumerate() {
        for (lane, word) in register.iter().enumerate() {
            columns[lane / 4][lane % 4 + r * 4] = *word;
        }
    }
    columns
}

/// Computes sums of 32 bits, one by one.
fn each_sum(
    a: &[Register; 4],
    b: &[[Register; 2]],
    sums: &mut [Register],
    sum: impl Fn(&[u32], &[u32], u32) -> u32,
) {
    let rows = rows(a);
    for (b, sums) in b.iter().zip(sums.chunks_mut(4)) {
        let columns = columns(b);
        for (r, register) in sums.iter_mut().enumerate() {
            for (lane, value) in register.iter_mut().enumerate() {
                let (row, column) = (lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2);
                *value = sum(&rows[row], &columns[column], *value);
            }
        }
    }
}

/// Floats taken apart, for sums one by one.
struct Floats {
    factors: (Factor, Factor),
    accumulator: Accumulator,
    /// Of a row or a column.
    n_factors: usize,
    rows: [[Unpacked; MOST_FACTORS]; 16],
    columns: [[Unpacked; MOST_FACTORS]; 8],
}

impl Floats {
    #[cold]
    fn new(
        factors: (Factor, Factor),
        accumulator: Accumulator,
        a: &[Register; 4],
        b: &[Register; 2],
    ) -> Self {
        Self {
            factors,
            accumulator,
            n_factors: LINE_WORDS * 32 / factors.0.n_bits() as usize,
            rows: rows(a).map(|words| unpacked(factors.0, &words)),
            columns: columns(b).map(|words| unpacked(factors.1, &words)),
        }
    }

    fn sum(&self, row: usize, column: usize, c: u32) -> u32 {
        let (row, column) = (&self.rows[row], &self.columns[column]);
        let [row, column] = [row, column].map(|line| &line[..self.n_factors]);
        let model = Kind::model(self.factors.0);
        dot_of_two(model, self.factors, self.accumulator, row, column, c)
    }

    /// Adds to the sums.
    fn add(&self, sums: &mut [Register]) {
        for (row, column) in (0..128).map(|i| (i / 8, i % 8)) {
            let lane = row % 8 * 4 + column / 2;
            match self.accumulator {
                Accumulator::F32 => {
                    let value = &mut sums[row / 8 * 2 + column % 2][lane];
                    *value = self.sum(row, column, *value);
                }
                Accumulator::F16 => {
                    let (word, shift) = (&mut sums[row / 8][lane], column % 2 * 16);
                    let sum = self.sum(row, column, *word >> shift & 0xFFFF);
                    *word = *word & !(0xFFFF << shift) | sum << shift;
                }
            }
        }
    }
}

fn unpacked(factor: Factor, words: &[u32; LINE_WORDS]) -> [Unpacked; MOST_FACTORS] {
    let n_bits = factor.n_bits() as usize;
    std::array::from_fn(|i| {
        let word = words.get(i * n_bits / 32).copied().unwrap_or(0);
        unpack_word(factor, word >> (i * n_bits % 32))
    })
}

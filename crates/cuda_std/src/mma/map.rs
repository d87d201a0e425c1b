//! The maps from lanes and registers to a fragment's elements: pure functions, for device, host and
//! tests.
//!
//! A 32-bit register holds two 16-bit elements, `half` 0 in its low bits and
//! `half` 1 in its high bits; an f32 element has a register of its own.
//! Positions are those *within the operand*: A is 16×K, B is K×8, C is 16×8.

/// Lanes of a warp.
pub const LANES: u32 = 32;

/// A place in a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Row, from 0.
    pub row: u32,
    /// Column, from 0.
    pub column: u32,
}

/// Element of an 8×8 matrix as `ldmatrix` distributes it.
///
/// | lane | row | columns |
/// |---|---|---|
/// | 0, 1, 2, 3 | 0 | 0–1, 2–3, 4–5, 6–7 |
/// | 4, 5, 6, 7 | 1 | 0–1, 2–3, 4–5, 6–7 |
/// | … | | |
/// | 28, 29, 30, 31 | 7 | 0–1, 2–3, 4–5, 6–7 |
#[inline(always)]
pub const fn matrix(lane: u32, half: u32) -> Position {
    Position {
        row: lane / 4,
        column: lane % 4 * 2 + half,
    }
}

/// The same with `.trans`: rows and columns swapped.
#[inline(always)]
pub const fn matrix_transposed(lane: u32, half: u32) -> Position {
    let Position { row, column } = matrix(lane, half);
    Position {
        row: column,
        column: row,
    }
}

/// Element of A, 16×16 (registers 0 to 3) or 16×8 (0 and 1).
///
/// | register | rows | columns |
/// |---|---|---|
/// | 0 | 0–7 | 0–7 |
/// | 1 | 8–15 | 0–7 |
/// | 2 | 0–7 | 8–15 |
/// | 3 | 8–15 | 8–15 |
#[inline(always)]
pub const fn a(lane: u32, register: u32, half: u32) -> Position {
    let Position { row, column } = matrix(lane, half);
    Position {
        row: row + register % 2 * 8,
        column: column + register / 2 * 8,
    }
}

/// Element of B, 16×8 (registers 0 and 1) or 8×8 (register 0): rows are K,
/// columns are N.
///
/// | register | rows | columns |
/// |---|---|---|
/// | 0 | 0–7 | 0–7 |
/// | 1 | 8–15 | 0–7 |
#[inline(always)]
pub const fn b(lane: u32, register: u32, half: u32) -> Position {
    let Position { row, column } = matrix_transposed(lane, half);
    Position {
        row: row + register * 8,
        column,
    }
}

/// Element of C or D in 16-bit registers, two elements each.
///
/// | register | rows | columns |
/// |---|---|---|
/// | 0 | 0–7 | 0–7 |
/// | 1 | 8–15 | 0–7 |
#[inline(always)]
pub const fn c16(lane: u32, register: u32, half: u32) -> Position {
    a(lane, register, half)
}

/// Element of C or D in f32 registers, one element each.
///
/// | registers | rows | columns |
/// |---|---|---|
/// | 0, 1 | 0–7 | 0–7 |
/// | 2, 3 | 8–15 | 0–7 |
#[inline(always)]
pub const fn c32(lane: u32, register: u32) -> Position {
    c16(lane, register / 2, register % 2)
}

/// The row and the matrix whose address lane `lane` gives, in `ldmatrix` and
/// `stmatrix`: lanes `8m` to `8m + 7` name the rows of matrix `m`.
///
/// `(matrix, row)`. With `x1` only lanes 0 to 7 count, with `x2` lanes 0 to 15;
/// the others' addresses are not used.
#[inline(always)]
pub const fn address_of(lane: u32) -> (u32, u32) {
    (lane / 8, lane % 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every element of a `rows`×`columns` matrix is held exactly once.
    fn is_one_to_one(
        rows: u32,
        columns: u32,
        n_registers: u32,
        n_halves: u32,
        map: fn(u32, u32, u32) -> Position,
    ) {
        let mut taken = [[false; 16]; 16];
        for lane in 0..LANES {
            for register in 0..n_registers {
                for half in 0..n_halves {
                    let at = map(lane, register, half);
                    assert!(at.row < rows && at.column < columns, "{at:?}");
                    let taken = &mut taken[at.row as usize][at.column as usize];
                    assert!(!core::mem::replace(taken, true), "{at:?} twice");
                }
            }
        }
        assert_eq!(LANES * n_registers * n_halves, rows * columns);
    }

    #[test]
    fn every_element_has_one_holder() {
        is_one_to_one(8, 8, 1, 2, |lane, _, half| matrix(lane, half));
        is_one_to_one(8, 8, 1, 2, |lane, _, half| matrix_transposed(lane, half));
        is_one_to_one(16, 8, 2, 2, a);
        is_one_to_one(16, 16, 4, 2, a);
        is_one_to_one(8, 8, 1, 2, b);
        is_one_to_one(16, 8, 2, 2, b);
        is_one_to_one(16, 8, 2, 2, c16);
        is_one_to_one(16, 8, 4, 1, |lane, register, _| c32(lane, register));
    }

    #[test]
    fn places_are_those_of_the_instruction_set() {
        let at = |row, column| Position { row, column };
        // From the PTX manual's figures for m16n8k16.
        assert_eq!(a(0, 0, 0), at(0, 0));
        assert_eq!(a(31, 3, 1), at(15, 15));
        assert_eq!(a(5, 1, 0), at(9, 2));
        assert_eq!(a(5, 2, 1), at(1, 11));
        assert_eq!(b(5, 0, 0), at(2, 1));
        assert_eq!(b(5, 1, 1), at(11, 1));
        assert_eq!(c32(5, 1), at(1, 3));
        assert_eq!(c32(5, 2), at(9, 2));
    }
}

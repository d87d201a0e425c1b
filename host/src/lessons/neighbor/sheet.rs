//! A rectangular sheet of graphene.
//!
//! The honeycomb repeats in rectangles of four atoms, three bonds wide and √3
//! bonds high:
//!
//! ```text
//!     y
//!     │      c ─── d            c (3/2, √3/2)   d (5/2, √3/2)
//!     │     /       \
//!     │ a ─ b        a …        a (0, 0)        b (1, 0)      in bonds
//!     └──────────────── x
//! ```
//!
//! (`b` at distance 1 from `a` and from `c`; `d` at distance 1 from `c` and from
//! the next `a`.) Every atom inside has three neighbours at one bond's length;
//! those at the border have one or two.

use super::atoms::Atoms;

/// Length of a bond, in Å.
pub const BOND: f64 = 1.42;

/// Atoms of a rectangle, in bonds.
const CELL: [[f64; 2]; 4] = [
    [0.0, 0.0],
    [1.0, 0.0],
    [1.5, HALF_HEIGHT],
    [2.5, HALF_HEIGHT],
];
const WIDTH: f64 = 3.0;
const HALF_HEIGHT: f64 = 0.866_025_403_784_438_6;
const HEIGHT: f64 = 2.0 * HALF_HEIGHT;

/// A sheet of `n_columns` by `n_rows` rectangles of four atoms, row by row.
pub fn sheet(n_columns: u32, n_rows: u32) -> Atoms {
    let mut atoms = Atoms::default();
    for row in 0..n_rows {
        for column in 0..n_columns {
            for [x, y] in CELL {
                let x = BOND * (f64::from(column) * WIDTH + x);
                let y = BOND * (f64::from(row) * HEIGHT + y);
                atoms.push(x as f32, y as f32);
            }
        }
    }
    atoms
}

/// A sheet of exactly `n_atoms`, nearly square; the last row may be cut off.
pub fn sheet_of(n_atoms: u32) -> Atoms {
    let n_cells = n_atoms.div_ceil(4);
    let n_columns = (f64::from(n_cells) * HEIGHT / WIDTH)
        .sqrt()
        .round()
        .max(1.0) as u32;
    let mut atoms = sheet(n_columns, n_cells.div_ceil(n_columns));
    atoms.x.truncate(n_atoms as usize);
    atoms.y.truncate(n_atoms as usize);
    atoms
}

#[cfg(test)]
mod tests {
    use super::super::atoms::{CUTOFF, CUTOFF_SQUARED};
    use super::super::reference::lists;
    use super::{BOND, sheet, sheet_of};

    #[test]
    fn atoms_inside_have_three_neighbours() {
        let (n_columns, n_rows) = (7, 9);
        let lists = lists(&sheet(n_columns, n_rows), CUTOFF_SQUARED).expect("no overflow");
        for row in 1..n_rows - 1 {
            for column in 1..n_columns - 1 {
                for k in 0..4 {
                    let atom = (row * n_columns + column) * 4 + k;
                    assert_eq!(lists.of_atom(atom).len(), 3, "atom {atom}");
                }
            }
        }
        assert!(lists.iter().all(|list| (1..=3).contains(&list.len())));
    }

    #[test]
    fn neighbours_are_one_bond_apart() {
        let atoms = sheet(4, 4);
        for (a, b) in lists(&atoms, CUTOFF_SQUARED).expect("no overflow").pairs() {
            let (a, b) = (a as usize, b as usize);
            let distance = (atoms.x[a] - atoms.x[b]).hypot(atoms.y[a] - atoms.y[b]);
            assert!((f64::from(distance) - BOND).abs() < 1e-4, "{distance}");
        }
    }

    #[test]
    fn the_cut_off_lies_between_first_and_second_neighbours() {
        assert!(BOND < CUTOFF.into() && f64::from(CUTOFF) < BOND * 3f64.sqrt());
        assert!((CUTOFF * CUTOFF - CUTOFF_SQUARED).abs() < 1e-6);
    }

    #[test]
    fn a_sheet_has_as_many_atoms_as_asked_for() {
        for n_atoms in [0, 1, 3, 4, 5, 100, 22_000] {
            assert_eq!(sheet_of(n_atoms).len(), n_atoms);
        }
        let (_, [width, height]) = sheet_of(22_000).bounds();
        assert!(
            (0.9..1.1).contains(&(width / height)),
            "{width} by {height}"
        );
    }
}

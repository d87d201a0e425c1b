//! Neighbour lists from the CPU: every pair once, both lists filled.

use super::atoms::{Atoms, Lists, TooManyNeighbors};
use gpu_kernels::neighbor::MAX_NEIGHBORS;
use lesson::references::{are_near, near_ones};
use std::collections::HashMap;

/// Each atom's neighbours, however many.
pub fn all_neighbors(atoms: &Atoms, cutoff_squared: f32) -> Lists {
    let Atoms { x, y } = atoms;
    let mut lists = vec![Vec::new(); x.len()];
    for n1 in 0..x.len() {
        for n2 in near_ones([x, y], n1 + 1, [x[n1], y[n1]], cutoff_squared) {
            lists[n1].push(n2);
            lists[n2 as usize].push(n1 as u32);
        }
    }
    Lists::of(lists)
}

/// [`all_neighbors`] for more atoms than can be tested in pairs: tests only atoms in
/// the same square of twice the cut-off or in one of the eight around it.
pub fn neighbors_by_squares(atoms: &Atoms, cutoff: f32) -> Lists {
    let Atoms { x, y } = atoms;
    let side = 2.0 * f64::from(cutoff);
    let square = |atom: usize| {
        let along = |value: f32| (f64::from(value) / side).floor() as i64;
        (along(x[atom]), along(y[atom]))
    };
    let mut squares: HashMap<(i64, i64), Vec<u32>> = HashMap::new();
    for atom in 0..x.len() {
        squares.entry(square(atom)).or_default().push(atom as u32);
    }
    let near_around = |n1: usize| {
        let (column, row) = square(n1);
        let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
        around
            .filter_map(|(dx, dy)| squares.get(&(column + dx, row + dy)))
            .flatten()
            .copied()
            .filter(|&n2| {
                let n2 = n2 as usize;
                n2 != n1 && are_near(x[n2] - x[n1], y[n2] - y[n1], cutoff * cutoff)
            })
            .collect()
    };
    Lists::of((0..x.len()).map(near_around).collect())
}

/// Each atom's neighbours, if they fit the kernels' lists.
///
/// # Errors
///
/// The first atom that has too many.
pub fn lists(atoms: &Atoms, cutoff_squared: f32) -> Result<Lists, TooManyNeighbors> {
    let lists = all_neighbors(atoms, cutoff_squared);
    match first_overflow(&lists) {
        Some(overflow) => Err(overflow),
        None => Ok(lists),
    }
}

/// The first atom that has more neighbours than a kernel's list has places.
pub fn first_overflow(lists: &Lists) -> Option<TooManyNeighbors> {
    (0..).zip(lists.iter()).find_map(|(atom, list)| {
        let n_neighbors = list.len() as u32;
        (n_neighbors > MAX_NEIGHBORS).then_some(TooManyNeighbors { atom, n_neighbors })
    })
}

#[cfg(test)]
mod tests {
    use super::super::atoms::{Atoms, TooManyNeighbors};
    use super::super::sheet::sheet_of;
    use super::{all_neighbors, lists, neighbors_by_squares};

    #[test]
    fn no_atoms_and_one_atom_have_no_neighbours() {
        assert_eq!(lists(&Atoms::default(), 1.0).expect("none").n_atoms(), 0);
        let one = Atoms {
            x: vec![1.0],
            y: vec![2.0],
        };
        assert!(lists(&one, 1.0).expect("none").of_atom(0).is_empty());
    }

    #[test]
    fn ten_neighbours_fit_and_eleven_do_not() {
        let pile = |n: usize| Atoms {
            x: vec![0.5; n],
            y: vec![0.5; n],
        };
        assert_eq!(
            lists(&pile(11), 1.0).expect("ten each").of_atom(10).len(),
            10
        );
        assert_eq!(
            lists(&pile(12), 1.0),
            Err(TooManyNeighbors {
                atom: 0,
                n_neighbors: 11
            })
        );
    }

    #[test]
    fn squares_leave_nobody_out() {
        let atoms = sheet_of(3_000);
        let cutoff = 1.9;
        assert_eq!(
            neighbors_by_squares(&atoms, cutoff),
            all_neighbors(&atoms, cutoff * cutoff)
        );
    }
}

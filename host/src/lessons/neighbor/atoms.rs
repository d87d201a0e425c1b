//! Atoms in a plane, and the neighbours of each.

use gpu_kernels::neighbor::MAX_NEIGHBORS;
use std::fmt;

/// The cut-off for graphene, in Å: beyond the bonds of 1.42, before the second
/// neighbours at 2.46.
pub const CUTOFF: f32 = 1.9;

/// The same squared, as the catalogue rounds it.
pub const CUTOFF_SQUARED: f32 = 3.61;

/// Atoms in a plane, in Å.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Atoms {
    /// First coordinate of each.
    pub x: Vec<f32>,
    /// Second coordinate of each.
    pub y: Vec<f32>,
}

impl Atoms {
    /// Number of atoms.
    pub fn len(&self) -> u32 {
        // The count fits an index; sheets and files are checked before.
        self.x.len() as u32
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Appends an atom.
    pub fn push(&mut self, x: f32, y: f32) {
        self.x.push(x);
        self.y.push(y);
    }

    /// Smallest and largest coordinates: `([x, y], [x, y])`. Zeros if there are
    /// no atoms.
    pub fn bounds(&self) -> ([f32; 2], [f32; 2]) {
        if self.is_empty() {
            return ([0.0; 2], [0.0; 2]);
        }
        let range = |values: &[f32]| {
            values
                .iter()
                .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| {
                    (low.min(value), high.max(value))
                })
        };
        let ((x_low, x_high), (y_low, y_high)) = (range(&self.x), range(&self.y));
        ([x_low, y_low], [x_high, y_high])
    }
}

/// The neighbours of each atom, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    lists: Vec<Vec<u32>>,
}

impl Lists {
    /// From lists in any order.
    pub fn of(mut lists: Vec<Vec<u32>>) -> Self {
        for list in &mut lists {
            list.sort_unstable();
        }
        Self { lists }
    }

    /// Number of atoms.
    pub fn n_atoms(&self) -> usize {
        self.lists.len()
    }

    /// An atom's neighbours.
    pub fn of_atom(&self, atom: u32) -> &[u32] {
        &self.lists[atom as usize]
    }

    /// Each atom's neighbours, in the order of atoms.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.lists.iter().map(Vec::as_slice)
    }

    /// Pairs of neighbours, each once, the smaller index first.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..).zip(self.iter()).flat_map(|(atom, list)| {
            list.iter()
                .filter(move |&&other| atom < other)
                .map(move |&other| (atom, other))
        })
    }
}

/// An atom has more neighbours than a list has places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyNeighbors {
    /// The first such atom, counting from 0.
    pub atom: u32,
    /// Its number of neighbours.
    pub n_neighbors: u32,
}

impl fmt::Display for TooManyNeighbors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { atom, n_neighbors } = self;
        write!(
            f,
            "atom {atom} (counting from 0) has {n_neighbors} neighbours, and a list has {MAX_NEIGHBORS} places; \
             use a shorter cut-off, or check that the coordinates are in Å"
        )
    }
}

impl std::error::Error for TooManyNeighbors {}

#[cfg(test)]
mod tests {
    use super::{Atoms, Lists, TooManyNeighbors};

    #[test]
    fn bounds_hold_all_atoms() {
        let mut atoms = Atoms::default();
        assert_eq!(atoms.bounds(), ([0.0; 2], [0.0; 2]));
        atoms.push(1.0, -2.0);
        atoms.push(-3.0, 4.0);
        assert_eq!(atoms.bounds(), ([-3.0, -2.0], [1.0, 4.0]));
    }

    #[test]
    fn lists_are_sets_and_pairs_come_once() {
        let lists = Lists::of(vec![vec![2, 1], vec![0], vec![0]]);
        assert_eq!(lists, Lists::of(vec![vec![1, 2], vec![0], vec![0]]));
        assert_eq!(lists.pairs().collect::<Vec<_>>(), [(0, 1), (0, 2)]);
    }

    #[test]
    fn an_overflow_says_which_atom_and_what_to_do() {
        let message = TooManyNeighbors {
            atom: 17,
            n_neighbors: 12,
        }
        .to_string();
        assert!(
            message.starts_with("atom 17 (counting from 0) has 12 neighbours"),
            "{message}"
        );
        assert!(message.contains("shorter cut-off"), "{message}");
    }
}

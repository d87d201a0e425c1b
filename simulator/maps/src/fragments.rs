//! The lanes that hold the elements of a matrix for tensor cores.
//!
//! A matrix is spread over the registers of a warp. The maps follow the layouts that the PTX
//! manual defines for `ldmatrix` and for `mma` with 16-bit operands and 32-bit sums.

use crate::Invalid;

/// A matrix that a warp holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// One 8×8 matrix of 16-bit elements as `ldmatrix` loads it.
    Ldmatrix,
    /// The same with `.trans`.
    LdmatrixTrans,
    /// The left operand of `mma.m16n8k8`: 16 rows, 8 columns.
    M16n8k8A,
    /// The right operand: 8 rows, 8 columns.
    M16n8k8B,
    /// The left operand of `mma.m16n8k16`: 16 rows, 16 columns.
    M16n8k16A,
    /// The right operand: 16 rows, 8 columns.
    M16n8k16B,
    /// The sums of both: 16 rows, 8 columns.
    M16n8C,
}

/// All, by name.
pub const ALL: [(&str, Fragment); 7] = [
    ("ldmatrix", Fragment::Ldmatrix),
    ("ldmatrix.trans", Fragment::LdmatrixTrans),
    ("m16n8k8.a", Fragment::M16n8k8A),
    ("m16n8k8.b", Fragment::M16n8k8B),
    ("m16n8k16.a", Fragment::M16n8k16A),
    ("m16n8k16.b", Fragment::M16n8k16B),
    ("m16n8.c", Fragment::M16n8C),
];

/// The holder of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The lane.
    pub lane: u8,
    /// Its number among the lane's elements in the manual: `a0`, `a1`, …
    pub element: u8,
}

/// A matrix with the holder of each element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FragmentMap {
    /// The kind of matrix.
    pub fragment: Fragment,
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub columns: u32,
    /// By row and column.
    pub holders: Vec<Holder>,
}

impl Fragment {
    /// The fragment with that name.
    ///
    /// # Errors
    ///
    /// There is no fragment with that name.
    pub fn named(name: &str) -> Result<Self, Invalid> {
        let known = ALL.iter().find(|(other, _)| *other == name);
        known.map(|(_, fragment)| *fragment).ok_or_else(|| {
            let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            Invalid(format!(
                "`{name}` is not a fragment; these are: {}",
                names.join(", ")
            ))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let known = ALL.iter().find(|(_, other)| *other == self);
        known.expect("all are named").0
    }

    /// Rows and columns.
    pub fn shape(self) -> (u32, u32) {
        match self {
            Self::Ldmatrix | Self::LdmatrixTrans | Self::M16n8k8B => (8, 8),
            Self::M16n8k8A | Self::M16n8k16B | Self::M16n8C => (16, 8),
            Self::M16n8k16A => (16, 16),
        }
    }

    /// The holder of element `(row, column)`.
    pub fn holder(self, row: u32, column: u32) -> Holder {
        // Rows in groups of eight, a lane in four for each; two neighbours per register.
        let by_row = |row: u32, column: u32| (row % 8 * 4 + column % 8 / 2, column % 2);
        let (lane, pair) = match self {
            Self::Ldmatrix | Self::M16n8k8A | Self::M16n8k16A | Self::M16n8C => by_row(row, column),
            Self::LdmatrixTrans | Self::M16n8k8B | Self::M16n8k16B => by_row(column, row),
        };
        let register = match self {
            Self::M16n8k16A => row / 8 + 2 * (column / 8),
            Self::M16n8k16B | Self::M16n8k8A | Self::M16n8C => row / 8,
            Self::Ldmatrix | Self::LdmatrixTrans | Self::M16n8k8B => 0,
        };
        Holder {
            lane: lane as u8,
            element: (2 * register + pair) as u8,
        }
    }
}

impl FragmentMap {
    /// The map of a fragment.
    pub fn of(fragment: Fragment) -> Self {
        let (rows, columns) = fragment.shape();
        let elements = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
        Self {
            fragment,
            rows,
            columns,
            holders: elements.map(|(r, c)| fragment.holder(r, c)).collect(),
        }
    }

    /// The holder of element `(row, column)`.
    pub fn holder(&self, row: u32, column: u32) -> Holder {
        self.holders[(row * self.columns + column) as usize]
    }

    /// What the map shows, in a sentence.
    pub fn summary(&self) -> String {
        format!(
            "{}: {}×{} elements, the lane that holds each, and which of its elements it is",
            self.fragment.name(),
            self.rows,
            self.columns
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Fragment, FragmentMap};
    use std::collections::BTreeSet;

    #[test]
    fn every_element_has_a_holder_of_its_own() {
        for (name, fragment) in ALL {
            let map = FragmentMap::of(fragment);
            let holders: BTreeSet<_> = map.holders.iter().map(|h| (h.lane, h.element)).collect();
            assert_eq!(holders.len(), (map.rows * map.columns) as usize, "{name}");
            assert_eq!(holders.last().map(|h| h.0), Some(31), "{name}");
            assert_eq!(Fragment::named(name), Ok(fragment));
        }
        assert!(Fragment::named("m8n8").is_err());
    }
}

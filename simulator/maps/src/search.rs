//! The search for a layout that makes given accesses free of bank conflicts.
//!
//! Every candidate is tried on every access; the results are proved by counting.

use crate::layout::{Bits, Chunks};
use crate::{Access, Invalid, Layout, Pattern, Tile};

/// Maximum number of elements that rows are padded by.
const MOST_PADDING: u32 = 16;
/// Maximum number of bits that a swizzle changes: the banks have five.
const MOST_BITS: u32 = 5;

/// A layout and the cost of accesses under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The layout.
    pub layout: Layout,
    /// Bank conflicts of each pattern, over the whole tile or at its place.
    pub conflicts: Vec<u32>,
    /// Bytes that the tile takes beyond its elements.
    pub extra_bytes: u32,
}

impl Candidate {
    /// The conflicts of all patterns together.
    pub fn total(&self) -> u32 {
        self.conflicts.iter().sum()
    }
}

/// The cost of accesses under a layout.
///
/// # Errors
///
/// The layout does not suit this tile, or tears apart what a lane accesses at once.
pub fn cost(tile: &Tile, patterns: &[Pattern], layout: &Layout) -> Result<Candidate, Invalid> {
    let conflicts = patterns.iter().map(|pattern| {
        let accesses = pattern.accesses(tile, layout)?;
        let of = |access: &Access| access.shared_cost().conflicts;
        Ok(accesses.iter().map(of).sum())
    });
    let places = layout.n_places(tile)?;
    Ok(Candidate {
        conflicts: conflicts.collect::<Result<_, Invalid>>()?,
        extra_bytes: (places - tile.n_elements()) * tile.element_bytes(),
        layout: layout.clone(),
    })
}

/// The layouts that serve the accesses best, the best first: fewest conflicts, then fewest bytes,
/// then the simplest. If any candidates are free of conflicts, the result is all of those.
///
/// # Errors
///
/// No layout suits the accesses: for instance, the tile is too small for them.
pub fn search(tile: &Tile, patterns: &[Pattern]) -> Result<Vec<Candidate>, Invalid> {
    // An error under the plainest layout is an error under all.
    cost(tile, patterns, &Layout::Plain)?;
    let candidates = candidates(tile).into_iter();
    let mut found: Vec<Candidate> = candidates
        .filter_map(|layout| cost(tile, patterns, &layout).ok())
        .collect();
    // Stable: the candidates are in order of simplicity.
    found.sort_by_key(|candidate| (candidate.total(), candidate.extra_bytes));
    Ok(found)
}

/// All layouts that are tried, the simplest first.
fn candidates(tile: &Tile) -> Vec<Layout> {
    let mut all = vec![Layout::Plain];
    let is_square = tile.columns().is_power_of_two();
    if is_square {
        let vectors = [0u32, 4, 8, 16];
        let lines = [32u32, 64, 128, 256, 512, 1024];
        all.push(Layout::Xor(Chunks::default()));
        all.push(Layout::Shift(Chunks::default()));
        let row = tile.columns() * tile.element_bytes();
        for chunk_bytes in vectors {
            for line_bytes in lines.iter().copied().filter(|&line| line >= row) {
                if chunk_bytes > tile.element_bytes() {
                    let chunks = Chunks {
                        chunk_bytes,
                        line_bytes,
                    };
                    all.extend([Layout::Xor(chunks), Layout::Shift(chunks)]);
                }
            }
        }
    }
    let highest = tile.n_elements().next_power_of_two().trailing_zeros();
    if tile.n_elements().is_power_of_two() {
        for bits in 1..=MOST_BITS {
            for base in 0..=6 {
                for distance in bits..=highest.saturating_sub(base + bits) {
                    all.push(Layout::Swizzled(vec![Bits {
                        bits,
                        base,
                        distance,
                    }]));
                }
            }
        }
    }
    all.extend((1..=MOST_PADDING).map(Layout::Padded));
    all
}

#[cfg(test)]
mod tests {
    use super::{cost, search};
    use crate::{Layout, Pattern, Tile};

    fn patterns(names: &[&str]) -> Vec<Pattern> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn rows_and_columns_of_a_square_are_free_by_swizzle_and_by_padding() {
        let tile = Tile::new(32, 32, 4).unwrap();
        let wanted = patterns(&["store:row", "column"]);
        let found = search(&tile, &wanted).unwrap();
        let free: Vec<String> = found
            .iter()
            .filter(|candidate| candidate.total() == 0)
            .map(|candidate| candidate.layout.to_string())
            .collect();
        assert_eq!(free[0], "xor");
        assert!(free.contains(&"swizzle:5,0,5".to_owned()), "{free:?}");
        assert!(free.contains(&"pad:1".to_owned()), "{free:?}");
        assert!(!free.contains(&"plain".to_owned()), "{free:?}");
        for candidate in &found {
            assert_eq!(
                cost(&tile, &wanted, &candidate.layout).as_ref(),
                Ok(candidate)
            );
        }
    }

    #[test]
    fn what_already_is_free_needs_nothing() {
        let tile = Tile::new(32, 32, 4).unwrap();
        let found = search(&tile, &patterns(&["row"])).unwrap();
        assert_eq!((&found[0].layout, found[0].total()), (&Layout::Plain, 0));
    }

    #[test]
    fn tiles_of_matrices_find_the_known_swizzles() {
        for (columns, swizzle) in [
            (16, "swizzle:1,3,3"),
            (32, "swizzle:2,3,3"),
            (64, "swizzle:3,3,3"),
        ] {
            let tile = Tile::new(16, columns, 2).unwrap();
            let found = search(&tile, &patterns(&["ldmatrix.x4", "store:rowx8"])).unwrap();
            let is_it = |name: &str| name == swizzle;
            let it = found.iter().find(|c| is_it(&c.layout.to_string())).unwrap();
            assert_eq!((it.total(), it.extra_bytes), (0, 0), "{swizzle}");
            assert_eq!(found[0].total(), 0);
        }
    }

    #[test]
    fn what_no_layout_frees_is_shown_with_what_is_left() {
        let tile = Tile::new(32, 32, 4).unwrap();
        let found = search(&tile, &patterns(&["atomic:broadcast"])).unwrap();
        assert_eq!(found[0].total(), 31);
        let small = Tile::new(8, 8, 2).unwrap();
        assert!(search(&small, &patterns(&["ldmatrix.x4"])).is_err());
    }
}

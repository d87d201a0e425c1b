#![doc = include_str!("../README.md")]
//!
//! ## The source
//!
//! In reading order: [`tile`] and [`layout`], the places of elements; [`pattern`], accesses to a
//! tile; [`banks`], [`sectors`], [`places`], [`fragments`], [`timeline`], the maps;
//! [`instructions`], the accesses of a trace; [`film`], all its events, frame by frame;
//! [`mod@search`]; `text` and [`svg`], the display of maps.
//!
//! Left out: running kernels, and finding the accesses of one; see
//! [`ptx_sim::LaunchOptions::trace`].

pub mod banks;
pub mod film;
pub mod fragments;
pub mod instructions;
pub mod layout;
pub mod pattern;
pub mod places;
pub mod search;
pub mod sectors;
pub mod svg;
mod text;
pub mod tile;
pub mod timeline;

pub use banks::BankMap;
pub use film::Film;
pub use fragments::{Fragment, FragmentMap};
pub use instructions::{AccessMap, by_instruction};
pub use layout::Layout;
pub use pattern::Pattern;
pub use places::TileMap;
pub use ptx_sim::trace::TracedAccess as Access;
pub use search::search;
pub use sectors::SectorMap;
pub use tile::Tile;
pub use timeline::Timeline;

/// Lanes of a warp.
pub const LANES: usize = 32;
/// Banks of shared memory.
pub const BANKS: u32 = 32;
/// Bytes of a bank's word.
pub const WORD_BYTES: u32 = 4;
/// Bytes of a line of memory: all banks, or four sectors.
pub const LINE_BYTES: u32 = 128;
/// Bytes of a sector.
pub const SECTOR_BYTES: u32 = ptx_sim::count::SECTOR_BYTES;

/// What is wrong with a tile, a layout or a pattern; says what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    fn because(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// The lanes of a mask, in order.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// A set of lanes in words: `0`, `0, 4`, `0–3`, `0, 8, 16, …`.
fn lanes_in_words(lanes: &[u8]) -> String {
    const MOST: usize = 3;
    match lanes {
        [] => String::new(),
        [first, .., last] if usize::from(last - first) + 1 == lanes.len() && lanes.len() > 2 => {
            format!("{first}–{last}")
        }
        lanes => {
            let mut words: Vec<String> = lanes.iter().take(MOST).map(u8::to_string).collect();
            if lanes.len() > MOST {
                words.push("…".to_owned());
            }
            words.join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::lanes_in_words;

    #[test]
    fn lanes_are_told_in_few_words() {
        assert_eq!(lanes_in_words(&[]), "");
        assert_eq!(lanes_in_words(&[7]), "7");
        assert_eq!(lanes_in_words(&[0, 1]), "0, 1");
        assert_eq!(lanes_in_words(&[0, 1, 2, 3]), "0–3");
        assert_eq!(lanes_in_words(&[0, 8, 16, 24]), "0, 8, 16, …");
    }
}

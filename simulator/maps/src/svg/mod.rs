//! The maps as SVG, to be put into a page.
//!
//! Colours are the page's to choose, by custom properties of CSS; [`STYLE`] has some for light
//! and dark. [`standalone`] makes a file of a picture, with that style in it.
//!
//! | property | what it colours |
//! |---|---|
//! | `--map-ink`, `--map-faint` | text and lines; what is read second |
//! | `--map-paper` | the ground |
//! | `--map-lane`, `--map-on-lane` | a word that a lane is served, and text on it |
//! | `--map-conflict`, `--map-on-conflict` | one that waits for another wavefront |
//! | `--map-used`, `--map-waste` | bytes that are used; that move and are not used |
//! | `--map-mark` | what a lane accesses, in a tile |

mod banks;
mod drawing;
mod fragments;
mod places;
mod sectors;
mod timeline;

/// Colours for light and dark, and what is not up to the page. Once per page.
pub const STYLE: &str = include_str!("style.css");

/// A picture as a file of its own.
pub fn standalone(svg: &str) -> String {
    match svg.split_once('>') {
        Some((head, rest)) => format!(
            "{head} xmlns=\"http://www.w3.org/2000/svg\">\n<style>\n{STYLE}</style>\n\
             <rect class=\"map-paper\" width=\"100%\" height=\"100%\"/>{rest}"
        ),
        None => svg.to_owned(),
    }
}

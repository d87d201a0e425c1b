//! The maps as SVG, to be embedded in a page.
//!
//! The page chooses the colours, by CSS custom properties; [`STYLE`] has some for light
//! and dark. [`standalone`] turns a picture into a file that includes that style.
//!
//! | property | what it colours |
//! |---|---|
//! | `--map-ink`, `--map-faint` | text and lines; less important ones |
//! | `--map-paper` | the background |
//! | `--map-lane`, `--map-on-lane` | a word that serves a lane, and text on it |
//! | `--map-conflict`, `--map-on-conflict` | one that waits for another wavefront |
//! | `--map-used`, `--map-waste` | bytes that are used; that move and are not used |
//! | `--map-mark` | what a lane accesses, in a tile |

mod banks;
mod drawing;
mod fragments;
mod places;
mod sectors;
mod timeline;

/// Colours for light and dark, and styles that the page does not choose. Once per page.
pub const STYLE: &str = include_str!("style.css");

/// A picture as a separate file.
pub fn standalone(svg: &str) -> String {
    match svg.split_once('>') {
        Some((head, rest)) => format!(
            "{head} xmlns=\"http://www.w3.org/2000/svg\">\n<style>\n{STYLE}</style>\n\
             <rect class=\"map-paper\" width=\"100%\" height=\"100%\"/>{rest}"
        ),
        None => svg.to_owned(),
    }
}

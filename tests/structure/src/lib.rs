//! The shape of a crate's source: what imports what, and how long functions are.
//!
//! - [`source`] reads files, by tokens, so that comments and strings do not count
//!   and the inside of macros does;
//! - [`mod@imports`] makes a graph of them and looks for circles.
//!
//! The latter says what counts as an import. A test of the whole repository (`tests/tidy`) checks that no
//! crate's files import each other in a circle.

pub mod imports;
pub mod source;

pub use imports::{Graph, circles, groups, imports, module_of, of_modules};
pub use source::{Source, read};

/// Asserts that nothing imports itself by way of others.
///
/// # Panics
///
/// Something does; all circles are named.
pub fn assert_no_circles(graph: &Graph) {
    let circles = circles(graph);
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

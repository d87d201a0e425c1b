//! The pictures of docs/tools.md, made by the code that makes everyone's pictures.

use maps::{Access, BankMap, Invalid, Layout, Pattern, SectorMap, Tile, svg};
use ptx_sim::AccessClass;
use ptx_sim::ir::Space;

/// The pictures, by their paths from the repository's folder.
///
/// # Errors
///
/// Never, unless a tile, a layout or a pattern below is invalid.
pub fn all() -> Result<[(&'static str, String); 3], Invalid> {
    Ok([
        ("docs/pictures/ldmatrix-plain.svg", matrices("plain")?),
        (
            "docs/pictures/ldmatrix-swizzled.svg",
            matrices("swizzle:3,3,3")?,
        ),
        ("docs/pictures/one-element-later.svg", one_element_later()),
    ])
}

/// The first phase of a load of matrices from a tile of 64 columns.
fn matrices(layout: &str) -> Result<String, Invalid> {
    let tile = Tile::new(16, 64, 2)?;
    let pattern: Pattern = "ldmatrix.x4:0,0".parse()?;
    let layout: Layout = layout.parse()?;
    let accesses = pattern.accesses(&tile, &layout)?;
    Ok(svg::standalone(&BankMap::of(&accesses[0]).svg_of_phase(0)))
}

/// A load of neighbouring words that begins one word after a sector's start.
fn one_element_later() -> String {
    let addresses = std::array::from_fn(|lane| 4 + 4 * lane as u64);
    let access = Access::new(AccessClass::Load, Space::Global, 4, u32::MAX, addresses);
    svg::standalone(&SectorMap::of(&access).svg())
}

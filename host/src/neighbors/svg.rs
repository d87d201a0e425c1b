//! A picture of atoms and bonds, as SVG: a line for each pair of neighbours, a
//! dot for each atom, coloured by how many neighbours it has.

use super::{Atoms, Lists};
use std::fmt::{self, Write};

/// Longer side of the picture, in pixels.
const SIDE: f32 = 1000.0;
/// Room around the atoms, in Å.
const MARGIN: f32 = 1.5;
/// Radius of an atom, in Å.
const ATOM_RADIUS: f32 = 0.28;
/// Width of a bond, in Å.
const BOND_WIDTH: f32 = 0.16;
/// An atom with 0, 1, 2, 3 neighbours, and with more.
const COLOURS: [&str; 5] = ["#9aa0a6", "#d9730d", "#e3b341", "#2f6fb3", "#8250df"];

/// The picture.
pub fn draw(atoms: &Atoms, lists: &Lists) -> String {
    let mut svg = String::new();
    // Writing to a string does not fail.
    let _ = write_svg(&mut svg, atoms, lists);
    svg
}

fn write_svg(svg: &mut String, atoms: &Atoms, lists: &Lists) -> fmt::Result {
    let ([left, bottom], [right, top]) = atoms.bounds();
    let width = right - left + 2.0 * MARGIN;
    let height = top - bottom + 2.0 * MARGIN;
    let scale = SIDE / width.max(height);
    // Å, with y upwards, inside a box that starts at 0.
    let x = |atom: u32| atoms.x[atom as usize] - left + MARGIN;
    let y = |atom: u32| top - atoms.y[atom as usize] + MARGIN;

    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{:.0}" height="{:.0}" viewBox="0 0 {width:.3} {height:.3}">"#,
        (width * scale).ceil(),
        (height * scale).ceil(),
    )?;
    writeln!(
        svg,
        r##"<rect width="100%" height="100%" fill="#ffffff"/>"##
    )?;
    writeln!(
        svg,
        r##"<g stroke="#5c6470" stroke-width="{BOND_WIDTH}" stroke-linecap="round">"##
    )?;
    for (a, b) in lists.pairs() {
        writeln!(
            svg,
            r#"<line x1="{:.3}" y1="{:.3}" x2="{:.3}" y2="{:.3}"/>"#,
            x(a),
            y(a),
            x(b),
            y(b)
        )?;
    }
    writeln!(svg, "</g>")?;
    for (n_neighbors, colour) in COLOURS.iter().enumerate() {
        let is_last = n_neighbors == COLOURS.len() - 1;
        writeln!(svg, r#"<g fill="{colour}">"#)?;
        for (atom, list) in (0..).zip(lists.iter()) {
            if list.len() == n_neighbors || is_last && list.len() > n_neighbors {
                writeln!(
                    svg,
                    r#"<circle cx="{:.3}" cy="{:.3}" r="{ATOM_RADIUS}"/>"#,
                    x(atom),
                    y(atom)
                )?;
            }
        }
        writeln!(svg, "</g>")?;
    }
    writeln!(svg, "</svg>")
}

#[cfg(test)]
mod tests {
    use super::super::{Atoms, CUTOFF_SQUARED, reference, sheet::sheet};
    use super::draw;

    #[test]
    fn every_atom_is_a_dot_and_every_pair_a_line() {
        let atoms = sheet(3, 2);
        let lists = reference::lists(&atoms, CUTOFF_SQUARED).expect("no overflow");
        let svg = draw(&atoms, &lists);
        assert_eq!(svg.matches("<circle").count(), 24);
        assert_eq!(svg.matches("<line").count(), lists.pairs().count());
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }

    #[test]
    fn nothing_makes_an_empty_picture() {
        let svg = draw(&Atoms::default(), &super::Lists::default());
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

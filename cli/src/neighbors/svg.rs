//! A picture of atoms and bonds, as SVG: a line for each pair of neighbours, a
//! dot for each atom, coloured by how many neighbours it has, and a legend.
//!
//! Lengths are in Å. Where atoms are so far apart that their dots would not be
//! seen, the dots are larger; where so far that viewers, which count in `f32`,
//! could not place them, all of it is drawn smaller.

use host::lessons::neighbor::atoms::{Atoms, Lists};
use std::fmt::{self, Write};

/// Pictures of more atoms open in no viewer in reasonable time.
pub const MOST_ATOMS: u32 = 100_000;

/// Longer side of the picture, in pixels.
const SIDE: f64 = 1000.0;
/// Longer side of the atoms in the picture's own units, at most: browsers draw no
/// letters of more than 10,000.
const MOST_UNITS: f64 = 1e4;
/// Room around the atoms, in Å.
const MARGIN: f64 = 1.5;
/// Radius of an atom, in Å.
const ATOM_RADIUS: f64 = 0.28;
/// The same, in longer sides, at least: two pixels.
const SEEN_RADIUS: f64 = 0.002;
/// But where atoms are many, in mean distances between them: none hides another.
const FREE_RADIUS: f64 = 0.05;
/// Width of a bond, in radii of an atom.
const BOND_WIDTH: f64 = 0.57;
/// Height of a line of the legend, of the longer side.
const LEGEND_LINE: f64 = 0.03;
/// Width of the legend, of the longer side.
const LEGEND_WIDTH: f64 = 0.4;
/// An atom with 0, 1, 2, 3 neighbours, and with more.
const KINDS: [&str; 5] = [
    "no neighbours",
    "1 neighbour",
    "2 neighbours",
    "3 neighbours",
    "4 neighbours and more",
];

/// The colours of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Colours {
    /// Behind everything; none for what is there anyway.
    paper: Option<&'static str>,
    bonds: &'static str,
    words: &'static str,
    /// Of atoms, by [`KINDS`].
    kinds: [&'static str; KINDS.len()],
}

impl Colours {
    /// On white, for a file of its own.
    pub const FILE: Self = Self {
        paper: Some("#ffffff"),
        bonds: "#5c6470",
        words: "#1f2328",
        kinds: ["#9aa0a6", "#d9730d", "#e3b341", "#2f6fb3", "#8250df"],
    };
    /// The custom properties of a page that it is a part of.
    pub const PAGE: Self = Self {
        paper: None,
        bonds: "var(--faint)",
        words: "var(--ink)",
        kinds: [
            "var(--c6)",
            "var(--c2)",
            "var(--c5)",
            "var(--c1)",
            "var(--c4)",
        ],
    };
}

/// About the length of the picture's text, in bytes: three bonds for two atoms.
pub fn about_bytes(n_atoms: u32) -> u64 {
    const DOT: u64 = 48;
    const BOND: u64 = 66;
    u64::from(n_atoms) * (DOT + BOND * 3 / 2)
}

/// The picture of atoms that are neighbours within `cutoff`.
pub fn draw(atoms: &Atoms, lists: &Lists, cutoff: f32) -> String {
    draw_in(Colours::FILE, atoms, lists, cutoff)
}

/// The same in other colours.
pub fn draw_in(colours: Colours, atoms: &Atoms, lists: &Lists, cutoff: f32) -> String {
    let mut svg = String::new();
    // Writing to a string does not fail.
    let _ = Picture::of(colours, atoms, lists, cutoff).write(&mut svg);
    svg
}

struct Picture<'a> {
    colours: Colours,
    atoms: &'a Atoms,
    lists: &'a Lists,
    cutoff: f32,
    left: f64,
    top: f64,
    /// Å of the picture's unit.
    unit: f64,
    /// In units, as all that follows.
    margin: f64,
    radius: f64,
    width: f64,
    /// Of the atoms with the room around them.
    height: f64,
    /// Height of a line of the legend.
    line: f64,
}

impl<'a> Picture<'a> {
    fn of(colours: Colours, atoms: &'a Atoms, lists: &'a Lists, cutoff: f32) -> Self {
        let (low, high) = atoms.bounds();
        let [left, bottom] = low.map(f64::from);
        let [right, top] = high.map(f64::from);
        let longer = (right - left).max(top - bottom);
        let n_along = (f64::from(atoms.len()).sqrt()).max(1.0);
        let unit = (longer / MOST_UNITS).max(1.0);
        let seen = longer * SEEN_RADIUS.min(FREE_RADIUS / n_along);
        let radius = seen.max(ATOM_RADIUS) / unit;
        let margin = MARGIN * radius / (ATOM_RADIUS / unit) / unit;
        let [width, height] = [right - left, top - bottom].map(|side| side / unit + 2.0 * margin);
        let longer = width.max(height);
        Self {
            colours,
            atoms,
            lists,
            cutoff,
            left,
            top,
            unit,
            margin,
            radius,
            width: width.max(LEGEND_WIDTH * longer),
            height,
            line: LEGEND_LINE * longer,
        }
    }

    fn x(&self, atom: u32) -> f64 {
        (f64::from(self.atoms.x[atom as usize]) - self.left) / self.unit + self.margin
    }

    /// Upwards in Å, downwards in the picture.
    fn y(&self, atom: u32) -> f64 {
        (self.top - f64::from(self.atoms.y[atom as usize])) / self.unit + self.margin
    }

    fn write(&self, svg: &mut String) -> fmt::Result {
        let legend = self.legend();
        let width = self.width;
        let height = self.height + self.line * (legend.len() as f64 + 1.0);
        let scale = SIDE / width.max(height);
        writeln!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{:.0}" height="{:.0}" viewBox="0 0 {width:.3} {height:.3}">"#,
            (width * scale).ceil(),
            (height * scale).ceil(),
        )?;
        if let Some(paper) = self.colours.paper {
            writeln!(svg, r#"<rect width="100%" height="100%" fill="{paper}"/>"#)?;
        }
        self.write_bonds(svg)?;
        self.write_atoms(svg)?;
        self.write_legend(svg, &legend)?;
        writeln!(svg, "</svg>")
    }

    fn write_bonds(&self, svg: &mut String) -> fmt::Result {
        let bond_width = BOND_WIDTH * self.radius;
        writeln!(
            svg,
            r#"<g stroke="{}" stroke-width="{bond_width:.3}" stroke-linecap="round">"#,
            self.colours.bonds
        )?;
        for (a, b) in self.lists.pairs() {
            writeln!(
                svg,
                r#"<line x1="{:.3}" y1="{:.3}" x2="{:.3}" y2="{:.3}"/>"#,
                self.x(a),
                self.y(a),
                self.x(b),
                self.y(b)
            )?;
        }
        writeln!(svg, "</g>")
    }

    fn write_atoms(&self, svg: &mut String) -> fmt::Result {
        let radius = self.radius;
        for (kind, colour) in self.colours.kinds.iter().enumerate() {
            writeln!(svg, r#"<g fill="{colour}">"#)?;
            for (atom, list) in (0..).zip(self.lists.iter()) {
                if kind_of(list) == kind {
                    writeln!(
                        svg,
                        r#"<circle cx="{:.3}" cy="{:.3}" r="{radius:.2}"/>"#,
                        self.x(atom),
                        self.y(atom)
                    )?;
                }
            }
            writeln!(svg, "</g>")?;
        }
        Ok(())
    }

    /// Colours and words, of what there is.
    fn legend(&self) -> Vec<(&'static str, String)> {
        let mut numbers = [0_u32; KINDS.len()];
        for list in self.lists.iter() {
            numbers[kind_of(list)] += 1;
        }
        KINDS
            .iter()
            .zip(self.colours.kinds)
            .zip(numbers)
            .filter(|(_, n_atoms)| *n_atoms > 0)
            .map(|((words, colour), n_atoms)| {
                let atoms = if n_atoms == 1 { "atom" } else { "atoms" };
                (colour, format!("{words}: {n_atoms} {atoms}"))
            })
            .collect()
    }

    fn write_legend(&self, svg: &mut String, legend: &[(&str, String)]) -> fmt::Result {
        let (line, swatch) = (self.line, self.line / 2.0);
        writeln!(
            svg,
            r#"<g font-family="sans-serif" font-size="{:.3}" fill="{}">"#,
            line * 0.7,
            self.colours.words
        )?;
        let mut y = self.height;
        for (colour, words) in legend {
            writeln!(
                svg,
                r#"<rect x="{swatch:.3}" y="{:.3}" width="{swatch:.3}" height="{swatch:.3}" fill="{colour}"/>"#,
                y + swatch / 2.0
            )?;
            self.write_words(svg, 2.5 * swatch, y, words)?;
            y += line;
        }
        let words = format!("neighbours: nearer than {} Å", self.cutoff);
        self.write_words(svg, swatch, y, &words)?;
        writeln!(svg, "</g>")
    }

    fn write_words(&self, svg: &mut String, x: f64, y: f64, words: &str) -> fmt::Result {
        let baseline = y + 0.73 * self.line;
        writeln!(svg, r#"<text x="{x:.3}" y="{baseline:.3}">{words}</text>"#)
    }
}

/// Which of [`KINDS`] an atom with these neighbours is.
fn kind_of(neighbors: &[u32]) -> usize {
    neighbors.len().min(KINDS.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::{about_bytes, draw};
    use host::lessons::neighbor::atoms::{Atoms, CUTOFF, CUTOFF_SQUARED, Lists};
    use host::lessons::neighbor::{reference, sheet::sheet};

    /// Every number between quotes, in order.
    fn numbers(svg: &str) -> Vec<f32> {
        svg.split('"')
            .flat_map(|text| text.split(' '))
            .filter_map(|word| word.parse().ok())
            .collect()
    }

    #[test]
    fn every_atom_is_a_dot_and_every_pair_a_line() {
        let atoms = sheet(3, 2);
        let lists = reference::lists(&atoms, CUTOFF_SQUARED).expect("no overflow");
        let svg = draw(&atoms, &lists, CUTOFF);
        assert_eq!(svg.matches("<circle").count(), 24);
        assert_eq!(svg.matches("<line").count(), lists.pairs().count());
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }

    #[test]
    fn nothing_makes_an_empty_picture() {
        let svg = draw(&Atoms::default(), &Lists::default(), CUTOFF);
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn the_legend_says_what_the_colours_mean() {
        let atoms = Atoms {
            x: vec![0.0, 1.4, 9.0],
            y: vec![0.0; 3],
        };
        let lists = reference::lists(&atoms, CUTOFF_SQUARED).expect("no overflow");
        let svg = draw(&atoms, &lists, CUTOFF);
        for words in [
            "no neighbours: 1 atom<",
            "1 neighbour: 2 atoms<",
            "nearer than 1.9 Å<",
        ] {
            assert!(svg.contains(words), "{words} in {svg}");
        }
        assert!(!svg.contains("2 neighbours"), "none has so many: {svg}");
    }

    #[test]
    fn the_farthest_atoms_are_seen() {
        for far in [1e3_f32, 1e9, f32::MAX] {
            let atoms = Atoms {
                x: vec![-far, far, 0.0],
                y: vec![far, -far, 0.0],
            };
            let svg = draw(&atoms, &Lists::of(vec![Vec::new(); 3]), CUTOFF);
            let numbers = numbers(&svg);
            assert!(numbers.iter().all(|number| number.is_finite()), "{svg}");
            // A dot has at least a thousandth of the side.
            let side = numbers[2..6].iter().copied().fold(0.0, f32::max);
            let radius = svg.split("r=\"").nth(1).expect("a dot");
            let radius: f32 = radius
                .split('"')
                .next()
                .expect("its end")
                .parse()
                .expect("it");
            assert!(radius / side > 0.001, "{radius} of {side}: {svg}");
        }
    }

    #[test]
    fn the_size_is_about_right() {
        let atoms = sheet(100, 100);
        let lists = reference::neighbors_by_squares(&atoms, CUTOFF);
        let len = draw(&atoms, &lists, CUTOFF).len() as f64;
        let ratio = about_bytes(atoms.len()) as f64 / len;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }
}

//! The user's own atoms, read from text, and a picture of atoms with their bonds, as SVG: a
//! line for each pair of neighbours, a dot for each atom, coloured by its number of neighbours.

use host::lessons::neighbor::atoms::{Atoms, Lists};
use std::fmt::{self, Write};

/// The atoms of a text: a line per atom, its two coordinates in Å, separated by blanks or a
/// comma. Empty lines and everything after a `#` are ignored.
///
/// # Errors
///
/// A line is malformed; the error says which, and how.
pub fn parse(text: &str) -> Result<Atoms, String> {
    let mut atoms = Atoms::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words = line.split(|c: char| c.is_whitespace() || c == ',');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let pair = match words[..] {
            [] => continue,
            [x, y] => coordinate(x).and_then(|x| Ok((x, coordinate(y)?))),
            [_] => Err("1 value instead of 2".to_owned()),
            _ => Err(format!("{} values instead of 2", words.len())),
        };
        let (x, y) = pair.map_err(|what| {
            let number = index + 1;
            format!("line {number}: {what}; a line is `x y`, two numbers in Å")
        })?;
        atoms.push(x, y);
    }
    Ok(atoms)
}

fn coordinate(word: &str) -> Result<f32, String> {
    match word.parse::<f32>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(format!("`{word}` is not a finite number")),
        Err(_) => Err(format!("`{word}` is not a number")),
    }
}

/// Longer side of the picture without its legend, in pixels, as all below.
const SIDE: f64 = 1000.0;
/// Room around the atoms, in Å.
const MARGIN: f64 = 1.5;
/// Radius of an atom, in Å.
const ATOM_RADIUS: f64 = 0.28;
/// Its minimum in pixels, however far apart the atoms are.
const SEEN_RADIUS: f64 = 2.0;
/// Width of a bond, in radii of an atom.
const BOND_WIDTH: f64 = 0.57;
/// Height of a line of the legend.
const LINE: f64 = 30.0;
/// Width of the legend.
const LEGEND_WIDTH: f64 = 400.0;
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
    /// The background.
    paper: &'static str,
    bonds: &'static str,
    words: &'static str,
    /// Of atoms, by [`KINDS`].
    kinds: [&'static str; KINDS.len()],
}

impl Colours {
    /// On white, for a separate file.
    pub const FILE: Self = Self {
        paper: "#ffffff",
        bonds: "#5c6470",
        words: "#1f2328",
        kinds: ["#9aa0a6", "#d9730d", "#e3b341", "#2f6fb3", "#8250df"],
    };
    /// The custom properties of the page that the picture is part of.
    pub const PAGE: Self = Self {
        paper: "none",
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

/// The picture of atoms that are neighbours within `cutoff`.
pub fn draw(colours: Colours, atoms: &Atoms, lists: &Lists, cutoff: f32) -> String {
    let mut svg = String::new();
    // Writing to a string does not fail.
    let _ = write_picture(&mut svg, colours, atoms, lists, cutoff);
    svg
}

fn write_picture(
    svg: &mut String,
    colours: Colours,
    atoms: &Atoms,
    lists: &Lists,
    cutoff: f32,
) -> fmt::Result {
    let (low, high) = atoms.bounds();
    let ([left, bottom], [right, top]) = (low.map(f64::from), high.map(f64::from));
    let scale = SIDE / ((right - left).max(top - bottom) + 2.0 * MARGIN);
    let radius = (ATOM_RADIUS * scale).max(SEEN_RADIUS);
    let margin = radius * MARGIN / ATOM_RADIUS;
    let x = |atom: u32| (f64::from(atoms.x[atom as usize]) - left) * scale + margin;
    // Upwards in Å, downwards in the picture.
    let y = |atom: u32| (top - f64::from(atoms.y[atom as usize])) * scale + margin;

    let of_kind = |kind| {
        let listed = (0..).zip(lists.iter());
        listed.filter(move |(_, list)| list.len().min(KINDS.len() - 1) == kind)
    };
    let legend = (0..KINDS.len()).filter(|&kind| of_kind(kind).next().is_some());
    let legend: Vec<usize> = legend.collect();
    let width = ((right - left) * scale + 2.0 * margin).max(LEGEND_WIDTH);
    let atoms_height = (top - bottom) * scale + 2.0 * margin;
    let height = atoms_height + LINE * (legend.len() as f64 + 1.0);
    let Colours {
        paper,
        bonds,
        words,
        kinds,
    } = colours;
    writeln!(
        svg,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.1} {height:.1}">
<rect width="100%" height="100%" fill="{paper}"/>
<g stroke="{bonds}" stroke-width="{:.2}" stroke-linecap="round">"#,
        BOND_WIDTH * radius,
    )?;
    for (a, b) in lists.pairs() {
        let [x1, y1, x2, y2] = [x(a), y(a), x(b), y(b)];
        writeln!(
            svg,
            r#"<line x1="{x1:.2}" y1="{y1:.2}" x2="{x2:.2}" y2="{y2:.2}"/>"#
        )?;
    }
    let font = LINE * 0.7;
    writeln!(
        svg,
        "</g>\n<g font-family=\"sans-serif\" font-size=\"{font}\">"
    )?;
    let mut baseline = atoms_height + font;
    for kind in legend {
        let (colour, side) = (kinds[kind], LINE / 2.0);
        writeln!(svg, r#"<g fill="{colour}">"#)?;
        for (atom, _) in of_kind(kind) {
            let (x, y) = (x(atom), y(atom));
            writeln!(svg, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{radius:.2}"/>"#)?;
        }
        let n_atoms = of_kind(kind).count();
        writeln!(
            svg,
            r#"<rect x="{side}" y="{:.2}" width="{side}" height="{side}"/>
</g>
<text x="{:.2}" y="{baseline:.2}" fill="{words}">{}: {n_atoms} {}</text>"#,
            baseline - side,
            2.5 * side,
            KINDS[kind],
            if n_atoms == 1 { "atom" } else { "atoms" },
        )?;
        baseline += LINE;
    }
    let x = LINE / 2.0;
    writeln!(
        svg,
        r#"<text x="{x}" y="{baseline:.2}" fill="{words}">neighbours: nearer than {cutoff} Å</text>
</g>
</svg>"#
    )
}

#[cfg(test)]
mod tests {
    use super::{Colours, draw, parse};
    use host::lessons::neighbor::atoms::{Atoms, CUTOFF, CUTOFF_SQUARED, Lists};
    use host::lessons::neighbor::{reference, sheet::sheet};

    fn drawn(atoms: &Atoms) -> (Lists, String) {
        let lists = reference::lists(atoms, CUTOFF_SQUARED).expect("no overflow");
        let svg = draw(Colours::FILE, atoms, &lists, CUTOFF);
        (lists, svg)
    }

    #[test]
    fn blanks_commas_comments_and_empty_lines() {
        let atoms = parse("# x y\n\n 0 0\n1.42\t-2e-1\r\n3, 4 # last\n").expect("fine");
        assert_eq!(
            (atoms.x, atoms.y),
            (vec![0.0, 1.42, 3.0], vec![0.0, -0.2, 4.0])
        );
        assert!(parse("").expect("fine").is_empty());
    }

    #[test]
    fn a_malformed_line_is_named_by_its_number() {
        let refused = |text, words: &str| {
            let error = parse(text).expect_err("malformed");
            assert!(error.contains(words), "{error}");
        };
        refused(
            "0 0\n\n1 two\n",
            "line 3: `two` is not a number; a line is `x y`",
        );
        refused("1 2 3", "line 1: 3 values instead of 2");
        refused("1 2\n3", "line 2: 1 value instead of 2");
        refused("1 1e99", "not a finite number");
        refused("NaN 1", "not a finite number");
    }

    #[test]
    fn every_atom_is_a_dot_and_every_pair_a_line() {
        let (lists, svg) = drawn(&sheet(3, 2));
        assert_eq!(svg.matches("<circle").count(), 24);
        assert_eq!(svg.matches("<line").count(), lists.pairs().count());
        assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count());
    }

    #[test]
    fn the_legend_says_what_the_colours_mean() {
        let (_, svg) = drawn(&parse("0 0\n1.4 0\n9 0").expect("fine"));
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
    fn pictures_of_nothing_and_of_the_farthest_atoms_have_numbers_that_are_drawn() {
        let far = f32::MAX;
        let far = Atoms {
            x: vec![-far, far, 0.0],
            y: vec![far, -far, 0.0],
        };
        for atoms in [Atoms::default(), far] {
            let lists = Lists::of(vec![Vec::new(); atoms.x.len()]);
            let svg = draw(Colours::FILE, &atoms, &lists, CUTOFF);
            let words = svg.split(['"', ' ']);
            let numbers: Vec<f32> = words.filter_map(|word| word.parse().ok()).collect();
            assert!(numbers.len() > 4, "{svg}");
            assert!(numbers.iter().all(|number| number.abs() < 2000.0), "{svg}");
        }
    }
}

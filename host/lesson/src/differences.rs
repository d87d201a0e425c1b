//! Differences from the catalogue, and the lines that cause them.
//!
//! A claim is about a whole launch. Here the launch is taken apart again: each source
//! line's own counts are checked against the same claim.
//!
//! Left out: claims about totals of a launch that counted too little. No line can be
//! blamed for something that did not happen.

use lockstep::counts::{Counts, Expectation, InstructionCounts};
use lockstep::source::{Place, places};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// A claim of the catalogue that the counts of a launch contradict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// What was counted: `bank conflicts per shared load request`.
    pub metric: String,
    /// The catalogue's claim; `None` if it claims that there are no requests.
    pub expected: Option<f64>,
    /// The count; `None` if there were no requests.
    pub counted: Option<f64>,
    /// The lines that differ, the largest difference first.
    pub lines: Vec<Line>,
}

/// A source line that differs from a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its place; `None` for instructions without a line table.
    pub place: Option<Place>,
    /// Its count.
    pub counted: f64,
}

/// The claims that a launch contradicts. `source` is the lesson's file.
pub fn differences(
    claims: &[Expectation],
    counts: &Counts,
    instructions: &[InstructionCounts],
    source: &str,
) -> Vec<Difference> {
    let differing = claims.iter().filter(|claim| !claim.holds(counts));
    differing
        .map(|claim| Difference {
            metric: claim.metric.to_string(),
            expected: claim.value,
            counted: claim.metric.of(counts),
            lines: lines(claim, instructions, source),
        })
        .collect()
}

/// The lines whose own counts contradict the claim, the largest difference first.
fn lines(claim: &Expectation, instructions: &[InstructionCounts], source: &str) -> Vec<Line> {
    let mut by_line: BTreeMap<Option<Place>, Counts> = BTreeMap::new();
    for counted in instructions {
        let (own, _) = places(counted, source);
        by_line.entry(own).or_default().add(&counted.counts);
    }
    let expected = claim.value.unwrap_or(0.0);
    let mut lines: Vec<Line> = by_line
        .into_iter()
        .filter(|(_, counts)| !claim.holds(counts))
        .filter_map(|(place, counts)| {
            let counted = claim.metric.of(&counts)?;
            Some(Line { place, counted })
        })
        // A line that adds nothing to a total is not a cause.
        .filter(|line| !claim.metric.is_total() || line.counted > 0.0)
        .collect();
    let distance = |line: &Line| (line.counted - expected).abs();
    lines.sort_by(|a, b| distance(b).total_cmp(&distance(a)));
    lines
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Maximum number of lines that are named.
        const MOST: usize = 4;
        let words = |value: Option<f64>| {
            value.map_or_else(|| "no request".to_owned(), |value| format!("{value}"))
        };
        // Rounded, where that still differs from what is expected.
        let is_told_apart = self.counted.map(rounded) != self.expected.map(rounded);
        let counted = match is_told_apart {
            true => words(self.counted.map(rounded)),
            false => words(self.counted),
        };
        write!(
            f,
            "{}: expected {}, counted {counted}",
            self.metric,
            words(self.expected)
        )?;
        let one = self.lines.len() == 1;
        for (index, line) in self.lines.iter().take(MOST).enumerate() {
            f.write_str(if index == 0 { ", at " } else { ", " })?;
            match &line.place {
                Some(place) => f.write_str(&place.short())?,
                None => f.write_str("PTX without line tables")?,
            }
            if !one {
                write!(f, " ({})", rounded(line.counted))?;
            }
        }
        match self.lines.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, " and {more} more lines"),
        }
    }
}

/// Two digits after the point, fewer if they are zeros.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// All of them, one per line.
pub fn told(differences: &[Difference]) -> String {
    let lines: Vec<_> = differences
        .iter()
        .map(|difference| format!("differs from the catalogue: {difference}"))
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{Difference, Line, Place};

    fn difference(lines: &[(u32, f64)]) -> Difference {
        Difference {
            metric: "sectors per global load request".to_owned(),
            expected: Some(4.0),
            counted: Some(10.5),
            lines: lines
                .iter()
                .map(|&(line, counted)| Line {
                    place: Some(Place {
                        file: "gpu-kernels/src/01_copy.rs".to_owned(),
                        line,
                    }),
                    counted,
                })
                .collect(),
        }
    }

    #[test]
    fn a_difference_names_its_lines() {
        let told = |lines: &[(u32, f64)]| difference(lines).to_string();
        let start = "sectors per global load request: expected 4, counted 10.5";
        assert_eq!(told(&[]), start);
        assert_eq!(told(&[(7, 10.5)]), format!("{start}, at 01_copy.rs:7"));
        assert_eq!(
            told(&[(9, 32.0), (7, 16.333_333)]),
            format!("{start}, at 01_copy.rs:9 (32), 01_copy.rs:7 (16.33)")
        );
        let many: Vec<_> = (1..=6).map(|line| (line, 5.0)).collect();
        assert!(told(&many).ends_with("01_copy.rs:4 (5) and 2 more lines"));
    }
}
